r"""Regular expressions that a model wrote, found in tools' texts in a time that is bounded whatever they are.

The engine is pydantic's, which is linear in the text and knows neither look-around nor back references. What it costs
for each character grows with the repetitions and the kinds of characters in the pattern, so these are few, and none is
counted: `(\w*\s*){99}` is short and dear. Whether letters are capitals does not matter; `^` and `$` are the ends of a
name, a tag, a title.
"""

import re
from typing import Final

from pydantic_core import SchemaError, SchemaValidator, core_schema

LONGEST: Final = 200
"""Characters."""

MOST_DEAR: Final = 12
"""Repetitions, classes and escapes such as those of words and their ends."""

EXPECTED: Final = (
    f"a regular expression of 1 to {LONGEST} characters, with at most {MOST_DEAR} of * + ? [...] \\w \\b and the like, "
    "without {n}, look-around, back references and the flag x"
)

_PIECE = re.compile(
    r"""(?P<dear>\\[pP]\{[^}]*\} | \\[A-Za-z] | \[(?:\\.|[^\]\\])*\] | [*+?]\??)
    | \\.
    | \(\?(?:[ims-]*[:)]|P?<[A-Za-z_][A-Za-z0-9_]*>)     # a group
    | (?P<refused>\{ | \(\?)                             # counted, or a group of another kind""",
    re.VERBOSE | re.DOTALL,
)


class PatternRefused(ValueError):
    """This pattern is not held: it is wrong, or could be dear."""


class Pattern:
    """One pattern, found anywhere in a text."""

    def __init__(self, pattern: str) -> None:
        _require_cheap(pattern)
        try:
            schema = core_schema.str_schema(pattern=f"(?im){pattern}", regex_engine="rust-regex")
            self._engine = SchemaValidator(schema)
        except SchemaError:
            raise PatternRefused from None

    def fits(self, text: str) -> bool:
        """Whether it is found in the text, of which each line is one for itself."""
        return self._engine.isinstance_python(text)


def _require_cheap(pattern: str) -> None:
    if not 0 < len(pattern) <= LONGEST:
        raise PatternRefused
    pieces = list(_PIECE.finditer(pattern))
    dear = sum(piece["dear"] is not None for piece in pieces)
    if dear > MOST_DEAR or any(piece["refused"] for piece in pieces):
        raise PatternRefused
