"""The way in: what was asked for in words or by a pattern, answered from the tools that are allowed and no others."""

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from types import MappingProxyType
from typing import Final

from adapters.tool_search.entry import By, Entry, Found
from adapters.tool_search.labels import Closeness, Labels, Query
from adapters.tool_search.patterns import EXPECTED, Pattern, PatternRefused
from adapters.tool_search.ranking import Document, Ranking, document
from workflows.domain.errors import CallRefused, Detail, InvalidConfiguration

USUAL: Final = 5
MOST: Final = 10
"""Tools in one answer."""

LONGEST_QUERY: Final = 1_000
"""Characters."""

SETS_OF_RIGHTS: Final = 32
"""Kept ready at once, each with an index of its own."""

BY: Final = MappingProxyType(
    {
        Closeness.VERBATIM: By.NAME,
        Closeness.CALLED: By.NAME,
        Closeness.TAGGED: By.TAG,
        Closeness.NOT_CALLED: By.WORDS,
    }
)


@dataclass(frozen=True, eq=False)
class _Tool:
    """One tool, read once. `texts`: the fields for patterns, one text each, the most telling first."""

    name: str
    labels: Labels
    document: Document
    texts: tuple[str, ...]


class ToolIndex:
    """All tools of a catalog; `allowed`, in both searches, names those that the caller may use.

    Raises:
        InvalidConfiguration: two entries have one name.
    """

    def __init__(self, entries: Iterable[Entry]) -> None:
        # In the order of their names, which sorting by anything else leaves as it is.
        self._tools = sorted(map(_tool, entries), key=lambda tool: tool.name)
        _require_distinct([tool.name for tool in self._tools])
        self._ranking = lru_cache(maxsize=SETS_OF_RIGHTS)(_ranking)

    def search(self, query: str, *, allowed: Container[str], limit: int = USUAL) -> list[Found]:
        """The tools that fit the words, the best first; fewer than `limit`, or none, where no more of them do.

        A tool that is called by its name comes first, then those that have the whole query as a tag.

        Raises:
            CallRefused: `invalid_arguments`; `query` or `limit` is beyond its bounds.
        """
        _require_limit(limit)
        if len(query) > LONGEST_QUERY:
            raise _refused("/query", f"at most {LONGEST_QUERY} characters")
        tools = self._allowed(allowed)
        scores = self._ranking(tools).scores(query)
        return [found for _, found in sorted(_meant(Query(query), tools, scores), key=_order)[:limit]]

    def matching(self, pattern: str, *, allowed: Container[str], limit: int = USUAL) -> list[Found]:
        """The tools in which the pattern is found: in names first, then tags, titles, descriptions, arguments.

        Raises:
            CallRefused: `invalid_arguments`; `pattern` cannot be held, or `limit` is beyond its bounds.
        """
        _require_limit(limit)
        try:
            held = Pattern(pattern)
        except PatternRefused:
            raise _refused("/pattern", EXPECTED) from None
        found = [found for tool in self._allowed(allowed) for found in _matched(held, tool)]
        return sorted(found, key=lambda each: -each.score)[:limit]

    def _allowed(self, allowed: Container[str]) -> tuple[_Tool, ...]:
        return tuple(tool for tool in self._tools if tool.name in allowed)


def _tool(entry: Entry) -> _Tool:
    tags, arguments = "\n".join(sorted(entry.tags)), "\n".join(entry.argument_words)
    texts = (entry.name, tags, entry.title, entry.description, arguments)
    return _Tool(entry.name, Labels(entry), document(entry), texts)


def _ranking(tools: Sequence[_Tool]) -> Ranking:
    return Ranking([tool.document for tool in tools])


def _meant(query: Query, tools: Iterable[_Tool], scores: dict[str, float]) -> Iterator[tuple[Closeness, Found]]:
    for tool in tools:
        closeness = tool.labels.closeness(query)
        if tool.name in scores or closeness is not Closeness.NOT_CALLED:
            yield closeness, Found(tool.name, BY[closeness], scores.get(tool.name, 0.0))


def _order(meant: tuple[Closeness, Found]) -> tuple[Closeness, float]:
    closeness, found = meant
    return closeness, -found.score


def _matched(pattern: Pattern, tool: _Tool) -> Iterator[Found]:
    place = next((place for place, text in enumerate(tool.texts) if pattern.fits(text)), None)
    if place is not None:
        yield Found(tool.name, By.PATTERN, float(len(tool.texts) - place))


def _require_distinct(names: Sequence[str]) -> None:
    for name, following in pairwise(names):
        if name == following:
            raise InvalidConfiguration(f"Two tools are called {name}.")


def _require_limit(limit: int) -> None:
    if not 1 <= limit <= MOST:
        raise _refused("/limit", f"a whole number from 1 to {MOST}")


def _refused(path: str, expected: str) -> CallRefused:
    return CallRefused("invalid_arguments", [Detail(path, "invalid_value", expected)])
