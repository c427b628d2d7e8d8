"""A provider's response as the provider sent it."""

import json
from collections.abc import Mapping
from datetime import date, time
from typing import Any


def as_sent(response: Any) -> Any:
    """The JSON of `response`: a mapping as it is, a model object of a provider's package without its additions.

    Those packages give every member that they know a default. Only what was received is handed on: unknown members
    stay, absent ones stay absent. What their JSON parser has rounded (fractions beyond a double's precision) is gone;
    where that matters, hand in the parsed body of the raw response.

    Raises:
        TypeError: it is neither.
    """
    if isinstance(response, Mapping):
        return response
    dump = getattr(response, "model_dump", None)
    if dump is None:
        raise TypeError(f"a response is a mapping or has model_dump(); this is {type(response).__name__}")
    # mode: "json" would turn NaN into null and broken characters into others, so that another call would arrive.
    # by_alias: some members have another name in Python. warnings: blocks of unknown type are no mistake here.
    return dump(mode="python", by_alias=True, exclude_unset=True, warnings=False)


def written(body: Mapping[str, Any]) -> bytes:
    """A request body as JSON. Escapes leave half a character as the provider sent it.

    Raises:
        ValueError: it holds a number that JSON does not have, such as NaN.
        TypeError: it holds something that no JSON can stand for.
    """
    return json.dumps(body, allow_nan=False, separators=(",", ":"), default=_moment).encode()


def _moment(value: Any) -> str:
    """Packages read some moments as such; everything else in a response is JSON."""
    if isinstance(value, date | time):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} is no JSON value")
