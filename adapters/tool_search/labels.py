"""What a tool is called: its name and its tags, each as a whole."""

import re
from enum import IntEnum
from typing import Final

from adapters.tool_search import words
from adapters.tool_search.entry import Entry

_WORD: Final = re.compile(r"\w+(?:[.-]\w+)*")


class Closeness(IntEnum):
    """How surely a query means a tool, the surest first."""

    VERBATIM = 0
    """It is the name, letter by letter."""
    CALLED = 1
    """It is the name written otherwise, such as "Refund payment", or the name stands in it."""
    TAGGED = 2
    """It is one of the tags."""
    NOT_CALLED = 3


class Query:
    """What was asked for, compared as a whole."""

    def __init__(self, text: str) -> None:
        self.verbatim = text.strip()
        self.whole = _label(text)
        # A name of one part, such as search, is an ordinary word when it stands among others.
        self.names = frozenset(word.casefold() for word in _WORD.findall(text) if len(words.runs(word)) > 1)


class Labels:
    """The name and the tags of one tool."""

    def __init__(self, entry: Entry) -> None:
        self._name, self._folded, self._label = entry.name, entry.name.casefold(), _label(entry.name)
        self._tags = frozenset(filter(None, map(_label, entry.tags)))

    def closeness(self, query: Query) -> Closeness:
        """How surely the query means this tool."""
        if query.verbatim == self._name:
            return Closeness.VERBATIM
        if self._folded in query.names or (query.whole and query.whole == self._label):
            return Closeness.CALLED
        return Closeness.TAGGED if query.whole in self._tags else Closeness.NOT_CALLED


def _label(text: str) -> str:
    return " ".join(words.runs(text))
