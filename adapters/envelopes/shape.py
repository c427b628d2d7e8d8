"""Questions that every surface asks of foreign JSON. No field name of any surface stands here."""

from collections.abc import Sequence
from typing import Any, NoReturn

from workflows.domain.errors import Detail, ResponseRefused
from workflows.domain.proposal import Proposal


def refuse(code: str, path: str, detail: str, expected: str) -> NoReturn:
    """Refuse the response as a whole; `path` is a JSON Pointer into it."""
    raise ResponseRefused(code, [Detail(path, detail, expected)])


def as_object(value: Any, path: str, code: str = "malformed_envelope") -> dict[str, Any]:
    """Return `value` if it is an object.

    Raises:
        ResponseRefused: `code`.
    """
    if not isinstance(value, dict):
        refuse(code, path, "wrong_type", "an object")
    return value


def as_list(value: Any, path: str, code: str = "malformed_envelope") -> list[Any]:
    """Return `value` if it is an array.

    Raises:
        ResponseRefused: `code`.
    """
    if not isinstance(value, list):
        refuse(code, path, "wrong_type", "an array")
    return value


def as_objects(value: Any, path: str, code: str = "malformed_envelope") -> list[dict[str, Any]]:
    """Return `value` if it is an array of objects.

    Raises:
        ResponseRefused: `code`.
    """
    return [as_object(item, f"{path}/{index}", code) for index, item in enumerate(as_list(value, path, code))]


def as_word(value: Any, path: str, code: str) -> str:
    """Return `value` if it is a string with something in it.

    Raises:
        ResponseRefused: `code`.
    """
    if not isinstance(value, str) or not value:
        refuse(code, path, "missing" if value is None or value == "" else "wrong_type", "a string that is not empty")
    return value


def as_call_id(value: Any, path: str) -> str:
    """Return `value` if it can name a call.

    Raises:
        ResponseRefused: missing_call_id.
    """
    return as_word(value, path, "missing_call_id")


def word_or_none(value: Any) -> str | None:
    """Return `value` if it is a string with something in it, else nothing."""
    return value if isinstance(value, str) and value else None


def count_or_none(value: Any) -> int | None:
    """Return `value` if it is a number of things, else nothing."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def member(value: Any, name: str) -> Any:
    """Return the member of an object, nothing where there is no object or no such member."""
    return value.get(name) if isinstance(value, dict) else None


def require_one_of(value: Any, allowed: Sequence[Any], path: str) -> None:
    """Refuse an envelope of another kind.

    Raises:
        ResponseRefused: malformed_envelope.
    """
    if value not in allowed:
        refuse("malformed_envelope", path, "unexpected_value", " or ".join(str(word) for word in allowed if word))


def require_distinct_ids(proposals: Sequence[Proposal], path: str) -> None:
    """Refuse two calls under one id, equal or not: no surface takes the answers to them back.

    Raises:
        ResponseRefused: duplicate_call_id.
    """
    if len({proposal.call_id for proposal in proposals}) != len(proposals):
        refuse("duplicate_call_id", path, "duplicate", "an id of its own for each call")
