"""Pieces of one value, as a stream sends them, put together again. No field name of one surface alone stands here."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from adapters.envelopes.shape import refuse

SENT_WHOLE: Final = frozenset({"id", "type", "role", "name", "channel"})
"""Members whose text is never split: some servers send it again with every piece, and the last one counts."""


def joined(pieces: Sequence[Any], path: str, code: str = "malformed_envelope") -> Any:
    """Return the value that `pieces` make: text and arrays one after the other, objects by member, else the last.

    Null says nothing beside a piece that says something. The work grows with the size of the pieces alone.

    Raises:
        ResponseRefused: `code`, when pieces of different types would have to be one value.
    """
    said = [piece for piece in pieces if piece is not None]
    if not said:
        return None
    if _all(said, str):
        return "".join(said)
    if _all(said, list):
        return [item for piece in said for item in piece]
    if _all(said, dict):
        return _object(said, path, code)
    if any(isinstance(piece, str | list | dict) for piece in said):
        refuse(code, path, "mixed_types", "pieces of one type")
    return said[-1]


def last_said(pieces: Iterable[Any]) -> Any:
    """Return the last piece with something in it, else the last one."""
    value = None
    for piece in pieces:
        value = piece if piece or not value else value
    return value


def _all(pieces: Sequence[Any], kind: type) -> bool:
    return all(isinstance(piece, kind) for piece in pieces)


def _object(pieces: Sequence[dict[str, Any]], path: str, code: str) -> dict[str, Any]:
    members: dict[str, list[Any]] = {}
    for piece in pieces:
        for key, value in piece.items():
            members.setdefault(key, []).append(value)
    return {
        key: last_said(values) if key in SENT_WHOLE else joined(values, f"{path}/{key}", code)
        for key, values in members.items()
    }
