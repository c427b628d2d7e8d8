"""A store-credit ledger in PostgreSQL that compares generations.

One transaction for a send: pass the fence, find the entry or make it, move the balance. The fence's row is locked
first and the account's after it, so sends of one operation queue behind each other and sends to one account do too.

A look-up raises the fence above the generation that it asks about. A send of that generation that is still on its way
is refused when it arrives, so "not found" is proven by the look itself and not by waiting long enough.
"""

import secrets
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import structlog
from sqlalchemy import ColumnElement, DateTime, Table, and_, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from adapters.downstream.ledger_tables import accounts, entries, fences
from workflows.domain.effect import MISMATCH, Dispatch, Effect
from workflows.domain.errors import CallRefused
from workflows.domain.impact import Money

log = structlog.get_logger(__name__)

NOW = func.clock_timestamp(type_=DateTime(timezone=True))

# The server's own limits on what a forgotten session holds: a send that is cut off is over soon after.
SESSION = "-c lock_timeout=4s -c statement_timeout=6s -c idle_in_transaction_session_timeout=6s -c timezone=UTC"


@dataclass(frozen=True)
class Account:
    """One account as it stood at `observed_at`; `balance` and `credit_limit` in the currency's minor unit."""

    account_id: str
    tenant: str
    customer: str
    currency: str
    balance: int
    credit_limit: int
    closed: bool
    version: int
    observed_at: datetime


@dataclass(frozen=True)
class Credit:
    """What is to be added to an account, and why."""

    account_id: str
    money: Money
    reason: str


def refusal(account: Account, money: Money) -> str | None:
    """The first rule that forbids to add this amount, in our words; None when all are content."""
    rules = (
        (account.closed, "account_closed"),
        (money.currency != account.currency, "account_currency_differs"),
        (money.minor_units <= 0, "credit_of_nothing"),
        (account.balance + money.minor_units > account.credit_limit, "credit_limit_exceeded"),
    )
    return next((code for broken, code in rules if broken), None)


def engine_for(dsn: str, pool_size: int = 10) -> AsyncEngine:
    """Connections to the ledger: none is waited for long, and no failed statement shows its values."""
    return create_async_engine(
        make_url(dsn).set(drivername="postgresql+psycopg"),
        pool_size=pool_size,
        max_overflow=0,
        pool_timeout=5,
        pool_pre_ping=True,
        hide_parameters=True,
        connect_args={"application_name": "onceward-ledger", "options": SESSION, "connect_timeout": 5},
    )


class Ledger:
    """Accounts and the credits given to them.

    Reads raise `CallRefused` with `not_found` or `upstream_unavailable`; `add` gives an `Effect` and never raises for
    what the database or the network did.
    """

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    async def account(self, account_id: str) -> Account:
        """One account with the database's own time."""
        async with self._transaction() as connection:
            found = await _account(connection, accounts.c.account_id == account_id)
        if found is None:
            raise CallRefused("not_found")
        return found

    async def accounts(self, account_ids: Collection[str]) -> Mapping[str, Account]:
        """Those of the accounts that there are, by their ids."""
        wanted = accounts.c.account_id == func.any(list(account_ids))
        async with self._transaction() as connection:
            found = await connection.execute(select(accounts, NOW.label("observed_at")).where(wanted))
            return {row["account_id"]: Account(**row) for row in found.mappings()}

    async def add(self, credit: Credit, dispatch: Dispatch) -> Effect:
        """Give one credit, unless this operation has given it or a higher generation has been here."""
        try:
            connection = await self._engine.connect()
        except SQLAlchemyError as error:
            return _nothing_done(error)
        async with aclosing(connection):
            try:
                effect = await _booked(connection, credit, dispatch)
            except SQLAlchemyError as error:
                # COMMIT was never sent, so whatever the server had done is undone.
                return _nothing_done(error)
            return await _committed(connection, effect)

    async def find(self, credit: Credit, dispatch: Dispatch) -> Effect | None:
        """The credit given for our operation, None when there is none and no send up to now can still give it."""
        async with self._transaction() as connection:
            await _raise_fence(connection, dispatch, dispatch.generation + 1)
            entry = await _entry(connection, dispatch)
        return None if entry is None else _effect_of(entry, credit)

    @asynccontextmanager
    async def _transaction(self) -> AsyncIterator[AsyncConnection]:
        try:
            async with self._engine.begin() as connection:
                yield connection
        except SQLAlchemyError as error:
            _note(error)
            raise CallRefused("upstream_unavailable") from None


async def _booked(connection: AsyncConnection, credit: Credit, dispatch: Dispatch) -> Effect:
    if not await _raise_fence(connection, dispatch, dispatch.generation):
        # A newer sender or a look has been here. What became of the operation is theirs to say, not the latecomer's.
        return Effect.unknown()
    entry = await _entry(connection, dispatch)
    return await _new_entry(connection, credit, dispatch) if entry is None else _effect_of(entry, credit)


async def _new_entry(connection: AsyncConnection, credit: Credit, dispatch: Dispatch) -> Effect:
    mine = and_(accounts.c.account_id == credit.account_id, accounts.c.tenant == dispatch.tenant)
    account = await _account(connection, mine, locked=True)
    code = "not_found" if account is None else refusal(account, credit.money)
    if account is None or code is not None:
        return Effect.rejected(code or "not_found")
    balance = account.balance + credit.money.minor_units
    moved = update(accounts).where(mine).values(balance=balance, version=account.version + 1)
    await connection.execute(moved)
    statement = entries.insert().values(**_written(credit, dispatch, balance)).returning(entries)
    return _effect_of((await connection.execute(statement)).one(), credit)


def _written(credit: Credit, dispatch: Dispatch, balance: int) -> dict[str, Any]:
    return {
        "operation_id": dispatch.operation_id,
        "item": dispatch.item,
        "entry_id": f"cr-{secrets.token_hex(8)}",
        "account_id": credit.account_id,
        "minor_units": credit.money.minor_units,
        "currency": credit.money.currency,
        "reason": credit.reason,
        "balance_after": balance,
        "generation": dispatch.generation,
    }


async def _raise_fence(connection: AsyncConnection, dispatch: Dispatch, generation: int) -> bool:
    """Let this generation in and shut out the smaller ones; False when it is shut out itself.

    Either way the operation's fence is locked until the transaction ends.
    """
    given = insert(fences).values(operation_id=dispatch.operation_id, item=dispatch.item, generation=generation)
    raised = given.on_conflict_do_update(
        index_elements=[fences.c.operation_id, fences.c.item],
        set_={"generation": given.excluded.generation},
        where=fences.c.generation <= given.excluded.generation,
    )
    return (await connection.execute(raised.returning(fences.c.generation))).one_or_none() is not None


async def _account(connection: AsyncConnection, wanted: ColumnElement[bool], *, locked: bool = False) -> Account | None:
    statement = select(accounts, NOW.label("observed_at")).where(wanted)
    found = (await connection.execute(statement.with_for_update() if locked else statement)).mappings().one_or_none()
    return None if found is None else Account(**found)


async def _entry(connection: AsyncConnection, dispatch: Dispatch) -> Any:
    return (await connection.execute(select(entries).where(_of(entries, dispatch)))).one_or_none()


async def _committed(connection: AsyncConnection, effect: Effect) -> Effect:
    try:
        await connection.commit()
    except SQLAlchemyError as error:
        # The server may have committed and not been heard.
        _note(error)
        return Effect.unknown()
    return effect


def _effect_of(entry: Any, credit: Credit) -> Effect:
    """Only an entry of what was asked is success."""
    asked = (credit.account_id, credit.money.minor_units, credit.money.currency)
    if (entry.account_id, entry.minor_units, entry.currency) != asked:
        return Effect.unknown(entry.entry_id, MISMATCH)
    told = ("entry_id", "account_id", "currency", "reason", "balance_after")
    return Effect.applied(entry.entry_id, {"amount": entry.minor_units} | {name: getattr(entry, name) for name in told})


def _nothing_done(error: SQLAlchemyError) -> Effect:
    _note(error)
    return Effect.rejected("upstream_unavailable", retryable=True)


def _note(error: SQLAlchemyError) -> None:
    """The kind of failure and its SQLSTATE; the message may hold values."""
    log.warning(
        "ledger_failed", kind=type(error).__name__, sqlstate=getattr(getattr(error, "orig", None), "sqlstate", None)
    )


def _of(table: Table, dispatch: Dispatch) -> ColumnElement[bool]:
    return and_(table.c.operation_id == dispatch.operation_id, table.c.item == dispatch.item)
