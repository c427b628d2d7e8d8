"""What all surfaces share: the codes, the exception and a few questions about shape. No field name stands here."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, NoReturn

CODES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "unknown_surface": "There is no such surface.",
        "malformed_item": "An item does not have the shape that the API takes.",
        "null_content": "An item has nothing where the API wants content.",
        "empty_content": "An item holds no content where the API wants some.",
        "empty_text": "A text is empty where the API wants words.",
        "missing_call_id": "A call or a result has no id.",
        "call_id_too_long": "The id of a call or a result is longer than the API takes.",
        "repeated_call_id": "Two calls share one id.",
        "item_id_too_long": "The id of an item is longer than the API takes.",
        "repeated_item_id": "Two items share one id.",
        "misplaced_call": "A call stands where the API takes none.",
        "unanswered_call": "A call has no result.",
        "unasked_result": "A result belongs to no call.",
        "repeated_result": "A call has two results.",
        "misplaced_result": "The result of a call stands where the API does not look for it.",
        "misplaced_part": "Something stands beside results that the API takes only alone.",
        "wrong_count": "There are not as many results as calls.",
        "name_mismatch": "A result does not name the tool of its call.",
        "missing_signature": "The model's signature is gone; it has to come back as it was.",
        "unfollowed_reasoning": "Reasoning stands without the item that it led to.",
    }
)
"""Every code with its meaning; codes are stable."""


class TranscriptRefused(Exception):
    """The provider would refuse this conversation.

    `code` stands in `CODES`, `path` is a JSON Pointer into the conversation, `expected` says what should stand there.
    What does stand there is never repeated.
    """

    def __init__(self, code: str, path: str, expected: str) -> None:
        super().__init__(f"{code} at {path or '/'}: expected {expected}")
        self.code, self.path, self.expected = code, path, expected


def refuse(code: str, path: str, expected: str) -> NoReturn:
    """Refuse the conversation because of what stands at `path`."""
    raise TranscriptRefused(code, path, expected)


def as_object(value: Any, path: str) -> dict[str, Any]:
    """Return `value` if it is an object.

    Raises:
        TranscriptRefused: malformed_item.
    """
    if not isinstance(value, dict):
        refuse("malformed_item", path, "an object")
    return value


def as_objects(value: Any, path: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the objects of an array, each with its path.

    Raises:
        TranscriptRefused: malformed_item.
    """
    if not isinstance(value, list):
        refuse("malformed_item", path, "an array")
    return [(f"{path}/{index}", as_object(item, f"{path}/{index}")) for index, item in enumerate(value)]


def as_word(value: Any, path: str, code: str = "malformed_item") -> str:
    """Return `value` if it is a string with something in it.

    Raises:
        TranscriptRefused: `code`.
    """
    if not isinstance(value, str) or not value:
        refuse(code, path, "a string that is not empty")
    return value


def require_text(value: Any, path: str) -> None:
    """Refuse what is no string; an empty one is fine.

    Raises:
        TranscriptRefused: null_content or malformed_item.
    """
    if value is None:
        refuse("null_content", path, "a string")
    if not isinstance(value, str):
        refuse("malformed_item", path, "a string")
