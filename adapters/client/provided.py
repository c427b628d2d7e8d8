"""A provider's response, or an event of its stream, as the provider sent it."""

import json
from base64 import b64encode
from collections.abc import Iterable, Mapping
from datetime import date, time
from typing import Any, Final

ADDED: Final[Mapping[str, frozenset[str]]] = {
    "anthropic": frozenset({"parsed_output"}),
    "openai": frozenset({"parsed", "parsed_arguments", "snapshot"}),
    "google": frozenset(
        {"sdk_http_response", "automatic_function_calling_history", "parsed", "continuation_ids"}
        | {f"output_{kind}" for kind in ("text", "image", "audio", "video")}
    ),
}
"""Members with which a package completes what it has received; a provider that got them back would refuse them."""


def as_sent(given: Any) -> Any:
    """The JSON of a response or event: a mapping as it is, an object of a provider's package without its additions.

    Those packages give every member that they know a default. Only what was received is handed on: absent members stay
    absent, unknown ones stay where the package keeps them (that of Google drops those of `generateContent`). What
    their JSON parser has rounded (fractions beyond a double's precision) is gone; where that matters, hand in the
    parsed body of the raw response.

    Raises:
        TypeError: it is neither.
    """
    if isinstance(given, Mapping):
        return given
    if not hasattr(given, "model_fields_set"):
        raise TypeError(f"a response is a mapping or an object of a provider's package; this is {type(given).__name__}")
    return _received(given)


def delivered(response: Any, events: Iterable[Any] | None) -> dict[str, Any]:
    """What is handed in, as the door reads it: a whole response or the events of its stream.

    Raises:
        TypeError: both are given, or none, or one that is neither a mapping nor an object of a provider's package.
    """
    if (response is None) == (events is None):
        raise TypeError("hand in a response or the events of its stream, exactly one of both")
    return {"response": as_sent(response)} if events is None else {"events": [as_sent(each) for each in events]}


def written(body: Mapping[str, Any]) -> bytes:
    """A request body as JSON. Escapes leave half a character as the provider sent it.

    Raises:
        ValueError: it holds a number that JSON does not have, such as NaN.
        TypeError: it holds something that no JSON can stand for.
    """
    return json.dumps(body, allow_nan=False, separators=(",", ":")).encode()


def _plain(value: Any) -> Any:
    """Packages nest their own objects, and read some texts as moments or bytes; all else in a response is JSON."""
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, bytes):
        return b64encode(value).decode()  # in the alphabet that providers send
    return _received(value) if hasattr(value, "model_fields_set") else value


def _received(model: Any) -> Any:
    """The members that were received, under their names on the wire."""
    if "is_unknown" in type(model).model_fields:
        return model.raw  # a package's shell around what it does not know
    added = ADDED.get(type(model).__module__.partition(".")[0], frozenset())
    # From the instance's dictionary: to ask for a member that the provider gives up would warn.
    known = {
        field.serialization_alias or field.alias or name: _plain(vars(model)[name])
        for name, field in type(model).model_fields.items()
        if name in model.model_fields_set and name not in added
    }
    return known | {name: _plain(value) for name, value in (model.model_extra or {}).items()}
