"""What was measured, in Markdown, which people read in a terminal as well."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from adapters.tool_search.index import USUAL
from tests.search.measuring import Answer, Figures, Refusal

TARGET: Final = 0.95
"""Of recall in an answer of the usual length, over all queries and over those that are held out."""


@dataclass(frozen=True)
class Verdict:
    """Whether the target is met, and nothing forbidden was ever found."""

    recall: float
    held_out: float
    leaks: int

    @property
    def passed(self) -> bool:
        """Exactly, not as it is rounded for people."""
        return min(self.recall, self.held_out) >= TARGET and not self.leaks

    def __str__(self) -> str:
        leaks = f", forbidden tools found {self.leaks} times" if self.leaks else ""
        how = "passed" if self.passed else "FAILED"
        return f"recall@{USUAL} {self.recall:.2f} (target {TARGET}), held-out {self.held_out:.2f}{leaks}: {how}"


def verdict(groups: Mapping[str, Figures], refused: Sequence[Refusal]) -> Verdict:
    """From the figures of all groups."""
    recall, held_out = (groups[name].recall[USUAL] for name in ("all", "held out"))
    return Verdict(recall, held_out, sum(each.leaked for each in refused))


def written(groups: Mapping[str, Figures], given: Sequence[Answer], refused: Sequence[Refusal]) -> str:
    """The table, what was said to those for whom nothing is right, and each failure by name."""
    return "\n".join([*_table(groups), "", *_refused(refused), "", *_failures(given)])


def page(tables: str) -> str:
    """The same as a page of the documentation."""
    return f'# Figures of the tool search\n\nWritten by `make eval-search ARGS="--into docs/search"`.\n\n{tables}\n'


def _table(groups: Mapping[str, Figures]) -> Iterator[str]:
    yield "| queries                 |     | recall@1 | recall@3 | recall@5 |  MRR | tools offered |"
    yield "| ----------------------- | --: | -------: | -------: | -------: | ---: | ------------: |"
    for name, each in groups.items():
        recalls = " | ".join(f"{recall:8.3f}" for recall in each.recall.values())
        yield f"| {name:<23} | {each.queries:3} | {recalls} | {each.mean_reciprocal_rank:.2f} | {each.offered:13.1f} |"


def _refused(refused: Sequence[Refusal]) -> Iterator[str]:
    elsewhere = [each for each in refused if not each.unwanted.forbidden]
    forbidden = [each for each in refused if each.unwanted.forbidden]
    nothing = sum(not each.found for each in elsewhere)
    yield f"* Of {len(elsewhere)} queries about something else, {nothing} find nothing, the others what shares a word."
    yield f"* Of {len(forbidden)} queries for forbidden tools, {sum(each.leaked for each in forbidden)} find one."


def _failures(given: Sequence[Answer]) -> Iterator[str]:
    failures = [each for each in given if each.failed]
    yield f"{len(failures)} queries miss a right tool among the first {USUAL}:"
    yield ""
    yield from map(_failure, failures)


def _failure(answer: Answer) -> str:
    missing = ", ".join(name for name in answer.wanted.right if name not in answer.found[:USUAL])
    where = "held out" if answer.wanted.held_out else "tuned on"
    return (
        f"* “{answer.wanted.text}” ({where}) misses {missing}; it finds {', '.join(answer.found[:USUAL]) or 'nothing'}"
    )
