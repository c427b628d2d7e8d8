"""Words that are one slip away from a known one: a letter too many, too few, another one, or two in the wrong order.

Compared by letters. A Korean syllable counts as the letters (자모) that it is written with: 죠회 is one slip away from
조회.
"""

import unicodedata
from collections.abc import Iterable, Iterator
from typing import Final

SHORTEST: Final = 4
"""Letters; these may lack one. Too many words are another slip away from one so short: play, plan."""

LONGEST: Final = 40
"""Letters; what is longer is no word."""


class Spelling:
    """The known words, to be found by what was nearly written."""

    def __init__(self, known: Iterable[str]) -> None:
        self._by_variant: dict[str, list[str]] = {}
        for word in known:
            for variant in _variants(_letters(word)):
                self._by_variant.setdefault(variant, []).append(word)

    def nearest(self, word: str) -> list[str]:
        """The known words that are one slip away, in the order of the alphabet."""
        letters = _letters(word)
        if not SHORTEST <= len(letters) <= LONGEST:
            return []
        near = {known for variant in _variants(letters) for known in self._by_variant.get(variant, ())}
        return sorted(known for known in near if _is_one_slip(letters, _letters(known)))


def _letters(word: str) -> str:
    return unicodedata.normalize("NFD", word)


def _variants(letters: str) -> Iterator[str]:
    """The word, and the word with each of its letters left out: what is one slip apart shares one of these."""
    yield letters
    if len(letters) <= LONGEST:
        yield from {letters[:place] + letters[place + 1 :] for place in range(len(letters))}


def _is_one_slip(written: str, known: str) -> bool:
    if len(written) != len(known):
        # One is the other with a letter left out.
        return len(written) < len(known) or len(written) > SHORTEST
    return len(written) > SHORTEST and _is_other_or_swapped(written, known)


def _is_other_or_swapped(one: str, other: str) -> bool:
    first, *more = [place for place in range(len(one)) if one[place] != other[place]]
    return not more or (more == [first + 1] and one[first : first + 2] == other[first + 1] + other[first])
