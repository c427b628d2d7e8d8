"""What leaves within a day, counted before it leaves."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Interval,
    ScalarSelect,
    Text,
    bindparam,
    func,
    literal,
    literal_column,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from adapters.postgres import rows
from adapters.postgres.engine import Database
from adapters.postgres.rows import NOW, STATEMENT_TIME
from adapters.postgres.tables import OPEN_OR_LEFT_AT, calls, claims, operations, spendings
from workflows.domain.effect import ABANDONED
from workflows.domain.impact import Money
from workflows.domain.lifecycle import State
from workflows.domain.operation import Operation
from workflows.domain.policy import Circumstances, Totals

A_DAY = timedelta(hours=24)
"""The window of the daily totals: the last 24 hours, so that no time zone decides when a day begins."""

THIS_ONE: BindParameter[str] = bindparam("this_one", type_=Text)

CONVERSATION = timedelta(hours=1)
"""What was read longer before a call is taken to be of no influence on it."""


class PostgresSpendings:
    """Fits `activities.ports.Spendings`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def reserve(self, operation: Operation, money: Money | None, repeat_seconds: float) -> Circumstances:
        """Reserve once and tell what else counts; see the port."""
        this = {"this_one": operation.operation_id, "within": timedelta(seconds=repeat_seconds)}
        if money is None:
            return _circumstances((await self._database.rows(_BEFORE, this))[0])
        async with self._database.transaction() as connection:
            beside = _circumstances((await connection.execute(_BEFORE, this)).one())
            await _alone(connection, operation.principal.tenant, money.currency)
            await _reserve(connection, operation, money)
            return replace(beside, totals=await _totals(connection, operation, money.currency))


async def release(connection: AsyncConnection, operation_id: str) -> None:
    """Give a reservation back, in the caller's transaction, if it is proven that nothing happened."""
    in_doubt = select(claims).where(claims.c.operation_id == operation_id, claims.c.uncertain).exists()
    mine = (spendings.c.operation_id == operation_id) & spendings.c.released_at.is_(None) & ~in_doubt
    await rows.later(connection, update(spendings).where(mine).values(released_at=NOW))


async def _alone(connection: AsyncConnection, tenant: str, currency: str) -> None:
    """Let nobody else of this tenant and currency count until this transaction has ended."""
    await rows.hold(connection, f"{tenant}/{currency}")


async def _reserve(connection: AsyncConnection, operation: Operation, money: Money) -> None:
    await rows.later(
        connection,
        insert(spendings)
        .values(
            operation_id=operation.operation_id,
            tenant=operation.principal.tenant,
            subject=operation.principal.subject,
            currency=money.currency,
            minor_units=money.minor_units,
        )
        .on_conflict_do_nothing(),
    )


async def _totals(connection: AsyncConnection, operation: Operation, currency: str) -> Totals:
    """Of what is open or has left within the day: what waited for people for longer leaves now, not when it was asked.

    One walk along the index, which holds all that is counted: others wait for it.
    """
    principal = operation.principal
    counted = (
        (spendings.c.tenant == principal.tenant)
        & (spendings.c.currency == currency)
        & (spendings.c.operation_id != operation.operation_id)
        & spendings.c.released_at.is_(None)
        & (literal_column(OPEN_OR_LEFT_AT) > STATEMENT_TIME - A_DAY)
    )
    total, mine = func.sum(spendings.c.minor_units), spendings.c.subject == principal.subject
    counting = select(total.filter(mine).label("mine"), total.label("all")).where(counted)
    row: Any = (await rows.last(connection, counting)).one()
    return Totals(by_subject=int(row.mine or 0), by_tenant=int(row.all or 0))


def _circumstances(row: Any) -> Circumstances:
    return Circumstances(repeated=row.repeated, given_up=row.given_up, reads=tuple(row.reads))


def _has_ended(so: ColumnElement[bool], within: Any) -> ColumnElement[bool]:
    """Whether the same act, by another operation, has lately ended so."""
    this = operations.alias("this")
    same = (
        (operations.c.act_hash == this.c.act_hash)
        # An act is a write; the index on acts knows no others.
        & operations.c.writes
        & (operations.c.operation_id != THIS_ONE)
        & so
        & (operations.c.ended_at > STATEMENT_TIME - within)
    )
    return select(this.c.operation_id).join(operations, same).where(this.c.operation_id == THIS_ONE).exists()


def _reads_before() -> ScalarSelect[Any]:
    """Tools that were read in the same conversation, in responses before the one that proposed this."""
    this = calls.alias("this")
    earlier = (
        (calls.c.lineage == this.c.lineage)
        & (calls.c.created_at < this.c.created_at)
        & (calls.c.created_at > this.c.created_at - CONVERSATION)
    )
    told = operations.c.writes.is_(False) & (operations.c.state == State.SUCCEEDED.value)
    return (
        select(operations.c.tool)
        .distinct()
        .select_from(this)
        .join(calls, earlier)
        .join(operations, (operations.c.operation_id == calls.c.operation_id) & told)
        .where(this.c.operation_id == THIS_ONE)
        .order_by(operations.c.tool)
        .scalar_subquery()
    )


_BEFORE = select(
    _has_ended(operations.c.state == State.SUCCEEDED.value, bindparam("within", type_=Interval)).label("repeated"),
    # It may have happened and nobody could find out; that stays so for longer than a repetition is likely.
    _has_ended(operations.c.code == ABANDONED, literal(A_DAY, Interval)).label("given_up"),
    func.array(_reads_before()).label("reads"),
)
"""What has happened before, in one row: whether this was done, or given up, and what was read."""
