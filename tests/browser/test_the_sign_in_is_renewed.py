"""The issuer is asked again in the middle of a person's work, and they come to where they were going."""

from datetime import timedelta

from playwright.async_api import Browser, Page, expect
from sqlalchemy import update

from adapters.http.back_office.session_store import RENEWED_AFTER
from adapters.postgres.tables import sessions
from tests.browser.desk import desk_of
from tests.support.onceward import Onceward


async def a_quarter_of_an_hour_passes(onceward: Onceward) -> None:
    span = RENEWED_AFTER + timedelta(minutes=1)
    async with onceward.owner.transaction() as connection:
        await connection.execute(update(sessions).values(checked_at=sessions.c.checked_at - span))


async def open_page(page: Page, onceward: Onceward, path: str) -> None:
    await page.goto(f"{onceward.stack.links.back_office}{path}")


async def test_a_search_that_was_typed_meanwhile_is_made(onceward: Onceward, chromium: Browser) -> None:
    async with desk_of("approver-1", chromium, onceward.stack.links.back_office) as page:
        await open_page(page, onceward, "/operations")
        await page.locator("main form [name=resource]").fill("O-17")
        await a_quarter_of_an_hour_passes(onceward)
        await page.locator("main form button").first.click()
        await page.wait_for_url("**/operations?*O-17*")
        await expect(page.locator("main form [name=resource]")).to_have_value("O-17")


async def test_a_language_that_was_chosen_meanwhile_is_spoken(onceward: Onceward, chromium: Browser) -> None:
    async with desk_of("approver-1", chromium, onceward.stack.links.back_office) as page:
        await open_page(page, onceward, "/operations")
        await a_quarter_of_an_hour_passes(onceward)
        await page.get_by_role("button", name="한국어").click()
        await expect(page.locator("html")).to_have_attribute("lang", "ko")
        await page.wait_for_url("**/back-office/operations")


async def test_a_page_that_is_opened_meanwhile_is_shown(onceward: Onceward, chromium: Browser) -> None:
    async with desk_of("approver-1", chromium, onceward.stack.links.back_office) as page:
        await a_quarter_of_an_hour_passes(onceward)
        await open_page(page, onceward, "/stuck")
        await page.wait_for_url("**/stuck")
        await expect(page.get_by_role("heading", name="Stuck work")).to_be_visible()
