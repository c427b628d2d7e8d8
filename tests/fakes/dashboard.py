"""The dashboard over rows in memory, counted as the real one counts them. Moments are seconds before now."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from adapters.http.back_office.dashboard_ports import (
    AGES,
    CHECKED,
    MOST_AGAIN,
    MOST_EFFECTS,
    MOST_KINDS,
    TIMES_TO_DECIDE,
    End,
    Figures,
    Invariant,
    Overview,
    Queue,
    Span,
    UnderWay,
)
from workflows.domain.approval import Choice
from workflows.domain.effect import ABANDONED
from workflows.domain.gate import Layer
from workflows.domain.lifecycle import ENDS, State
from workflows.domain.principal import Principal

INVARIANTS = ("effects_per_operation_and_item", "half_ended_operations")
"""Those of the real ones that the fake knows."""

T = TypeVar("T")


@dataclass
class Row:
    """One operation; `changed` and `ended` seconds ago."""

    operation_id: str
    tenant: str
    state: State
    code: str | None = None
    changed: float = 0.0
    ended: float | None = None
    begun: float = 0.0


@dataclass(frozen=True)
class Claimed:
    """One claim with what the timeline says of its effect."""

    operation_id: str
    effects: int
    sends: int
    generation: int


@dataclass(frozen=True)
class Asked:
    """One question, and the words on it by the seconds after it."""

    tenant: str
    ago: float
    open: bool = True
    words: tuple[tuple[Choice, float], ...] = ()


@dataclass
class MemoryDashboard:
    """Counts what stands in its lists."""

    now: datetime = datetime(2026, 3, 2, 12, 20, tzinfo=UTC)
    operations: list[Row] = field(default_factory=list)
    claims: list[Claimed] = field(default_factory=list)
    questions: list[Asked] = field(default_factory=list)
    refusals: list[tuple[str, Layer, str, float]] = field(default_factory=list)
    corrections: list[tuple[str, str, float]] = field(default_factory=list)
    undelivered: list[tuple[str, float]] = field(default_factory=list)

    async def overview(self, viewer: Principal, span: Span) -> Overview:
        return Overview(
            self.now, tuple(self._invariants(viewer.tenant)), self._under_way(viewer), self._figures(viewer, span)
        )

    def _of(self, tenant: str) -> list[Row]:
        return [row for row in self.operations if row.tenant == tenant]

    def _invariants(self, tenant: str) -> Iterator[Invariant]:
        lately = [row for row in self._of(tenant) if row.begun <= CHECKED.total_seconds()]
        twice = {claim.operation_id for claim in self.claims if claim.effects > 1}
        breaking = ([row for row in lately if row.operation_id in twice], [row for row in lately if _half_ended(row)])
        for name, rows in zip(INVARIANTS, breaking, strict=True):
            newest = sorted(rows, key=lambda row: row.changed)
            since = self._moment(newest[-1].changed) if newest else None
            yield Invariant(name, len(rows), since, tuple(row.operation_id for row in newest))

    def _under_way(self, viewer: Principal) -> UnderWay:
        mine = [row for row in self._of(viewer.tenant) if row.ended is None]
        return UnderWay(
            states={
                state: _queue(row.changed for row in mine if row.state is state) for state in State if state not in ENDS
            },
            pending=_queue(asked.ago for asked in self.questions if asked.open and asked.tenant == viewer.tenant),
            due=_queue(late for tenant, late in self.undelivered if tenant == viewer.tenant),
        )

    def _figures(self, viewer: Principal, span: Span) -> Figures:
        begin = _bar(self.now, span) - (span.bars - 1) * span.step
        reach = (self.now - begin).total_seconds()
        mine = self._of(viewer.tenant)
        ended = [row for row in mine if row.ended is not None and row.ended <= reach]
        ids = {row.operation_id for row in ended}
        claims = [claim for claim in self.claims if claim.operation_id in ids]
        refused = [row for row in self.refusals if row[0] == viewer.tenant and row[2] != "approval_required"]
        refusals = Counter((layer, code) for _, layer, code, ago in refused if ago <= reach)
        corrections = Counter(
            tool for tenant, tool, ago in self.corrections if tenant == viewer.tenant and ago <= reach
        )
        asked = [question for question in self.questions if question.tenant == viewer.tenant and question.ago <= reach]
        told_refusals, other_refusals = _most(refusals)
        told_corrections, other_corrections = _most(corrections)
        return Figures(
            begin=begin,
            ends=Counter((_bar(self._moment(row.ended or 0.0), span), _end(row)) for row in ended if row.state in ENDS),
            ages=Counter(
                (bisect_right(AGES, row.changed), row.state)
                for row in mine
                if row.ended is None and row.state not in ENDS
            ),
            decisions=Counter(
                (bisect_right(TIMES_TO_DECIDE, after), choice) for one in asked for choice, after in one.words
            ),
            refusals=told_refusals,
            other_refusals=other_refusals,
            effects=Counter(min(claim.effects, MOST_EFFECTS) for claim in claims),
            sends_again=Counter(min(max(claim.sends - 1, 0), MOST_AGAIN) for claim in claims),
            claims_again=Counter(min(claim.generation - 1, MOST_AGAIN) for claim in claims),
            corrections=told_corrections,
            other_corrections=other_corrections,
        )

    def _moment(self, ago: float) -> datetime:
        return self.now - timedelta(seconds=ago)


def _half_ended(row: Row) -> bool:
    return (row.ended is not None) != (row.state in ENDS)


def _end(row: Row) -> End:
    return End.GIVEN_UP if row.code == ABANDONED else End(row.state.value)


def _bar(at: datetime, span: Span) -> datetime:
    """The start of the bar that a moment falls in; bars are counted from the epoch."""
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    return epoch + (at - epoch) // span.step * span.step


def _queue(ages: Iterable[float]) -> Queue:
    found = list(ages)
    return Queue(len(found), max(found, default=0.0))


def _most(numbers: Mapping[T, int]) -> tuple[dict[T, int], int]:
    told = dict(sorted(numbers.items(), key=lambda pair: (-pair[1], str(pair[0])))[:MOST_KINDS])
    return told, sum(numbers.values()) - sum(told.values())
