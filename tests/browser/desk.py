"""A person at the back office, in a browser window of their own."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from playwright.async_api import Browser, Page, expect


@asynccontextmanager
async def desk_of(person: str, chromium: Browser, back_office: str) -> AsyncIterator[Page]:
    """That person's window, signed in by clicking through the issuer's page."""
    context = await chromium.new_context(viewport={"width": 1200, "height": 900}, locale="en-US", timezone_id="UTC")
    page = await context.new_page()
    try:
        await page.goto(back_office)
        await page.get_by_role("link", name="Sign in").first.click()
        await page.get_by_role("button", name=person).click()
        await expect(page.get_by_role("button", name="Sign out")).to_be_visible()
        yield page
    finally:
        await context.close()
