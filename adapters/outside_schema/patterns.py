r"""Patterns of JSON Schema (ECMA-262) on an engine whose time is linear in the text, whatever the pattern.

Python's own engine would do neither: a hostile text can hold it for ever, `$` lets a last line feed pass and `\d` takes
digits of every script. Pydantic's engine for our own models is linear and is used here too; what it writes otherwise
than ECMA-262 is rewritten, and what it cannot hold (look-around, back references) is refused.
"""

import re
import string
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from pydantic_core import SchemaError, SchemaValidator, core_schema

MAX_PATTERN: Final = 2_000
"""Characters; no pattern of a field is longer."""

_SPACES = r"\t\n\v\f\r \x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF}"
_SETS: Final = {
    "\\d": "[0-9]",
    "\\D": "[^0-9]",
    "\\w": "[0-9A-Za-z_]",
    "\\W": "[^0-9A-Za-z_]",
    "\\s": f"[{_SPACES}]",
    "\\S": f"[^{_SPACES}]",
}
_CONTROLS: Final = {"\\t": 9, "\\n": 10, "\\v": 11, "\\f": 12, "\\r": 13, "\\0": 0}
_PIECE = re.compile(
    r"""\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}  # a pair of surrogates
    | \\u\{[0-9a-fA-F]{1,6}\} | \\u[0-9a-fA-F]{4} | \\x[0-9a-fA-F]{2}
    | \\[pP]\{[A-Za-z0-9_=]{1,60}\}
    | \\.
    | \(\?<[A-Za-z_][A-Za-z0-9_]*> | \(\?[:=!<]? | \(
    | (?:[*+?]|\{[0-9]+(?:,[0-9]*)?\})\??
    | .""",
    re.VERBOSE | re.DOTALL,
)
_QUANTIFIER = re.compile(r"(?:[*+?]|\{[0-9]+(?:,[0-9]*)?\})\??", re.ASCII)


class PatternRefused(ValueError):
    """This pattern cannot be held as it is meant."""


class Pattern:
    """One pattern, found anywhere in a text unless it says otherwise."""

    def __init__(self, pattern: str) -> None:
        if len(pattern) > MAX_PATTERN:
            raise PatternRefused
        try:
            # Translated first, so that what it means does not depend on the engine.
            self._engine = SchemaValidator(core_schema.str_schema(strict=True, pattern=_translated(pattern)))
        except SchemaError:
            raise PatternRefused from None

    def fits(self, text: str) -> bool:
        """Whether the pattern is found in the text."""
        return self._engine.isinstance_python(text)


@lru_cache(maxsize=1_000)
def pattern(source: str) -> Pattern:
    """The pattern, compiled once; raises `PatternRefused`."""
    return Pattern(source)


def _translated(source: str) -> str:
    pieces = iter(_PIECE.findall(source))
    return "".join(_outside(pieces))


def _outside(pieces: Iterator[str]) -> Iterator[str]:
    quantified = True  # nothing stands before the first piece that could be repeated
    for piece in pieces:
        is_quantifier = _QUANTIFIER.fullmatch(piece) is not None
        if is_quantifier and quantified:
            raise PatternRefused
        quantified = is_quantifier or piece in ("|", "^") or piece.startswith("(")
        yield piece if is_quantifier else _one(piece, pieces)


def _one(piece: str, pieces: Iterator[str]) -> str:
    if piece in ("^", "$", "|", ")", "("):
        return piece
    if piece == ".":
        return r"[^\n\r\x{2028}\x{2029}]"
    if piece == "[":
        return _class(pieces)
    if piece == "\\b":
        return r"(?-u:\b)"
    if piece.startswith("(?"):
        return _group(piece)
    return _SETS.get(piece) or _property(piece) or _escaped(_code_point(piece))


def _group(piece: str) -> str:
    if piece == "(?:" or piece.endswith(">"):
        return "(?:"
    raise PatternRefused


def _class(pieces: Iterator[str]) -> str:
    items, negated = _items(pieces)
    if not items:
        raise PatternRefused
    return f"[{'^' if negated else ''}{''.join(_ranges(items))}]"


def _items(pieces: Iterator[str]) -> tuple[list[str | int], bool]:
    """What stands between the brackets: sets as they are written, single characters as code points."""
    items: list[str | int] = []
    negated = False
    for place, piece in enumerate(_single(pieces)):
        if piece == "]":
            return items, negated
        if place == 0 and piece == "^":
            negated = True
        elif piece == "\\b":
            items.append(8)
        else:
            items.append(_SETS.get(piece) or _property(piece) or _code_point(piece))
    raise PatternRefused


def _single(pieces: Iterator[str]) -> Iterator[str]:
    """Inside brackets groups and quantifiers are single characters."""
    for piece in pieces:
        if piece.startswith("\\"):
            yield piece
        else:
            yield from piece


def _ranges(items: list[str | int]) -> Iterator[str]:
    place = 0
    while place < len(items):
        first, *rest = items[place : place + 3]
        if isinstance(first, int) and len(rest) == 2 and rest[0] == ord("-") and isinstance(rest[1], int):
            if rest[1] < first:
                raise PatternRefused
            yield f"{_escaped(first)}-{_escaped(rest[1])}"
            place += 3
        else:
            yield _escaped(first) if isinstance(first, int) else first
            place += 1


def _property(piece: str) -> str | None:
    return piece if piece.startswith(("\\p{", "\\P{")) else None


def _code_point(piece: str) -> int:
    if not piece.startswith("\\"):
        return ord(piece)
    if piece in _CONTROLS:
        return _CONTROLS[piece]
    if len(piece) == 2 and piece[1] in string.punctuation:
        return ord(piece[1])
    if len(piece) <= 2 or piece[1] not in "ux":
        raise PatternRefused
    return _numbered(piece)


def _numbered(piece: str) -> int:
    if len(piece) == 12:
        pair = bytes.fromhex(piece[2:6] + piece[8:12])
        return ord(pair.decode("utf-16-be"))
    point = int(piece[2:].strip("{}"), 16)
    if 0xD800 <= point <= 0xDFFF or point > 0x10FFFF:
        raise PatternRefused
    return point


def _escaped(point: int) -> str:
    character = chr(point)
    return character if character.isascii() and character.isalnum() else f"\\x{{{point:X}}}"
