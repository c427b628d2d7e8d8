"""Approvals decided by clicking, in a real browser."""

import asyncio

from playwright.async_api import Browser, Page, expect

from tests.browser.desk import desk_of
from tests.faults.refunds import Refund
from tests.support.onceward import Onceward


async def open_approval(page: Page, refund: Refund) -> None:
    """From the inbox to the page of one approval, as a person gets there."""
    question = (await refund.onceward.approvals(refund.operation_id))[-1]
    await page.locator(f"a[href$='/approvals/{question.approval_id}']").first.click()


async def test_a_refund_is_approved_by_clicking_and_made_once(onceward: Onceward, chromium: Browser) -> None:
    refund = await Refund.proposed(onceward)
    async with desk_of("approver-1", chromium, onceward.stack.links.back_office) as page:
        await open_approval(page, refund)
        await expect(page.get_by_role("heading", name="Refund a payment")).to_be_visible()
        await expect(page.locator("main")).to_contain_text("₩12,000")
        await page.get_by_role("button", name="Approve ₩12,000").click()
        await expect(page.get_by_role("heading", name="Your approval counted")).to_be_visible()
    await refund.require_once(posts=1)


async def test_a_refund_is_denied_by_clicking_and_the_reason_is_asked_for(
    onceward: Onceward, chromium: Browser
) -> None:
    refund = await Refund.proposed(onceward)
    async with desk_of("approver-1", chromium, onceward.stack.links.back_office) as page:
        await open_approval(page, refund)
        await page.get_by_role("button", name="Deny").click()
        assert await onceward.state(refund.operation_id) == "awaiting_approval"
        await page.get_by_role("textbox", name="Reason").fill("The customer kept the goods.")
        await page.get_by_role("button", name="Deny").click()
        await onceward.until(refund.operation_id, "failed_terminal")
    assert (await refund.hand_in_again()).code == "approval_denied"
    assert await onceward.provider.posts(refund.operation_id) == 0


async def test_of_two_people_who_click_at_once_one_decides_and_the_other_is_told(
    onceward: Onceward, chromium: Browser
) -> None:
    refund = await Refund.proposed(onceward)
    back_office = onceward.stack.links.back_office
    async with (
        desk_of("approver-1", chromium, back_office) as first,
        desk_of("approver-2", chromium, back_office) as second,
    ):
        for page in (first, second):
            await open_approval(page, refund)
        await asyncio.gather(*(page.get_by_role("button", name="Approve").click() for page in (first, second)))
        told = [await page.locator("main").inner_text() for page in (first, second)]
    assert sum("Your approval counted" in words for words in told) == 1, told
    await refund.require_once(posts=1)


async def test_the_operation_page_tells_the_story_and_leads_to_the_console(
    onceward: Onceward, chromium: Browser
) -> None:
    refund = await Refund.approved(onceward)
    reply = await refund.require_once(posts=1)
    async with desk_of("approver-1", chromium, onceward.stack.links.back_office) as page:
        await page.goto(f"{onceward.stack.links.back_office}/operations/{refund.operation_id}")
        story = page.locator("main")
        for words in ("Proposed", "Approved", "On record as done", reply.only["data"]["refund_id"]):
            await expect(story).to_contain_text(words)
        async with page.context.expect_page() as opened:
            await page.get_by_role("link", name="Open in the workflow console").click(modifiers=["Control"])
        console = await opened.value
        await expect(console.locator("body")).to_contain_text(refund.operation_id, timeout=20_000)


async def test_the_page_of_invariants_counts_the_refund_that_was_made_and_finds_nothing_broken(
    onceward: Onceward, chromium: Browser
) -> None:
    await (await Refund.approved(onceward)).require_once(posts=1)
    async with desk_of("approver-1", chromium, onceward.stack.links.back_office) as page:
        await page.get_by_role("link", name="Invariants").click()
        await expect(page.locator("main")).to_contain_text("Every promise holds.")
        await expect(page.get_by_role("img", name="Operations per hour, by how they ended")).to_be_visible()


async def test_the_page_says_nothing_to_the_browsers_console(onceward: Onceward, chromium: Browser) -> None:
    refund = await Refund.proposed(onceward)
    async with desk_of("approver-1", chromium, onceward.stack.links.back_office) as page:
        complaints: list[str] = []
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        await open_approval(page, refund)
        await page.goto(f"{onceward.stack.links.back_office}/operations")
    assert complaints == []
