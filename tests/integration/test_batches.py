"""Many credits as one operation: one question, one effect for each account, and an outcome for each by its id."""

import asyncio
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any

import pytest
from sqlalchemy import select, text

from adapters.downstream.ledger_tables import entries
from adapters.postgres.tables import claims
from tests.support.ledger import LedgerAdmin
from tests.support.locks import locked
from tests.support.onceward import ENDS, Onceward, Reply
from tests.support.parked import Parked
from tests.support.proposals import fresh
from tests.support.responses import Call, call
from tests.support.waiting import until
from workflows import contracts

Json = dict[str, Any]

APPROVER = "approver-3"
WON = "1200"


@dataclass(frozen=True)
class Run(Parked):
    """A proposed batch over accounts of its own."""

    books: LedgerAdmin
    accounts: tuple[str, ...]

    async def approve(self) -> None:
        assert (await self.onceward.approve(self.operation_id, APPROVER)).status_code == 200

    async def result(self, within: float = 60) -> Json:
        """The result once it has ended; whoever asks again reads the same."""
        await self.onceward.until(self.operation_id, *ENDS, within=within)
        first, second = await self.hand_in_again(), await self.hand_in_again()
        assert first.only == second.only
        return dict(first.only)

    async def credits(self) -> dict[str, int]:
        """How many entries each account has got from this operation."""
        mine = select(entries.c.item, entries.c.account_id).where(entries.c.operation_id == self.operation_id)
        given = [(row.item, row.account_id) for row in await self.onceward.rows(mine)]
        assert all(item == account for item, account in given)
        return {account: sum(account == item for item, _ in given) for account in self.accounts}


@pytest.fixture
def books(onceward: Onceward) -> LedgerAdmin:
    return LedgerAdmin(onceward.owner)


def run_of(accounts: list[str], value: str = WON, currency: str = "KRW") -> Call:
    amount = {"value": value, "currency": currency}
    given = [{"account_id": account, "amount": amount} for account in accounts]
    return call("credit_accounts", {"credits": given, "reason": "goodwill"})


async def opened(books: LedgerAdmin, number: int, **columns: Any) -> list[str]:
    return [await books.open(**columns) for _ in range(number)]


async def proposed(onceward: Onceward, books: LedgerAdmin, accounts: list[str]) -> Run:
    request_id, asked = fresh("response"), run_of(accounts)
    reply = await onceward.turn(asked, request_id=request_id, wait_seconds=30)
    assert reply.code == "approval_required"
    return Run(onceward, request_id, asked, reply.operation_id, books, tuple(accounts))


async def refused(onceward: Onceward, asked: Call) -> Reply:
    """Nobody was asked and no handler was called."""
    reply = await onceward.turn(asked, conversation=fresh("talk"), wait_seconds=30)
    if reply.only["operation_id"]:
        assert await onceward.approvals(reply.operation_id) == []
        assert await onceward.handler_calls(reply.operation_id) == 0
    return reply


# -- the way through


async def test_each_account_gets_its_credit_once_after_one_question(onceward: Onceward, books: LedgerAdmin) -> None:
    run = await proposed(onceward, books, await opened(books, 10))
    (question,) = await onceward.approvals(run.operation_id)
    assert (question.impact["count"], question.impact["money"]["minor_units"]) == (10, 12_000)
    await run.approve()
    result = await run.result()
    assert result["data"] == {"outcome": "complete", "succeeded": list(run.accounts), "failed": [], "unconfirmed": []}
    assert set((await run.credits()).values()) == {1}


async def test_the_approver_sees_every_account_with_its_amount(onceward: Onceward, books: LedgerAdmin) -> None:
    run = await proposed(onceward, books, await opened(books, 3))
    (question,) = await onceward.approvals(run.operation_id)
    async with onceward.visitor(APPROVER) as visitor:
        page = (await visitor.page(f"/approvals/{question.approval_id}")).text
    assert "₩3,600" in page
    for account in run.accounts:
        assert account in page


async def test_each_item_has_a_key_of_its_own(onceward: Onceward, books: LedgerAdmin) -> None:
    run = await proposed(onceward, books, await opened(books, 4))
    await run.approve()
    await run.result()
    kept = await onceward.rows(select(claims).where(claims.c.operation_id == run.operation_id))
    assert {row.item for row in kept} == set(run.accounts)
    assert len({row.idempotency_key for row in kept}) == 4


async def test_a_batch_of_hundreds_leaves_a_short_history(onceward: Onceward, books: LedgerAdmin) -> None:
    run = await proposed(onceward, books, await opened(books, 400))
    await run.approve()
    assert (await run.result(within=120))["data"]["outcome"] == "complete"
    history = await onceward.temporal.get_workflow_handle(run.operation_id).fetch_history()
    assert len(history.events) < 60
    assert history.to_json().count(run.accounts[7]) == 0


# -- refused as a whole, before anybody is asked


async def test_an_account_that_comes_twice_is_refused_with_its_place(onceward: Onceward, books: LedgerAdmin) -> None:
    first, second = await opened(books, 2)
    reply = await refused(onceward, run_of([first, second, first]))
    assert reply.code == "invalid_arguments"
    (detail,) = reply.only["error"]["details"]
    assert (detail["path"], detail["code"]) == ("/credits/2/account_id", "duplicate_item")


@pytest.mark.parametrize("number", [0, 10_001])
async def test_no_account_and_more_than_the_tool_takes_are_refused(onceward: Onceward, number: int) -> None:
    reply = await refused(onceward, run_of([f"CA-{each}" for each in range(number)]))
    assert reply.code == "invalid_arguments"


@pytest.mark.parametrize(
    ("columns", "code"),
    [
        ({"closed": True}, "account_closed"),
        ({"currency": "USD"}, "account_currency_differs"),
        ({"tenant": "tenant-b"}, "not_found"),
    ],
)
async def test_one_account_that_a_rule_is_against_is_named_and_the_whole_is_refused(
    onceward: Onceward, books: LedgerAdmin, columns: Json, code: str
) -> None:
    good, bad = await books.open(), await books.open(**columns)
    reply = await refused(onceward, run_of([good, bad]))
    (detail,) = reply.only["error"]["details"]
    assert (reply.code, detail["code"]) == (code, code)
    assert detail["path"].startswith("/credits/1")
    assert await books.entries(good) == []


async def test_what_changes_before_the_decision_voids_it(onceward: Onceward, books: LedgerAdmin) -> None:
    run = await proposed(onceward, books, await opened(books, 3))
    await books.change(run.accounts[1], balance=1, version=2)
    await run.approve()
    assert (await run.result())["error"]["code"] == "approval_stale"
    assert set((await run.credits()).values()) == {0}


async def test_a_denied_batch_gives_nothing(onceward: Onceward, books: LedgerAdmin) -> None:
    run = await proposed(onceward, books, await opened(books, 3))
    await onceward.deny(run.operation_id, "Not these.", APPROVER)
    assert (await run.result())["error"]["code"] == "approval_denied"
    assert set((await run.credits()).values()) == {0}


# -- in the middle of it


async def test_what_is_done_stays_done_and_only_the_rest_is_taken_up_when_the_worker_dies(
    onceward: Onceward, books: LedgerAdmin
) -> None:
    run = await proposed(onceward, books, await opened(books, 30))
    stuck = run.accounts[20]
    async with held(onceward, stuck):
        await run.approve()
        await until(lambda: given(run), lambda number: number >= 20)
        await onceward.stack.kill("worker")
    await onceward.stack.start("worker")
    result = await run.result(within=120)
    assert (result["data"]["outcome"], result["data"]["failed"]) == ("complete", [])
    assert set((await run.credits()).values()) == {1}


async def test_an_account_that_closes_meanwhile_is_left_out_and_the_others_get_theirs(
    onceward: Onceward, books: LedgerAdmin
) -> None:
    """The batch has begun and its worker is gone; before the next one goes on, the gate looks at what is left."""
    run = await proposed(onceward, books, await opened(books, 12))
    first, closing = run.accounts[0], run.accounts[11]
    async with held(onceward, *run.accounts[1:]):
        await run.approve()
        await until(lambda: given(run), lambda number: number == 1)
        await onceward.stack.kill("worker")
    await books.change(closing, closed=True, version=2)
    await onceward.stack.start("worker")
    data = (await run.result(within=120))["data"]
    assert (data["outcome"], data["unconfirmed"]) == ("partial", [])
    assert [(each["item"], each["code"]) for each in data["failed"]] == [(closing, "account_closed")]
    assert data["succeeded"] == [account for account in run.accounts if account != closing]
    assert (await run.credits()) == {account: int(account != closing) for account in run.accounts}
    assert first in data["succeeded"]
    async with onceward.visitor(APPROVER) as visitor:
        page = (await visitor.page(f"/operations/{run.operation_id}")).text
    assert "Partly done" in page
    assert "11 of 12 done, 1 refused" in page


async def test_an_account_that_goes_to_another_shop_meanwhile_stops_nobody_else(
    onceward: Onceward, books: LedgerAdmin
) -> None:
    run = await proposed(onceward, books, await opened(books, 12))
    moving = run.accounts[11]
    async with held(onceward, *run.accounts[1:]):
        await run.approve()
        await until(lambda: given(run), lambda number: number == 1)
        await onceward.stack.kill("worker")
    await books.change(moving, tenant="tenant-b")
    await onceward.stack.start("worker")
    data = (await run.result(within=120))["data"]
    assert [(each["item"], each["code"]) for each in data["failed"]] == [(moving, "not_found")]
    assert (await run.credits()) == {account: int(account != moving) for account in run.accounts}


async def test_a_new_call_for_those_that_failed_touches_only_them(onceward: Onceward, books: LedgerAdmin) -> None:
    run = await proposed(onceward, books, await opened(books, 3))
    await run.approve()
    await run.result()
    again = await proposed(onceward, books, [run.accounts[2]])
    await again.approve()
    await again.result()
    assert again.operation_id != run.operation_id
    assert [len(await books.entries(account)) for account in run.accounts] == [1, 1, 2]


async def test_a_batch_that_is_cancelled_in_the_middle_tells_which_were_done(
    onceward: Onceward, books: LedgerAdmin
) -> None:
    run = await proposed(onceward, books, await opened(books, 20))
    headers = {"Authorization": f"Bearer {onceward.token()}"}
    async with held(onceward, *run.accounts[8:]):
        await run.approve()
        await until(lambda: given(run), lambda number: number == 8)
        cancelled = asyncio.create_task(
            onceward.door.post(f"/v1/operations/{run.operation_id}/cancel", headers=headers)
        )
        await until(lambda: wishes(onceward, run), lambda number: number == 1)
    await cancelled
    data = (await run.result(within=120))["data"]
    made = await run.credits()
    assert data["outcome"] == "partial"
    assert set(data["succeeded"]) == {account for account, number in made.items() if number == 1}
    assert {each["code"] for each in data["failed"]} == {"canceled"}
    assert len(data["succeeded"]) + len(data["failed"]) == 20


async def test_how_far_it_has_come_can_be_asked_of_the_workflow(onceward: Onceward, books: LedgerAdmin) -> None:
    run = await proposed(onceward, books, await opened(books, 5))
    await run.approve()
    await run.result()
    handle = onceward.temporal.get_workflow_handle(run.operation_id)
    assert await handle.query(contracts.PROGRESS) == "5 of 5 items sent"


async def given(run: Run) -> int:
    return sum((await run.credits()).values())


async def wishes(onceward: Onceward, run: Run) -> int:
    wanted = text(f"SELECT count(*) AS number FROM cancellations WHERE operation_id = '{run.operation_id}'")
    return int((await onceward.rows(wanted))[0].number)


def held(onceward: Onceward, *accounts: str) -> AbstractAsyncContextManager[None]:
    """Accounts that nobody else can change until the block ends."""
    locking = "SELECT 1 FROM ledger_accounts WHERE account_id = ANY(:accounts) FOR UPDATE"
    return locked(onceward.owner, locking, accounts=list(accounts))
