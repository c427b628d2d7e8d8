"""How long a search takes on this machine: the catalog, and one as large as nobody should have."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from statistics import median
from typing import Final

from adapters.tool_search import Entry, ToolIndex
from tests.search.labelled import catalog, wanted

LARGE: Final = 500
REPEATS: Final = 5
"""Of each search; the quickest counts, for the others tell what else the machine did."""

PATTERNS: Final = ("^(get|list)_", "refund|환불", r"\b(cancel|void)_\w+")
DEAR: Final = r"(.\b)*(.\b)*(.\b)*(.\b)*z"


def told() -> Iterator[str]:
    """A few lines in milliseconds."""
    yield ""
    for entries in (catalog(), _enlarged(catalog(), LARGE)):
        yield from _lines(entries)


def _lines(entries: Sequence[Entry]) -> Iterator[str]:
    names = frozenset(entry.name for entry in entries)
    began = time.perf_counter()
    index = ToolIndex(entries)
    read = time.perf_counter()
    index.search("refund", allowed=names)
    ready = time.perf_counter()
    words = sorted(_quickest(partial(index.search, each.text, allowed=names)) for each in wanted())
    patterns = median(_quickest(partial(index.matching, each, allowed=names)) for each in PATTERNS)
    dear = _quickest(partial(index.matching, DEAR, allowed=names))
    yield f"{len(entries)} tools, ms: read once {_ms(read - began)}, first search of new rights {_ms(ready - read)}"
    yield f"    words: p50 {_ms(median(words))}, p99 {_ms(words[len(words) * 99 // 100])}, most {_ms(words[-1])}"
    yield f"    pattern: {_ms(patterns)}, a hostile one {_ms(dear)}"


def _enlarged(entries: Sequence[Entry], size: int) -> Sequence[Entry]:
    """The same tools again under other names."""
    rounds = range(size // len(entries) + 1)
    return [replace(entry, name=f"{entry.name}_{turn}") for turn in rounds for entry in entries][:size]


def _quickest(search: Callable[[], object]) -> float:
    return min(_seconds(search) for _ in range(REPEATS))


def _seconds(search: Callable[[], object]) -> float:
    began = time.perf_counter()
    search()
    return time.perf_counter() - began


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.2f}"
