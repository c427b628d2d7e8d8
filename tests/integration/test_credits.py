"""Store credit through the real door: asked for, approved, given once, also when the worker dies around the entry."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from sqlalchemy import select, text

from adapters.postgres.tables import verdicts
from tests.support.ledger import LedgerAdmin
from tests.support.onceward import ENDS, Onceward
from tests.support.parked import Parked
from tests.support.proposals import fresh
from tests.support.responses import SURFACES, Call, call
from tests.support.waiting import until

Json = dict[str, Any]

APPROVER = "approver-3"


@dataclass(frozen=True)
class Proposed(Parked):
    """A credit that waits for a person."""

    books: LedgerAdmin
    account_id: str

    async def approve(self) -> None:
        decided = await self.onceward.approve(self.operation_id, APPROVER)
        assert decided.status_code == 200

    async def require_once(self) -> None:
        """One entry, one answer with its receipt, the same however often it is asked for."""
        assert await self.onceward.until(self.operation_id, *ENDS) == "succeeded"
        (entry,) = await self.books.entries(self.account_id)
        first, second = await self.hand_in_again(), await self.hand_in_again()
        assert first.only["data"]["entry_id"] == entry.entry_id
        assert first.only == second.only
        assert await self.books.balance(self.account_id) == entry.minor_units


@pytest.fixture
def books(onceward: Onceward) -> LedgerAdmin:
    return LedgerAdmin(onceward.owner)


def credit(account_id: str, value: str = "12000", currency: str = "KRW", **changes: Any) -> Call:
    amount = {"value": value, "currency": currency}
    return call("credit_account", {"account_id": account_id, "amount": amount, "reason": "late_delivery"} | changes)


async def proposed(onceward: Onceward, books: LedgerAdmin, account_id: str = "") -> Proposed:
    account_id, request_id = account_id or await books.open(), fresh("response")
    asked = credit(account_id)
    reply = await onceward.turn(asked, request_id=request_id)
    assert reply.code == "approval_required"
    return Proposed(onceward, request_id, asked, reply.operation_id, books, account_id)


# -- the way through


@pytest.mark.parametrize("surface", SURFACES)
async def test_a_credit_that_a_person_approved_is_given_once(
    onceward: Onceward, books: LedgerAdmin, surface: str
) -> None:
    account, request_id = await books.open(balance=500), fresh("response")
    parked = await onceward.turn(credit(account), surface=surface, request_id=request_id)
    assert (parked.code, await books.entries(account)) == ("approval_required", [])
    assert (await onceward.approve(parked.operation_id, APPROVER)).status_code == 200
    done = await onceward.turn(credit(account), surface=surface, request_id=request_id, wait_for="end", wait_seconds=30)
    (entry,) = await books.entries(account)
    assert done.told["call-1"]["data"] == {
        "entry_id": entry.entry_id,
        "account_id": account,
        "amount": 12_000,
        "currency": "KRW",
        "reason": "late_delivery",
        "balance_after": 12_500,
    }
    assert (entry.operation_id, entry.generation) == (parked.operation_id, 1)


async def test_the_balance_is_told_with_its_currency_and_its_moment(onceward: Onceward, books: LedgerAdmin) -> None:
    account = await books.open(balance=500, currency="USD", credit_limit=900)
    told = (await onceward.turn(call("get_credit_balance", {"account_id": account}))).only["data"]
    assert told.pop("observed_at").endswith("+00:00")
    assert told == {"account_id": account, "currency": "USD", "balance": 500, "credit_limit": 900, "closed": False}


async def test_the_sample_accounts_are_there(onceward: Onceward) -> None:
    reply = await onceward.turn(
        *(call("get_credit_balance", {"account_id": name}, name) for name in ("CA-17", "CA-18", "CA-19", "CA-21"))
    )
    told = {name: result.get("data") or result["error"]["code"] for name, result in reply.results.items()}
    assert (told["CA-17"]["currency"], told["CA-18"]["currency"]) == ("KRW", "USD")
    assert (told["CA-19"]["closed"], told["CA-21"]) == (True, "not_found")


async def test_the_approver_reads_the_ledgers_own_figures(onceward: Onceward, books: LedgerAdmin) -> None:
    parked = await proposed(onceward, books, await books.open(balance=500))
    (question,) = await onceward.approvals(parked.operation_id)
    async with onceward.visitor(APPROVER) as visitor:
        page = (await visitor.page(f"/approvals/{question.approval_id}")).text
    for shown in ("Add store credit", "₩12,000", "user-17", "Balance now", "₩500", "Balance afterwards", "₩12,500"):
        assert shown in page


async def test_who_approves_refunds_does_not_approve_credits(onceward: Onceward, books: LedgerAdmin) -> None:
    parked = await proposed(onceward, books)
    (question,) = await onceward.approvals(parked.operation_id)
    assert question.approver_role == "approver:credits"
    async with onceward.visitor("approver-1") as visitor:
        shown = await visitor.page(f"/approvals/{question.approval_id}")
    assert "/decision" not in shown.text


# -- the same again, and another one


async def test_the_same_response_again_is_the_same_credit(onceward: Onceward, books: LedgerAdmin) -> None:
    parked = await proposed(onceward, books)
    await parked.approve()
    await parked.require_once()
    again = await parked.hand_in_again()
    assert (again.operation_id, again.only["replayed"]) == (parked.operation_id, True)


async def test_a_second_credit_with_equal_arguments_is_another_one(onceward: Onceward, books: LedgerAdmin) -> None:
    first = await proposed(onceward, books)
    await first.approve()
    await first.require_once()
    second = await proposed(onceward, books, first.account_id)
    assert second.operation_id != first.operation_id
    await second.approve()
    assert await onceward.until(second.operation_id, *ENDS) == "succeeded"
    assert [entry.operation_id for entry in await books.entries(first.account_id)] == [
        first.operation_id,
        second.operation_id,
    ]
    assert await books.balance(first.account_id) == 24_000


# -- what the business refuses


@pytest.mark.parametrize(
    ("columns", "value", "currency", "code"),
    [
        ({"closed": True}, "12000", "KRW", "account_closed"),
        ({}, "1000001", "KRW", "credit_limit_exceeded"),
        ({"currency": "USD"}, "12000", "KRW", "account_currency_differs"),
        ({}, "0", "KRW", "credit_of_nothing"),
        ({}, "12000.5", "KRW", "amount_scale"),
        ({"currency": "USD"}, "0.005", "USD", "amount_scale"),
        ({}, "12000", "ZZZ", "unknown_currency"),
        ({"tenant": "tenant-b"}, "12000", "KRW", "not_found"),
        ({"tenant": "tenant-b", "closed": True}, "12000.5", "KRW", "not_found"),
    ],
)
async def test_what_the_business_refuses_asks_nobody_and_changes_nothing(
    onceward: Onceward, books: LedgerAdmin, columns: Json, value: str, currency: str, code: str
) -> None:
    account = await books.open(**columns)
    reply = await onceward.turn(credit(account, value, currency))
    assert (reply.only["status"], reply.code) == ("failed_terminal", code)
    assert await onceward.approvals(reply.operation_id) == []
    assert await onceward.handler_calls(reply.operation_id) == 0
    assert await books.entries(account) == []


async def test_a_scale_is_refused_as_a_rule_of_the_business(onceward: Onceward, books: LedgerAdmin) -> None:
    reply = await onceward.turn(credit(await books.open(), "12000.5"))
    judged = select(verdicts).where(verdicts.c.operation_id == reply.operation_id, verdicts.c.code == "amount_scale")
    assert [row.layer for row in await onceward.rows(judged)] == ["business"]


async def test_a_balance_that_moved_after_the_approval_makes_it_stale(onceward: Onceward, books: LedgerAdmin) -> None:
    parked = await proposed(onceward, books)
    await books.change(parked.account_id, balance=1, version=2)
    await parked.approve()
    await onceward.until(parked.operation_id, *ENDS)
    assert (await parked.hand_in_again()).code == "approval_stale"
    assert await books.entries(parked.account_id) == []


# -- the worker dies


@asynccontextmanager
async def in_the_middle_of_the_entry(onceward: Onceward, credit: Proposed) -> AsyncIterator[None]:
    """The ledger's transaction has begun and waits for its account; its commit will never come."""
    async with held(onceward, "ledger_accounts", "account_id", credit.account_id):
        await credit.approve()
        await until(lambda: waiting_on(onceward, "onceward-ledger"), lambda number: number > 0)
        yield


@asynccontextmanager
async def given_and_not_recorded(onceward: Onceward, credit: Proposed) -> AsyncIterator[None]:
    """The ledger has committed; our own record of it cannot be written."""
    async with held(onceward, "ledger_accounts", "account_id", credit.account_id) as let_go:
        await credit.approve()
        await until(lambda: waiting_on(onceward, "onceward-ledger"), lambda number: number > 0)
        async with held(onceward, "operations", "operation_id", credit.operation_id):
            await let_go()
            await until(lambda: credit.books.entries(credit.account_id), lambda made: len(made) == 1)
            await until(lambda: waiting_on(onceward, "onceward-worker"), lambda number: number > 0)
            yield


Moment = Callable[[Onceward, Proposed], AbstractAsyncContextManager[None]]


@pytest.mark.parametrize("moment", [in_the_middle_of_the_entry, given_and_not_recorded])
async def test_the_credit_is_given_once_when_the_worker_dies(
    onceward: Onceward, books: LedgerAdmin, moment: Moment
) -> None:
    parked = await proposed(onceward, books)
    async with moment(onceward, parked):
        await onceward.stack.kill("worker")
    await onceward.stack.start("worker")
    await parked.require_once()


@asynccontextmanager
async def held(onceward: Onceward, table: str, column: str, value: str) -> AsyncIterator[Any]:
    """A row that nobody else can change until the block ends, or until what it gives is awaited."""
    async with onceward.owner.engine.connect() as connection:
        await connection.execute(text(f"SELECT 1 FROM {table} WHERE {column} = :value FOR UPDATE"), {"value": value})
        yield connection.rollback


async def waiting_on(onceward: Onceward, application: str) -> int:
    """Sessions of that name that wait for a lock."""
    waiting = text(
        "SELECT count(*) AS number FROM pg_locks JOIN pg_stat_activity USING (pid) "
        f"WHERE application_name = '{application}' AND NOT granted"
    )
    return int((await onceward.rows(waiting))[0].number)
