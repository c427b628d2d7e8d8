"""Two windows, one question: whoever clicks when, one outcome, and a clear sentence for everyone else."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

import pytest
from playwright.async_api import Browser, Page, expect
from sqlalchemy import select, update

from adapters.postgres.tables import approvals, decisions, operations
from tests.browser.desk import desk_of
from tests.faults.refunds import Refund
from tests.support.ledger import LedgerAdmin
from tests.support.onceward import ENDS, Onceward
from tests.support.responses import call
from tests.support.waiting import until
from workflows import contracts

COUNTED = "Your approval counted"
DENIED = "Your denial counted"
REPEATED = "had already counted"
DECIDED = "Already decided"


async def opened(page: Page, onceward: Onceward, operation_id: str) -> None:
    """The page of the operation's newest question."""
    question = (await onceward.approvals(operation_id))[-1]
    await page.goto(f"{onceward.stack.links.back_office}/approvals/{question.approval_id}")


async def click(page: Page, button: str) -> None:
    await page.get_by_role("button", name=button).click()


async def told(pages: Sequence[Page]) -> list[str]:
    return [await page.locator("main").inner_text() for page in pages]


async def votes(onceward: Onceward, operation_id: str) -> list[tuple[str, str]]:
    """Who has said what, over all revisions."""
    asked = select(decisions.c.approver, decisions.c.choice).join_from(decisions, approvals)
    found = await onceward.rows(asked.where(approvals.c.operation_id == operation_id).order_by(decisions.c.decision_id))
    return [(row.approver, row.choice) for row in found]


async def test_a_double_click_is_one_decision_and_one_refund(onceward: Onceward, chromium: Browser) -> None:
    refund = await Refund.proposed(onceward)
    async with desk_of("approver-1", chromium, onceward.stack.links.back_office) as page:
        await opened(page, onceward, refund.operation_id)
        await page.get_by_role("button", name="Approve ₩12,000").dblclick()
        await expect(page.locator("main")).to_contain_text("counted")
    assert await votes(onceward, refund.operation_id) == [("approver-1", "approve")]
    await refund.require_once(posts=1)


async def test_the_same_person_in_two_windows_has_one_vote(onceward: Onceward, chromium: Browser) -> None:
    refund, back_office = await Refund.proposed(onceward), onceward.stack.links.back_office
    async with desk_of("approver-1", chromium, back_office) as one, desk_of("approver-1", chromium, back_office) as two:
        for page in (one, two):
            await opened(page, onceward, refund.operation_id)
        await asyncio.gather(click(one, "Approve"), click(two, "Approve"))
        said = await told((one, two))
    assert sorted(COUNTED in words for words in said) == [False, True]
    assert sorted(REPEATED in words for words in said) == [False, True]
    assert await votes(onceward, refund.operation_id) == [("approver-1", "approve")]
    await refund.require_once(posts=1)


async def test_of_an_approval_and_a_denial_at_once_one_counts_and_the_other_is_told_which(
    onceward: Onceward, chromium: Browser
) -> None:
    refund, back_office = await Refund.proposed(onceward), onceward.stack.links.back_office
    async with desk_of("approver-1", chromium, back_office) as yes, desk_of("approver-2", chromium, back_office) as no:
        for page in (yes, no):
            await opened(page, onceward, refund.operation_id)
        await no.get_by_role("textbox", name="Reason").fill("The customer kept the goods.")
        await asyncio.gather(click(yes, "Approve"), click(no, "Deny"))
        approving, denying = await told((yes, no))
    ((winner, choice),) = await votes(onceward, refund.operation_id)
    loser_reads = denying if choice == "approve" else approving
    assert DECIDED in loser_reads
    assert winner in loser_reads
    assert (COUNTED in approving, DENIED in denying) == (choice == "approve", choice == "deny")
    ended = "succeeded" if choice == "approve" else "failed_terminal"
    assert await onceward.until(refund.operation_id, *ENDS) == ended
    assert await onceward.provider.effects(refund.operation_id) == (1 if choice == "approve" else 0)


async def test_a_click_after_the_deadline_is_told_that_it_is_late_and_nothing_is_sent(
    onceward: Onceward, chromium: Browser
) -> None:
    refund = await Refund.proposed(onceward)
    async with desk_of("approver-1", chromium, onceward.stack.links.back_office) as page:
        await opened(page, onceward, refund.operation_id)
        await expire(onceward, refund.operation_id)
        await click(page, "Approve")
        await expect(page.get_by_role("heading", name="Too late to decide")).to_be_visible()
        await expect(page.locator("main")).to_contain_text("Nothing was sent.")
    assert await votes(onceward, refund.operation_id) == []
    assert await onceward.provider.posts(refund.operation_id) == 0


async def expire(onceward: Onceward, operation_id: str) -> None:
    """The time to decide passes while the page is open."""
    async with onceward.owner.transaction() as connection:
        question = update(approvals).where(approvals.c.operation_id == operation_id)
        await connection.execute(question.values(expires_at=approvals.c.asked_at - timedelta(seconds=1)))


async def test_a_click_on_a_page_of_an_earlier_revision_decides_nothing(onceward: Onceward, chromium: Browser) -> None:
    books = LedgerAdmin(onceward.owner)
    account = await books.open(balance=500)
    amount = {"value": "12000", "currency": "KRW"}
    asked = call("credit_account", {"account_id": account, "amount": amount, "reason": "late_delivery"})
    parked = await onceward.turn(asked)
    async with desk_of("approver-3", chromium, onceward.stack.links.back_office) as page:
        await opened(page, onceward, parked.operation_id)
        await expect(page.locator("main")).to_contain_text("₩12,500")
        await books.change(account, balance=700, version=2)
        await look_again(onceward, parked.operation_id)
        await click(page, "Approve")
        await expect(page.get_by_role("heading", name="This page was out of date")).to_be_visible()
        assert await votes(onceward, parked.operation_id) == []
        assert await books.entries(account) == []
        await opened(page, onceward, parked.operation_id)
        await expect(page.locator("main")).to_contain_text("₩12,700")
        await click(page, "Approve")
        await expect(page.get_by_role("heading", name=COUNTED)).to_be_visible()
    assert await onceward.until(parked.operation_id, *ENDS) == "succeeded"
    assert [entry.operation_id for entry in await books.entries(account)] == [parked.operation_id]
    assert await books.balance(account) == 12_700


async def look_again(onceward: Onceward, operation_id: str) -> None:
    """The workflow sees that what was asked about has changed, and asks anew."""
    await onceward.temporal.get_workflow_handle(operation_id).signal(contracts.NUDGE)
    await until(lambda: onceward.approvals(operation_id), lambda asked: len(asked) == 2)


@pytest.mark.parametrize("process", ["worker", "api", "relay"])
async def test_a_page_that_was_open_before_a_restart_decides_after_it(
    onceward: Onceward, chromium: Browser, process: str
) -> None:
    refund = await Refund.proposed(onceward)
    async with desk_of("approver-1", chromium, onceward.stack.links.back_office) as page:
        await opened(page, onceward, refund.operation_id)
        await onceward.stack.kill(process)
        await onceward.stack.start(process)
        await click(page, "Approve")
        await expect(page.get_by_role("heading", name=COUNTED)).to_be_visible()
    await refund.require_once(posts=1)


async def test_a_click_while_no_worker_runs_counts_once_one_does(onceward: Onceward, chromium: Browser) -> None:
    refund = await Refund.proposed(onceward)
    await onceward.stack.kill("worker")
    try:
        async with desk_of("approver-1", chromium, onceward.stack.links.back_office) as page:
            await opened(page, onceward, refund.operation_id)
            await click(page, "Approve")
            await expect(page.get_by_role("heading", name=COUNTED)).to_be_visible()
        assert await onceward.state(refund.operation_id) == "awaiting_approval"
        assert await onceward.provider.posts(refund.operation_id) == 0
    finally:
        await onceward.stack.start("worker")
    await refund.require_once(posts=1)


async def test_a_decided_question_takes_no_second_word_from_an_old_page(onceward: Onceward, chromium: Browser) -> None:
    refund, back_office = await Refund.proposed(onceward), onceward.stack.links.back_office
    async with desk_of("approver-2", chromium, back_office) as late:
        await opened(late, onceward, refund.operation_id)
        await refund.approve()
        await refund.require_once(posts=1)
        await late.get_by_role("textbox", name="Reason").fill("I have changed my mind.")
        await click(late, "Deny")
        await expect(late.get_by_role("heading", name=DECIDED)).to_be_visible()
        await expect(late.locator("main")).to_contain_text("approver-1")
    assert await votes(onceward, refund.operation_id) == [("approver-1", "approve")]
    [row] = await onceward.rows(select(operations.c.state).where(operations.c.operation_id == refund.operation_id))
    assert row.state == "succeeded"
