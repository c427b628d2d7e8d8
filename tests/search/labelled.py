"""The catalog and the queries as values. Nothing is wanted of a query that nothing is right for."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from adapters.tool_search import Entry

FOLDER: Final = Path(__file__).parent
BATCHES: Final = ("first", "second", "last")
_HANGUL: Final = re.compile("[가-힣]")


@dataclass(frozen=True)
class Wanted:
    """A query and the tools that are right. `batch`: when it was written; `typo`: with a slip of the pen in it."""

    text: str
    right: tuple[str, ...]
    batch: str
    held_out: bool
    typo: bool

    @property
    def language(self) -> str:
        """`ko` as soon as there is a Korean letter in it, else `en`."""
        return "ko" if _HANGUL.search(self.text) else "en"


@dataclass(frozen=True)
class Unwanted:
    """A query for which there is no tool, or only `forbidden` ones."""

    text: str
    forbidden: frozenset[str]


def catalog() -> Sequence[Entry]:
    """The tools."""
    return [
        Entry(
            name=tool["name"],
            title=tool["title"],
            description=tool["description"],
            tags=frozenset(tool["tags"]),
            argument_words=tuple(tool["argument_words"]),
        )
        for tool in _read("catalog")["tool"]
    ]


def wanted() -> Sequence[Wanted]:
    """The queries of all batches, in the order in which they were written."""
    queries = _read("queries")
    return [each for batch in BATCHES for each in _batch(batch, queries[batch])]


def unwanted() -> Sequence[Unwanted]:
    """The queries that are answered with nothing, or with nothing that is forbidden."""
    return [Unwanted(each["text"], frozenset(each.get("forbidden", ()))) for each in _read("queries")["negative"]]


def _batch(batch: str, queries: Iterable[dict[str, Any]]) -> Iterator[Wanted]:
    for each in queries:
        held_out, typo = each.get("held_out", False), each.get("typo", False)
        yield Wanted(each["text"], tuple(each["right"]), batch, held_out, typo)


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
