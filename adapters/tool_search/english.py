"""English words without their endings, so that refunds, refunded and refunding are one word."""

import re
from typing import Final

from bm25s.stopwords import STOPWORDS_EN_PLUS  # type: ignore[import-untyped]

_POLITE: Final = "please want need like would could can may might must let us thanks hello hi ok okay"

EMPTY: Final = frozenset([*STOPWORDS_EN_PLUS, *_POLITE.split()])
"""What a wish is wrapped in; says nothing about which tool is meant."""

ENDINGS: Final = (
    ("ications", "i", 3),
    ("ication", "i", 3),
    ("ations", "", 4),
    ("ation", "", 4),
    ("ments", "", 6),
    ("ment", "", 6),
    ("ions", "", 3),
    ("ion", "", 3),
    ("als", "", 5),
    ("al", "", 5),
    ("ings", "", 3),
    ("ing", "", 3),
    ("ies", "i", 2),
    ("ied", "i", 2),
    ("ed", "e", 2),
    ("s", "", 2),
)
"""An ending, what is written instead, and how many letters must be left before it. The first that fits is cut, once:
a payment is not somebody who pays, a shipment is not a ship."""

SHORTEST: Final = 3
"""Letters of a word that is left as it is."""

LONG: Final = 7
"""Letters of a word whose -at- is an ending: translate, but not creat(e)."""

_DOUBLED = re.compile(r"([^aeious])\1$")


def stem(word: str) -> str:
    """The word without its ending; `word` is casefolded.

    Not what a grammar would say: it only has to be the same for the forms of a word, and rarely the same for others.
    """
    shorter = _cut(word)
    return shorter if len(shorter) <= SHORTEST else _smoothed(shorter)


def _cut(word: str) -> str:
    for ending, instead, least in ENDINGS:
        left = word.removesuffix(ending)
        if left != word and len(left) >= least and not word.endswith("ss"):
            return left + instead
    return word


def _smoothed(word: str) -> str:
    """Move and moving, cancel and cancelled, deliver and delivery: the last letters are not always written."""
    word = _DOUBLED.sub(r"\1", word.removesuffix("e"))
    word = word[:-1] if word[-1] in "yi" else word
    return word.removesuffix("at") if len(word) >= LONG else word
