"""The ledger: one entry for each operation whoever sends it and how often, and no say for who was given up."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from adapters.downstream.ledger import Ledger, engine_for
from adapters.postgres.engine import Database
from tests.support.ledger import WON, LedgerAdmin, credit_to, dispatch_of
from tests.support.proposals import fresh
from tests.support.waiting import until
from worker.dev.stack import Stack
from workflows.domain.effect import Effect, Outcome
from workflows.domain.errors import CallRefused
from workflows.domain.impact import Money

NOT_NOW = Effect.rejected("upstream_unavailable", retryable=True)


@pytest.fixture(scope="module")
async def engine(postgres: Stack) -> AsyncIterator[AsyncEngine]:
    """With the worker's rights; as many connections as there are senders at once."""
    engine = engine_for(postgres.dsn("onceward_worker"), pool_size=20)
    yield engine
    await engine.dispose()


@pytest.fixture(scope="module")
async def superuser(postgres: Stack) -> AsyncIterator[Database]:
    """Sees what all sessions wait for, and may end them."""
    database = Database(postgres.dsn("postgres", "onceward"), application_name="tests", pool_size=2)
    yield database
    await database.close()


@pytest.fixture
def ledger(engine: AsyncEngine) -> Ledger:
    return Ledger(engine)


@pytest.fixture
def books(owner_database: Database) -> LedgerAdmin:
    return LedgerAdmin(owner_database)


# -- one operation, one entry


async def test_a_credit_is_applied_with_its_entry_as_receipt(ledger: Ledger, books: LedgerAdmin) -> None:
    account = await books.open(balance=500)
    effect = await ledger.add(credit_to(account), dispatch_of(fresh("op")))
    (entry,) = await books.entries(account)
    assert (effect.outcome, effect.reference) == (Outcome.APPLIED, entry.entry_id)
    assert entry.entry_id.startswith("cr-")
    assert effect.data == {
        "entry_id": entry.entry_id,
        "account_id": account,
        "amount": 12_000,
        "currency": "KRW",
        "reason": "late_delivery",
        "balance_after": 12_500,
    }
    assert (await books.balance(account), await books.version(account)) == (12_500, 2)


async def test_twenty_sends_of_one_operation_at_once_make_one_entry(ledger: Ledger, books: LedgerAdmin) -> None:
    account, operation = await books.open(), fresh("op")
    sends = [ledger.add(credit_to(account), dispatch_of(operation)) for _ in range(20)]
    effects = await asyncio.gather(*sends)
    assert len(await books.entries(account)) == 1
    assert {effect.reference for effect in effects} == {effects[0].reference}
    assert await books.balance(account) == WON.minor_units


async def test_twenty_operations_on_one_account_at_once_all_count(ledger: Ledger, books: LedgerAdmin) -> None:
    account = await books.open()
    await asyncio.gather(*(ledger.add(credit_to(account), dispatch_of(fresh("op"))) for _ in range(20)))
    made = await books.entries(account)
    assert sorted(entry.balance_after for entry in made) == [WON.minor_units * n for n in range(1, 21)]
    assert (await books.balance(account), await books.version(account)) == (20 * WON.minor_units, 21)


async def test_another_operation_with_equal_arguments_adds_again(ledger: Ledger, books: LedgerAdmin) -> None:
    account = await books.open()
    effects = [await ledger.add(credit_to(account), dispatch_of(fresh("op"))) for _ in range(2)]
    assert len({effect.reference for effect in effects}) == 2
    assert await books.balance(account) == 2 * WON.minor_units


async def test_of_operations_that_fit_alone_and_not_together_the_limit_lets_one(
    ledger: Ledger, books: LedgerAdmin
) -> None:
    account = await books.open(credit_limit=WON.minor_units + 1)
    effects = await asyncio.gather(*(ledger.add(credit_to(account), dispatch_of(fresh("op"))) for _ in range(8)))
    assert sorted(str(effect.code) for effect in effects) == ["None"] + 7 * ["credit_limit_exceeded"]
    assert await books.balance(account) == WON.minor_units


# -- the fence


async def test_a_smaller_generation_changes_nothing_and_concludes_nothing(ledger: Ledger, books: LedgerAdmin) -> None:
    account, operation = await books.open(), fresh("op")
    made = await ledger.add(credit_to(account), dispatch_of(operation, generation=2))
    assert await ledger.add(credit_to(account), dispatch_of(operation, generation=1)) == Effect.unknown()
    assert [entry.entry_id for entry in await books.entries(account)] == [made.reference]


async def test_a_later_generation_gets_the_receipt_and_shuts_out_the_one_that_made_it(
    ledger: Ledger, books: LedgerAdmin
) -> None:
    account, operation = await books.open(), fresh("op")
    made = await ledger.add(credit_to(account), dispatch_of(operation, generation=1))
    assert await ledger.add(credit_to(account), dispatch_of(operation, generation=3)) == made
    assert await books.fence(operation) == 3
    for late in (1, 2):
        assert await ledger.add(credit_to(account), dispatch_of(operation, generation=late)) == Effect.unknown()
    assert [entry.generation for entry in await books.entries(account)] == [1]


async def test_a_refusal_holds_against_an_earlier_generation_that_comes_late(
    ledger: Ledger, books: LedgerAdmin
) -> None:
    account, operation = await books.open(closed=True), fresh("op")
    refused = await ledger.add(credit_to(account), dispatch_of(operation, generation=2))
    assert refused == Effect.rejected("account_closed")
    await books.change(account, closed=False)
    assert await ledger.add(credit_to(account), dispatch_of(operation, generation=1)) == Effect.unknown()
    assert await books.entries(account) == []


async def test_a_look_that_finds_nothing_makes_it_so(ledger: Ledger, books: LedgerAdmin) -> None:
    account, operation = await books.open(), fresh("op")
    credit, sent = credit_to(account), dispatch_of(operation, generation=1)
    assert await ledger.find(credit, sent) is None
    assert await ledger.add(credit, sent) == Effect.unknown()
    assert await books.entries(account) == []
    assert (await ledger.add(credit, dispatch_of(operation, generation=2))).outcome is Outcome.APPLIED


async def test_a_look_waits_for_a_send_in_the_middle_and_finds_it(
    ledger: Ledger, books: LedgerAdmin, superuser: Database
) -> None:
    account, operation = await books.open(), fresh("op")
    credit, sent = credit_to(account), dispatch_of(operation)
    async with superuser.transaction() as connection:
        await held(connection, account)
        sending = asyncio.create_task(ledger.add(credit, sent))
        await until(lambda: waiting_for_a_lock(superuser), lambda number: number == 1)
        looking = asyncio.create_task(ledger.find(credit, sent))
        await until(lambda: waiting_for_a_lock(superuser), lambda number: number == 2)
    assert await looking == await sending
    assert len(await books.entries(account)) == 1


async def test_a_look_gives_the_receipt_of_its_own_operation(ledger: Ledger, books: LedgerAdmin) -> None:
    account, operation = await books.open(), fresh("op")
    made = await ledger.add(credit_to(account), dispatch_of(operation))
    assert await ledger.find(credit_to(account), dispatch_of(operation)) == made
    assert await ledger.find(credit_to(account), dispatch_of(fresh("op"))) is None


async def test_an_entry_of_something_else_under_the_same_operation_proves_nothing(
    ledger: Ledger, books: LedgerAdmin
) -> None:
    account, operation = await books.open(), fresh("op")
    made = await ledger.add(credit_to(account), dispatch_of(operation))
    other = credit_to(account, Money(1, "KRW"))
    assert await ledger.add(other, dispatch_of(operation)) == Effect.unknown(made.reference, "effect_mismatch")
    assert await ledger.find(other, dispatch_of(operation)) == Effect.unknown(made.reference, "effect_mismatch")


# -- the rules, on the state at the moment of the send


@pytest.mark.parametrize(
    ("columns", "money", "code"),
    [
        ({"closed": True}, WON, "account_closed"),
        ({"currency": "USD"}, WON, "account_currency_differs"),
        ({}, Money(0, "KRW"), "credit_of_nothing"),
        ({"balance": 988_001}, WON, "credit_limit_exceeded"),
        ({}, Money(10**19, "KRW"), "credit_limit_exceeded"),
        ({"tenant": "tenant-b"}, WON, "not_found"),
    ],
    ids=["closed", "currency", "nothing", "limit", "beyond-all-limits", "foreign"],
)
async def test_what_the_rules_forbid_is_proven_undone(
    ledger: Ledger, books: LedgerAdmin, columns: dict[str, Any], money: Money, code: str
) -> None:
    account = await books.open(**columns)
    assert await ledger.add(credit_to(account, money), dispatch_of(fresh("op"))) == Effect.rejected(code)
    assert await books.entries(account) == []
    assert await books.version(account) == 1


async def test_an_account_that_does_not_exist_is_not_found(ledger: Ledger) -> None:
    assert await ledger.add(credit_to(fresh("CA")), dispatch_of(fresh("op"))) == Effect.rejected("not_found")
    with pytest.raises(CallRefused) as refused:
        await ledger.account(fresh("CA"))
    assert refused.value.code == "not_found"


# -- what a failure of the database proves


async def test_a_database_that_cannot_be_reached_has_done_nothing(postgres: Stack) -> None:
    port = postgres.dsn("onceward_worker").rsplit(":", 1)[1].split("/")[0]
    engine = engine_for(postgres.dsn("onceward_worker").replace(f":{port}/", ":1/"))
    assert await Ledger(engine).add(credit_to("CA-17"), dispatch_of(fresh("op"))) == NOT_NOW
    for look in (Ledger(engine).account("CA-17"), Ledger(engine).find(credit_to("CA-17"), dispatch_of(fresh("op")))):
        with pytest.raises(CallRefused) as refused:
            await look
        assert refused.value.code == "upstream_unavailable"
    await engine.dispose()


async def test_a_session_that_is_cut_before_its_commit_has_done_nothing(
    ledger: Ledger, books: LedgerAdmin, superuser: Database
) -> None:
    account, operation = await books.open(), fresh("op")
    async with superuser.transaction() as connection:
        await held(connection, account)
        sending = asyncio.create_task(ledger.add(credit_to(account), dispatch_of(operation)))
        await until(lambda: waiting_for_a_lock(superuser), lambda number: number == 1)
        await cut_who_waits(superuser)
        assert await sending == NOT_NOW
    assert await books.entries(account) == []
    assert (await ledger.add(credit_to(account), dispatch_of(operation))).outcome is Outcome.APPLIED


@pytest.mark.parametrize("heard", [True, False], ids=["committed-and-not-heard", "never-committed"])
async def test_a_connection_that_is_lost_at_the_commit_leaves_the_outcome_open(
    ledger: Ledger, books: LedgerAdmin, monkeypatch: pytest.MonkeyPatch, heard: bool
) -> None:
    account, operation = await books.open(), fresh("op")
    commit = AsyncConnection.commit

    async def lost(self: AsyncConnection) -> None:
        if heard:
            await commit(self)
        raise OperationalError("COMMIT", None, ConnectionError("the server closed the connection"))

    monkeypatch.setattr(AsyncConnection, "commit", lost)
    assert await ledger.add(credit_to(account), dispatch_of(operation)) == Effect.unknown()
    monkeypatch.undo()
    found = await ledger.find(credit_to(account), dispatch_of(operation))
    assert [found is not None, len(await books.entries(account))] == [heard, int(heard)]


async def held(connection: AsyncConnection, account_id: str) -> None:
    """Nobody else moves this account until the transaction ends."""
    statement = text("SELECT 1 FROM ledger_accounts WHERE account_id = :account_id FOR UPDATE")
    await connection.execute(statement, {"account_id": account_id})


WAITING = "application_name = 'onceward-ledger' AND wait_event_type = 'Lock'"


async def waiting_for_a_lock(superuser: Database) -> int:
    """Sessions of the ledger that wait for somebody."""
    async with superuser.transaction() as connection:
        found = await connection.execute(text(f"SELECT count(*) FROM pg_stat_activity WHERE {WAITING}"))
        return int(found.scalar_one())


async def cut_who_waits(superuser: Database) -> None:
    """As an administrator would, or a restart."""
    async with superuser.transaction() as connection:
        await connection.execute(text(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {WAITING}"))
