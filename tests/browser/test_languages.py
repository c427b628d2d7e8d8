"""The language of the pages, changed by clicking, in a browser that runs no script."""

from playwright.async_api import Browser, expect

from tests.faults.refunds import Refund
from tests.support.onceward import Onceward


async def test_without_scripts_the_language_is_changed_by_a_click_and_the_page_is_kept(
    onceward: Onceward, chromium: Browser
) -> None:
    refund, back_office = await Refund.proposed(onceward), onceward.stack.links.back_office
    context = await chromium.new_context(locale="ko-KR", java_script_enabled=False)
    page = await context.new_page()
    await page.goto(back_office)
    await expect(page.locator("html[lang=ko]")).to_have_count(1)
    await page.get_by_role("link", name="로그인").first.click()
    await page.get_by_role("button", name="approver-5").click()
    question = (await onceward.approvals(refund.operation_id))[-1]
    address = f"{back_office}/approvals/{question.approval_id}"
    await page.goto(address)
    await page.get_by_role("button", name="English").click()
    await expect(page).to_have_url(address)
    await expect(page.get_by_role("button", name="Approve ₩12,000")).to_be_visible()
    # The words have changed and the person's zone has not.
    await expect(page.locator("main")).to_contain_text("Korean Standard Time")
    await page.get_by_role("button", name="한국어").click()
    await expect(page).to_have_url(address)
    await page.get_by_role("button", name="₩12,000 승인").click()
    await expect(page.get_by_role("heading", name="승인이 반영되었습니다")).to_be_visible()
    await context.close()
    await refund.require_once(posts=1)
