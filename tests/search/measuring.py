"""What share of the right tools stands among the first, and how far up the first of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from types import MappingProxyType
from typing import Final

from adapters.tool_search import ToolIndex
from adapters.tool_search.index import MOST, USUAL
from tests.search.labelled import Unwanted, Wanted

PLACES: Final = (1, 3, USUAL)


@dataclass(frozen=True)
class Answer:
    """What was found for a query, the best first, at most `MOST`."""

    wanted: Wanted
    found: tuple[str, ...]

    def recall(self, places: int) -> float:
        """The share of the right tools that stands in the first places; of two right tools one place holds half."""
        return len(set(self.found[:places]) & set(self.wanted.right)) / len(self.wanted.right)

    @property
    def reciprocal_rank(self) -> float:
        """1 for a right tool in the first place, a half in the second, 0 when none is found."""
        return next((1 / place for place, name in enumerate(self.found, 1) if name in self.wanted.right), 0.0)

    @property
    def failed(self) -> bool:
        """Whether a right tool is not offered."""
        return self.recall(USUAL) < 1


@dataclass(frozen=True)
class Refusal:
    """What was offered to somebody who asked for nothing that there is, or that is allowed."""

    unwanted: Unwanted
    found: tuple[str, ...]

    @property
    def leaked(self) -> bool:
        """Whether a forbidden tool was found."""
        return not self.unwanted.forbidden.isdisjoint(self.found)


@dataclass(frozen=True)
class Figures:
    """Means over queries, from 0 to 1. `offered`: tools in an answer of the usual length."""

    queries: int
    recall: Mapping[int, float]
    mean_reciprocal_rank: float
    offered: float


GROUPS: Final[Mapping[str, Callable[[Wanted], bool]]] = MappingProxyType(
    {
        "all": lambda _: True,
        "tuned on": lambda each: not each.held_out,
        "held out": lambda each: each.held_out,
        "held out, English": lambda each: each.held_out and each.language == "en",
        "held out, Korean": lambda each: each.held_out and each.language == "ko",
        "held out, written last": lambda each: each.batch == "last",
        "with a slip": lambda each: each.typo,
        "several tools are right": lambda each: len(each.right) > 1,
    }
)
"""Which queries a line of the table is about."""


def answers(index: ToolIndex, names: frozenset[str], queries: Sequence[Wanted]) -> Sequence[Answer]:
    """Ask for each, as somebody who may use all tools."""
    return [Answer(each, _found(index, each.text, names)) for each in queries]


def refusals(index: ToolIndex, names: frozenset[str], queries: Sequence[Unwanted]) -> Sequence[Refusal]:
    """Ask for each, as somebody who may not use what is forbidden."""
    return [Refusal(each, _found(index, each.text, names - each.forbidden)[:USUAL]) for each in queries]


def figures(given: Sequence[Answer]) -> Figures:
    """The means; there is at least one answer."""
    return Figures(
        queries=len(given),
        recall={places: fmean(each.recall(places) for each in given) for places in PLACES},
        mean_reciprocal_rank=fmean(each.reciprocal_rank for each in given),
        offered=fmean(len(each.found[:USUAL]) for each in given),
    )


def by_group(given: Sequence[Answer]) -> Mapping[str, Figures]:
    """The figures of each group."""
    return {name: figures([each for each in given if belongs(each.wanted)]) for name, belongs in GROUPS.items()}


def _found(index: ToolIndex, text: str, allowed: frozenset[str]) -> tuple[str, ...]:
    return tuple(each.name for each in index.search(text, allowed=allowed, limit=MOST))
