"""What is stuck is found and repaired by clicking, and whoever comes second is told what counts."""

import asyncio

from playwright.async_api import Browser, Page, expect
from sqlalchemy import select

from adapters.postgres.tables import resolutions
from tests.browser.desk import desk_of
from tests.browser.scenes import in_doubt
from tests.faults.refunds import Refund
from tests.support.onceward import ENDS, Onceward

EVIDENCE = "The provider's own console, on the phone with their support."


async def receipt_of(refund: Refund) -> str:
    """What the operator reads in the provider's own books."""
    (made,) = (await refund.onceward.provider.ledger(refund.operation_id))["refunds"]
    return str(made["refund_id"])


async def fill(page: Page, finding: str, reference: str = "") -> None:
    await page.get_by_role("radio", name=finding).check()
    if reference:
        await page.get_by_role("textbox", name="Reference at the downstream").fill(reference)
    await page.get_by_role("textbox", name="Evidence").fill(EVIDENCE)


async def record(page: Page) -> None:
    await page.get_by_role("button", name="Record this").click()


async def words(refund: Refund) -> list[str]:
    """What operators have said of it, as stored."""
    asked = select(resolutions.c.finding).where(resolutions.c.operation_id == refund.operation_id)
    return [row.finding for row in await refund.onceward.rows(asked)]


async def test_what_nobody_could_look_up_is_found_among_the_stuck_work_and_resolved_with_evidence(
    onceward: Onceward, chromium: Browser
) -> None:
    async with (
        in_doubt(onceward, given_up=True) as refund,
        desk_of("operator-1", chromium, onceward.stack.links.back_office) as page,
    ):
        await page.get_by_role("link", name="Stuck work").click()
        await page.locator(f"a[href$='/operations/{refund.operation_id}']").first.click()
        await fill(page, "It happened", await receipt_of(refund))
        await record(page)
        await expect(page.get_by_role("heading", name="Your word counts")).to_be_visible()
        assert await onceward.until(refund.operation_id, *ENDS) == "succeeded"
    assert await words(refund) == ["happened"]
    assert await onceward.provider.posts(refund.operation_id) == 1
    assert (await onceward.operation(refund.operation_id)).json()["reference"] == await receipt_of(refund)


async def test_without_a_reference_nothing_is_recorded_and_what_was_typed_stays(
    onceward: Onceward, chromium: Browser
) -> None:
    async with (
        in_doubt(onceward, given_up=True) as refund,
        desk_of("operator-1", chromium, onceward.stack.links.back_office) as page,
    ):
        await page.goto(f"{onceward.stack.links.back_office}/operations/{refund.operation_id}")
        await fill(page, "It happened")
        await record(page)
        await expect(page.get_by_role("heading", name="Your word did not count")).to_be_visible()
        await expect(page.get_by_role("textbox", name="Evidence")).to_have_value(EVIDENCE)
        assert await words(refund) == []
        assert await onceward.state(refund.operation_id) == "manual_review"


async def test_of_two_words_at_once_one_counts_and_the_other_is_told(onceward: Onceward, chromium: Browser) -> None:
    back_office = onceward.stack.links.back_office
    async with (
        in_doubt(onceward, given_up=True) as refund,
        desk_of("operator-1", chromium, back_office) as one,
        desk_of("operator-1", chromium, back_office) as two,
    ):
        for page in (one, two):
            await page.goto(f"{back_office}/operations/{refund.operation_id}")
        await fill(one, "It happened", await receipt_of(refund))
        await fill(two, "Nobody can find out")
        await asyncio.gather(record(one), record(two))
        told = [await page.locator("main").inner_text() for page in (one, two)]
        assert sorted("Your word counts" in text for text in told) == [False, True]
        assert sorted("Your word did not count" in text for text in told) == [False, True]
        assert await onceward.until(refund.operation_id, *ENDS) in ("succeeded", "failed_terminal")
    assert len(await words(refund)) == 1
    assert await onceward.provider.effects(refund.operation_id) == 1


async def test_whoever_is_no_operator_sees_the_question_and_no_form(onceward: Onceward, chromium: Browser) -> None:
    async with (
        in_doubt(onceward, given_up=True) as refund,
        desk_of("viewer-1", chromium, onceward.stack.links.back_office) as page,
    ):
        await page.goto(f"{onceward.stack.links.back_office}/operations/{refund.operation_id}")
        await expect(page.locator("main")).to_contain_text("Only operators who did not ask for it themselves")
        await expect(page.get_by_role("button", name="Record this")).to_have_count(0)


async def test_an_operation_is_found_by_its_object_and_its_audit_lines_by_its_id(
    onceward: Onceward, chromium: Browser
) -> None:
    order_id = await onceward.provider.add_order()
    refund = await Refund.proposed(onceward, order_id=order_id)
    await refund.approve()
    await refund.require_once(posts=1)
    async with desk_of("operator-1", chromium, onceward.stack.links.back_office) as page:
        await page.get_by_role("link", name="Operations", exact=True).click()
        await page.get_by_label("Object").fill(order_id)
        await page.get_by_role("button", name="Search").click()
        await expect(page.locator(f"a[href$='/operations/{refund.operation_id}']").first).to_be_visible()
        await page.get_by_role("link", name="Audit").click()
        await page.get_by_label("Operation").fill(refund.operation_id)
        await page.get_by_role("button", name="Search").click()
        for line in ("Proposed", "Approved", "approver-1", "On record as done"):
            await expect(page.locator("main")).to_contain_text(line)
