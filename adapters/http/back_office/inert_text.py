"""Values of models and downstreams as people may safely read them.

What cannot be seen is shown as an escape, so that two different values never look the same and no value can turn the
text around it. What is executed is never changed by this; only what is shown.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator

from markupsafe import Markup, escape

from adapters.http.back_office.languages import N_
from workflows.domain.visibility import is_hidden

COMBINING_CATEGORIES = frozenset({"Mn", "Me"})

FEW_MARKS = 3
"""Marks on one letter that some language writes; more of them cover the lines above and below."""

LOOK_ALIKE_ALPHABETS = frozenset({"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC"})
"""Alphabets that share letter shapes; a word that mixes them is hardly ever honest."""

SHORT_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}

WORDS = re.compile(r"(\w+)")


def visible(text: str) -> str:
    r"""The text with every control, bidi, zero-width and other unseen character as an escape: `\n`, `\u{202E}`.

    So is a combining mark that stands on a heap of others.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if plain else _escape_of(char) for char, plain in _characters(text))


def marked(text: str, translated: Callable[[str], str] = str) -> Markup:
    """As `visible`, in HTML: escapes are marked, so that a typed one is not taken for one, and so are dubious words.

    `translated` gives the remarks on those in the reader's language.
    """
    if text.isascii() and text.isprintable():
        # Nothing to make visible and nothing to wonder at; most text is like this, and there may be thousands of lines.
        return escape(text)
    return Markup("").join(_marked_part(part, translated) for part in _parts(text))


def suspicion(word: str) -> str:
    """What is odd about the letters or digits of a word, empty when nothing is."""
    if len(_alphabets(word)) > 1:
        return N_("mixes alphabets")
    if any(char.isdecimal() and not char.isascii() for char in word):
        return N_("unusual digits")
    return ""


def _parts(text: str) -> list[str]:
    return [part for part in re.split(WORDS, text) if part]


def _marked_part(part: str, translated: Callable[[str], str]) -> Markup:
    shown = Markup("").join(escape(char) if plain else _unseen(char) for char, plain in _characters(part))
    odd = suspicion(part)
    return shown + Markup('<span class="odd">{}</span>').format(translated(odd)) if odd else shown


def _characters(text: str) -> Iterator[tuple[str, bool]]:
    """Each character, and whether it can be shown as it is."""
    marks = 0
    for char in text:
        marks = marks + 1 if unicodedata.category(char) in COMBINING_CATEGORIES else 0
        yield char, marks <= FEW_MARKS and not is_hidden(char)


def _unseen(char: str) -> Markup:
    return Markup('<span class="unseen">{}</span>').format(_escape_of(char))


def _escape_of(char: str) -> str:
    return SHORT_ESCAPES.get(char) or f"\\u{{{ord(char):04X}}}"


def _alphabets(word: str) -> set[str]:
    names = {unicodedata.name(char, "").partition(" ")[0] for char in word if char.isalpha()}
    return names & LOOK_ALIKE_ALPHABETS
