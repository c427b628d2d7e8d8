"""English words without their endings, so that refunds, refunded and refunding are one word."""

import re
from typing import Final

from bm25s.stopwords import STOPWORDS_EN_PLUS  # type: ignore[import-untyped]

_POLITE: Final = "please want need like would could can may might must let us thanks hello hi ok okay"

EMPTY: Final = frozenset([*STOPWORDS_EN_PLUS, *_POLITE.split()])
"""What a wish is wrapped in; says nothing about which tool is meant."""

ENDINGS: Final = (
    ("ication", "i", 3),
    ("ation", "", 4),
    ("ment", "", 6),
    ("ion", "", 3),
    ("al", "", 5),
    ("ing", "", 3),
    ("ied", "i", 2),
    ("ed", "e", 2),
)
"""An ending, what is written instead, and how many letters must be left before it; the first that fits is cut.

A payment is not somebody who pays, and a shipment is no ship: what is left is too short.
"""

SHORTEST: Final = 3
"""Letters of a word that is left as it is."""

LONG: Final = 7
"""Letters of a word whose -at- is an ending: translate, but not creat(e)."""

_DOUBLED = re.compile(r"([^aeious])\1$")


def stem(word: str) -> str:
    """The word without its ending; `word` is casefolded.

    Not what a grammar would say: it only has to be the same for the forms of a word, and rarely the same for others.
    """
    shorter = _cut(_singular(word))
    return shorter if len(shorter) <= SHORTEST else _smoothed(shorter)


def _singular(word: str) -> str:
    return word if word.endswith("ss") else word.removesuffix("s")


def _cut(word: str) -> str:
    for ending, instead, least in ENDINGS:
        left = word.removesuffix(ending)
        if left != word and len(left) >= least:
            return left + instead
    return word


def _smoothed(word: str) -> str:
    """Move and moving, cancel and cancelled, deliver and delivery: the last letters are not always written."""
    word = _DOUBLED.sub(r"\1", word.removesuffix("e"))
    word = word[:-1] if word[-1] in "yi" else word
    return word.removesuffix("at") if len(word) >= LONG else word
