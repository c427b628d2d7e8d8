"""The tools of one set of rights, ranked by their words.

The statistics (how rare a word is, how long the texts are) are those of these tools alone. Whatever else the catalog
holds has no influence, so neither a place nor an order nor a corrected spelling tells that there is more.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import bm25s  # type: ignore[import-untyped]

from adapters.tool_search import words
from adapters.tool_search.entry import Entry
from adapters.tool_search.spelling import Spelling

WEIGHTS: Final = MappingProxyType({"name": 3, "tags": 2, "title": 2, "description": 1, "arguments": 1})
"""How often a word counts that stands there."""

WORTHWHILE: Final = 0.25
"""Share of the best score below which a tool is not offered: fewer tools are easier to choose from."""

DIGITS: Final = 6
"""Behind the point; the same sum in another order is the same score."""

_OTHER_TOOL = re.compile(r"\b[a-z0-9]+(?:_[a-z0-9]+)+\b")


@dataclass(frozen=True)
class Document:
    """A tool's words. `tokens`: each as often as it counts; `spelled`: the tokens of each run as it was written."""

    entry: Entry
    tokens: tuple[str, ...]
    spelled: Mapping[str, tuple[str, ...]]


def document(entry: Entry) -> Document:
    """Read an entry once, for all rights."""
    counted = [(run, weight) for text, weight in _texts(entry) for run in words.telling(text)]
    spelled = {run: words.tokens(run) for run, _ in counted}
    return Document(entry, tuple(token for run, weight in counted for token in spelled[run] * weight), spelled)


def _texts(entry: Entry) -> Iterator[tuple[str, int]]:
    yield entry.name, WEIGHTS["name"]
    yield entry.title, WEIGHTS["title"]
    # The name of another tool says what this one is not for.
    yield _OTHER_TOOL.sub(" ", entry.description), WEIGHTS["description"]
    yield from ((tag, WEIGHTS["tags"]) for tag in entry.tags)
    yield from ((word, WEIGHTS["arguments"]) for word in entry.argument_words)


class Ranking:
    """An index over some tools."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self._names = [each.entry.name for each in documents]
        self._spelled = {run: tokens for each in documents for run, tokens in each.spelled.items()}
        self._spelling = Spelling(self._spelled)
        vocabulary = sorted({token for each in documents for token in each.tokens})
        self._places = {token: place for place, token in enumerate(vocabulary)}
        self._bm25 = bm25s.BM25(dtype="float64")
        counted = [[self._places[token] for token in each.tokens] for each in documents]
        if vocabulary:
            self._bm25.index((counted, self._places), create_empty_token=False, show_progress=False)

    def scores(self, text: str) -> dict[str, float]:
        """The tools that share words with the text and are worth offering; without a known word there are none."""
        places = list(dict.fromkeys(self._places[token] for run in words.telling(text) for token in self._known(run)))
        if not places:
            return {}
        scores = self._bm25.get_scores_from_ids(places).round(DIGITS)
        worthwhile = (scores >= scores.max() * WORTHWHILE).nonzero()[0]
        return {self._names[place]: float(scores[place]) for place in worthwhile}

    def _known(self, run: str) -> list[str]:
        known = [token for token in words.tokens(run) if token in self._places]
        return known or [token for near in self._spelling.nearest(run) for token in self._spelled[near]]
