"""`python -m tests.browser.take_pictures`: the pictures in `docs/pictures`, taken anew from the running pages."""

import asyncio
import tempfile
from pathlib import Path

from playwright.async_api import Browser, async_playwright

from tests.browser.conftest import QUIET, chromium_path
from tests.browser.desk import desk_of
from tests.faults.refunds import Refund
from tests.support.onceward import Onceward
from worker.dev.stack import Stack

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"


async def main() -> None:
    """Start everything, play one refund, photograph the inbox, the approval and the operation."""
    with tempfile.TemporaryDirectory() as state:
        async with (
            Stack(Path(state) / "pictures") as stack,
            Onceward.connected(stack) as onceward,
            async_playwright() as playwright,
        ):
            browser = await playwright.chromium.launch(executable_path=chromium_path(), args=QUIET)
            await photograph(onceward, browser)
            await browser.close()


async def photograph(onceward: Onceward, browser: Browser) -> None:
    """Three pages, as the approver sees them one after the other."""
    back_office = onceward.stack.links.back_office
    refund = await Refund.proposed(onceward, order_id="O-17")
    async with desk_of("approver-1", browser, back_office) as page:
        await page.screenshot(path=PICTURES / "inbox.png")
        question = (await onceward.approvals(refund.operation_id))[-1]
        await page.goto(f"{back_office}/approvals/{question.approval_id}")
        await page.screenshot(path=PICTURES / "approval.png")
        await page.get_by_role("button", name="Approve").click()
        await refund.require_once()
        await page.goto(f"{back_office}/operations/{refund.operation_id}")
        await page.screenshot(path=PICTURES / "operation.png")


if __name__ == "__main__":
    asyncio.run(main())
