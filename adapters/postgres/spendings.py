"""What leaves within a day, counted before it leaves."""

from dataclasses import replace
from datetime import timedelta

from sqlalchemy import ColumnElement, func, literal_column, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from adapters.postgres import rows
from adapters.postgres.engine import Database
from adapters.postgres.rows import NOW
from adapters.postgres.tables import OPEN_OR_LEFT_AT, calls, claims, operations, spendings
from workflows.domain.effect import ABANDONED
from workflows.domain.impact import Money
from workflows.domain.lifecycle import State
from workflows.domain.operation import Operation
from workflows.domain.policy import Circumstances, Totals

A_DAY = timedelta(hours=24)
"""The window of the daily totals: the last 24 hours, so that no time zone decides when a day begins."""

CONVERSATION = timedelta(hours=1)
"""What was read longer before a call is taken to be of no influence on it."""


class PostgresSpendings:
    """Fits `activities.ports.Spendings`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def reserve(self, operation: Operation, money: Money | None, repeat_seconds: float) -> Circumstances:
        """Reserve once and tell what else counts; see the port."""
        async with self._database.transaction() as connection:
            beside = Circumstances(
                repeated=await _repeated(connection, operation, repeat_seconds),
                given_up=await _given_up(connection, operation),
                reads=await _reads_before(connection, operation),
            )
            if money is None:
                return beside
            await _alone(connection, operation.principal.tenant, money.currency)
            await _reserve(connection, operation, money)
            return replace(beside, totals=await _totals(connection, operation, money.currency))


async def release(connection: AsyncConnection, operation_id: str) -> None:
    """Give a reservation back, in the caller's transaction, if it is proven that nothing happened."""
    in_doubt = select(claims).where(claims.c.operation_id == operation_id, claims.c.uncertain).exists()
    mine = (spendings.c.operation_id == operation_id) & spendings.c.released_at.is_(None) & ~in_doubt
    await connection.execute(update(spendings).where(mine).values(released_at=NOW))


async def _alone(connection: AsyncConnection, tenant: str, currency: str) -> None:
    """Let nobody else of this tenant and currency count until this transaction has ended."""
    await rows.hold(connection, f"{tenant}/{currency}")


async def _reserve(connection: AsyncConnection, operation: Operation, money: Money) -> None:
    await connection.execute(
        insert(spendings)
        .values(
            operation_id=operation.operation_id,
            tenant=operation.principal.tenant,
            subject=operation.principal.subject,
            currency=money.currency,
            minor_units=money.minor_units,
        )
        .on_conflict_do_nothing()
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
        & (literal_column(OPEN_OR_LEFT_AT) > NOW - A_DAY)
    )
    total, mine = func.sum(spendings.c.minor_units), spendings.c.subject == principal.subject
    row = (await connection.execute(select(total.filter(mine), total).where(counted))).one()
    return Totals(by_subject=int(row[0] or 0), by_tenant=int(row[1] or 0))


async def _repeated(connection: AsyncConnection, operation: Operation, seconds: float) -> bool:
    succeeded = operations.c.state == State.SUCCEEDED.value
    return await _has_ended(connection, operation, succeeded, timedelta(seconds=seconds))


async def _given_up(connection: AsyncConnection, operation: Operation) -> bool:
    """Whether it may have happened and nobody could find out; that stays so for longer than a repetition is likely."""
    return await _has_ended(connection, operation, operations.c.code == ABANDONED, A_DAY)


async def _has_ended(
    connection: AsyncConnection, operation: Operation, so: ColumnElement[bool], within: timedelta
) -> bool:
    """Whether the same act, by another operation, has lately ended so."""
    this = operations.alias("this")
    same = (
        (operations.c.act_hash == this.c.act_hash)
        & (operations.c.operation_id != operation.operation_id)
        & so
        & (operations.c.ended_at > NOW - within)
    )
    statement = select(this.c.operation_id).join(operations, same).where(this.c.operation_id == operation.operation_id)
    return (await connection.execute(statement.limit(1))).one_or_none() is not None


async def _reads_before(connection: AsyncConnection, operation: Operation) -> tuple[str, ...]:
    """Tools that were read in the same conversation, in responses before the one that proposed this."""
    this = calls.alias("this")
    earlier = (
        (calls.c.lineage == this.c.lineage)
        & (calls.c.created_at < this.c.created_at)
        & (calls.c.created_at > this.c.created_at - CONVERSATION)
    )
    told = operations.c.writes.is_(False) & (operations.c.state == State.SUCCEEDED.value)
    statement = (
        select(operations.c.tool)
        .distinct()
        .select_from(this)
        .join(calls, earlier)
        .join(operations, (operations.c.operation_id == calls.c.operation_id) & told)
        .where(this.c.operation_id == operation.operation_id)
        .order_by(operations.c.tool)
    )
    return tuple((await connection.execute(statement)).scalars())
