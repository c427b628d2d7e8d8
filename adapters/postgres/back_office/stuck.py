"""Work that does not go on: operations by the reason why, and beside them what was set aside undelivered."""

from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import ColumnElement, Numeric, Select, func, literal_column, null, select
from sqlalchemy.ext.asyncio import AsyncConnection

from adapters.http.back_office.lists import (
    NEAR,
    PAGE,
    STILL,
    Stuck,
    StuckGroup,
    StuckLine,
    StuckWork,
)
from adapters.postgres.back_office import held
from adapters.postgres.back_office.operation_lists import line_from, lines_of
from adapters.postgres.rows import NOW
from adapters.postgres.standing import OPEN_BEFORE
from adapters.postgres.tables import approvals, claims, operations
from workflows.domain.impact import Money
from workflows.domain.lifecycle import State
from workflows.domain.principal import Principal
from workflows.domain.resolution import OPERATOR_ROLE

OPEN = approvals.c.state.in_([literal_column("'pending'"), literal_column("'granted'")])
"""Written out, since a partial index is not found by values that come later."""

OPEN_OPERATION = operations.c.ended_at.is_(None)


async def work(connection: AsyncConnection, viewer: Principal, titles: Mapping[str, str]) -> StuckWork:
    """One group for each reason, and for an operator the messages and the notices."""
    groups = tuple([await _group(connection, viewer, why, titles) for why in Stuck])
    if not _is_operator(viewer):
        return StuckWork(groups)
    return StuckWork(groups, await held.messages(connection, viewer), await held.notices_of(connection, viewer))


async def number(connection: AsyncConnection, viewer: Principal) -> int:
    """How many lines there are in all, in one statement."""
    counted = [select(func.count()).select_from(_lines(viewer, why).subquery()).scalar_subquery() for why in Stuck]
    if _is_operator(viewer):
        counted += [number.scalar_subquery() for number in held.numbers(viewer)]
    return sum((await connection.execute(select(*counted))).one())


async def _group(connection: AsyncConnection, viewer: Principal, why: Stuck, titles: Mapping[str, str]) -> StuckGroup:
    which = _lines(viewer, why)
    number, sums = await _totals(connection, which)
    oldest = which.order_by("since", operations.c.operation_id).limit(PAGE)
    lines = [_line(row, titles) for row in await connection.execute(oldest)]
    return StuckGroup(why, number, sums, tuple(lines))


def _lines(viewer: Principal, why: Stuck) -> Select[Any]:
    if why is Stuck.OVERDUE:
        return (
            lines_of(viewer)
            .join(approvals, approvals.c.operation_id == operations.c.operation_id)
            .add_columns(approvals.c.asked_at.label("since"), approvals.c.approval_id, approvals.c.expires_at)
            .where(approvals.c.tenant == viewer.tenant, OPEN, *_overdue())
        )
    open_question = OPEN & (approvals.c.operation_id == operations.c.operation_id)
    asked = select(approvals.c.approval_id).where(open_question).correlate(operations).scalar_subquery()
    return (
        lines_of(viewer)
        .add_columns(operations.c.updated_at.label("since"), asked.label("approval_id"), null().label("expires_at"))
        .where(OPEN_OPERATION, *_of_state(why))
    )


def _overdue() -> Iterator[ColumnElement[bool]]:
    passed, pending = approvals.c.expires_at <= NOW, approvals.c.state == "pending"
    yield approvals.c.expires_at <= NOW + NEAR
    yield passed | pending


def _of_state(why: Stuck) -> Iterator[ColumnElement[bool]]:
    if why is not Stuck.STILL:
        yield operations.c.state == why.value
        return
    of_it = approvals.c.operation_id == operations.c.operation_id
    asked = select(approvals.c.approval_id).where(of_it, OPEN).correlate(operations).exists()
    held = (claims.c.operation_id == operations.c.operation_id) & (claims.c.lease_until > NOW - STILL)
    moving = (State.PROPOSED.value, State.STARTED.value, State.AWAITING_APPROVAL.value)
    yield operations.c.state.in_(moving)
    yield operations.c.updated_at <= NOW - STILL
    # A read is begun anew by whoever asks for it, and a write behind another has time.
    yield operations.c.writes
    yield ~OPEN_BEFORE.exists()
    yield ~asked
    yield ~select(claims.c.item).where(held).exists()


async def _totals(connection: AsyncConnection, which: Select[Any]) -> tuple[int, tuple[Money, ...]]:
    """How many there are, and what they are about in each currency."""
    of_all = which.subquery()
    money = of_all.c.impact["money"]
    currency = func.coalesce(money["currency"].astext, of_all.c.currency).label("of_currency")
    amount = func.coalesce(money["minor_units"].astext.cast(Numeric), of_all.c.minor_units)
    statement = select(currency, func.count(), func.sum(amount)).group_by(currency).order_by(currency)
    found = list(await connection.execute(statement))
    sums = tuple(Money(int(total), code) for code, _, total in found if code is not None)
    return sum(number for _, number, _ in found), sums


def _line(row: Any, titles: Mapping[str, str]) -> StuckLine:
    return StuckLine(line_from(row, titles), row.since, row.approval_id or "", row.expires_at)


def _is_operator(viewer: Principal) -> bool:
    return OPERATOR_ROLE in viewer.roles and not viewer.agent
