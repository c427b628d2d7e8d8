"""From a text to what is compared: its runs of letters or digits, and the tokens of each."""

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from adapters.tool_search import english, glossary, korean

LONGEST_NUMBER: Final = 3
"""Digits; a longer number is an id or an amount and says nothing about a tool."""

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_RUN = re.compile(rf"[{korean.HANGUL}]+|[^\W\d_{korean.HANGUL}]+|[0-9]+")
_KOREAN = re.compile(rf"[{korean.HANGUL}]+")


def runs(text: str) -> list[str]:
    """All of them in their order: `refundPayment`, `refund_payment` and `Refund Payment` have the same."""
    separated = _HUMP.sub(" ", unicodedata.normalize("NFKC", text))
    return _RUN.findall(separated.casefold())


def telling(text: str) -> Iterator[str]:
    """The runs that say something about a tool."""
    return filter(_tells, runs(text))


def tokens(run: str) -> tuple[str, ...]:
    """What a run is found by: a stem, or a Korean word and the pairs of its syllables; and what these mean."""
    written = korean.tokens(run) if _KOREAN.fullmatch(run) else (english.stem(run),)
    meant = (meaning for token in written for meaning in glossary.meanings(token))
    return tuple(dict.fromkeys((*written, *meant)))


def _tells(run: str) -> bool:
    if run.isdigit():
        return len(run) <= LONGEST_NUMBER
    if _KOREAN.fullmatch(run):
        return korean.EMPTY.isdisjoint((run, korean.cut(run)))
    return len(run) > 1 and run not in english.EMPTY
