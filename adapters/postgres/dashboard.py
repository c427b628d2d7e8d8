"""What the page of invariants shows, read from one tenant's rows at one moment."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from adapters.http.back_office.dashboard_ports import (
    AGES,
    MOST_AGAIN,
    MOST_EFFECTS,
    MOST_KINDS,
    TIMES_TO_DECIDE,
    End,
    Figures,
    Overview,
    Queue,
    Span,
    UnderWay,
)
from adapters.postgres import backlog, dashboard_queries
from adapters.postgres.backlog import Backlog, Waiting
from adapters.postgres.corrections import CORRECTABLE
from adapters.postgres.engine import Database
from adapters.postgres.invariants import VALUES
from adapters.postgres.snapshot import snapshot
from adapters.postgres.tenant_invariants import invariants_of
from adapters.postgres.tenant_scope import NOT_FOR_LONG, WAITING_FOR_TENANT
from workflows.domain.approval import Choice
from workflows.domain.effect import ABANDONED
from workflows.domain.gate import Layer
from workflows.domain.lifecycle import State
from workflows.domain.principal import Principal


class PostgresDashboard:
    """Fits `adapters.http.back_office.dashboard_ports.Dashboard`; looks and changes nothing.

    However many rows there are, it is the same number of statements, and none of them reads past the span or past
    what is open.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def overview(self, viewer: Principal, span: Span) -> Overview:
        """All of it. Raises as `snapshot` does."""
        async with snapshot(self._database) as connection:
            await connection.execute(text(NOT_FOR_LONG))
            read_at, begin = await _moments(connection, span)
            return Overview(
                read_at=read_at,
                invariants=await invariants_of(connection, viewer.tenant),
                under_way=_under_way(await backlog.read(connection, WAITING_FOR_TENANT, tenant=viewer.tenant)),
                figures=await _figures(connection, {"tenant": viewer.tenant, "begin": begin}, span),
            )


async def _moments(connection: AsyncConnection, span: Span) -> Any:
    values = {"step": span.step, "earlier_bars": span.bars - 1}
    return (await connection.execute(text(dashboard_queries.SPAN), values)).one()


def _under_way(found: Backlog) -> UnderWay:
    return UnderWay(
        states={state: _queue(open_.waiting) for state, open_ in found.states.items()},
        pending=_queue(found.pending),
        overdue=_queue(found.overdue),
        due=_queue(found.due),
        failing=_queue(found.failing),
        set_aside=_queue(found.set_aside),
        not_taken=_queue(found.not_taken),
        given_up=_queue(found.given_up),
    )


def _queue(waiting: Waiting) -> Queue:
    return Queue(waiting.number, waiting.oldest_seconds)


async def _figures(connection: AsyncConnection, scope: dict[str, Any], span: Span) -> Figures:
    async def rows(query: str, **values: Any) -> list[Any]:
        named = {name: value for name, value in scope.items() if f":{name}" in query}
        return list(await connection.execute(text(query), named | values))

    given_up = {"abandoned": ABANDONED, "given_up": End.GIVEN_UP.value}
    # What is half ended is an invariant's matter: it is neither an end here nor open.
    ends = await rows(dashboard_queries.ENDS, step=span.step, ends=VALUES["ends"], **given_up)
    ages = await rows(dashboard_queries.AGES, bounds=list(AGES), ends=VALUES["ends"])
    decisions = await rows(dashboard_queries.DECISIONS, bounds=list(TIMES_TO_DECIDE))
    refusals = await rows(dashboard_queries.REFUSALS, most=MOST_KINDS)
    claims = await rows(dashboard_queries.CLAIMS, most_effects=MOST_EFFECTS, most_again=MOST_AGAIN)
    corrections = await rows(dashboard_queries.CORRECTIONS, correctable=sorted(CORRECTABLE), most=MOST_KINDS)
    return Figures(
        begin=scope["begin"],
        ends={(at, End(ended_as)): number for at, ended_as, number in ends},
        ages={(place, State(state)): number for place, state, number in ages},
        decisions={(place, Choice(choice)): number for place, choice, number in decisions},
        refusals={(Layer(layer), code): number for layer, code, number, _ in refusals},
        other_refusals=_others(refusals),
        effects=_summed((effects, number) for effects, _, _, number in claims),
        sends_again=_summed((sends, number) for _, sends, _, number in claims),
        claims_again=_summed((again, number) for _, _, again, number in claims),
        corrections={tool: number for tool, number, _ in corrections},
        other_corrections=_others(corrections),
    )


def _others(rows: list[Any]) -> int:
    """What the rows that were told leave of the number of all, which each of them ends with."""
    return int(rows[0][-1]) - sum(row[-2] for row in rows) if rows else 0


def _summed(numbers: Iterable[tuple[int, int]]) -> Mapping[int, int]:
    total: Counter[int] = Counter()
    for kind, number in numbers:
        total[kind] += number
    return dict(total)
