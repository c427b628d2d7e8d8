"""Whatever there is to read on an approval, the amount and the object stay beside the buttons."""

from dataclasses import replace
from pathlib import Path

import httpx2
import pytest
from playwright.async_api import Browser as Chromium
from playwright.async_api import expect

from adapters.http import back_office
from tests.unit.back_office_house import ISSUER, PAGE, house_of
from tests.unit.back_office_sheets import approval_sheet
from worker.dev.issuer import DevelopmentIssuer, IssuerSettings
from workflows.domain.impact import Fact

STYLE = Path(back_office.__file__).parent / "assets" / "back-office.css"

PUSHING = (
    Fact("reason", "APPROVED BY CFO\n" * 5000),
    *(Fact(f"note_{number}", "read this first " * 40) for number in range(60)),
)


@pytest.fixture
async def page_with_much_to_read(tmp_path: Path) -> str:
    """The page of a refund whose arguments were written to push the amount away, with its style inside."""
    settings = IssuerSettings(dev_issuer_state_dir=tmp_path, issuer=ISSUER)
    house = house_of(httpx2.ASGITransport(DevelopmentIssuer(settings).app()))
    house.store.ask(replace(approval_sheet(), arguments=PUSHING))
    page = (await (await house.signed_in("approver-1")).get(PAGE)).text
    return page.replace("</head>", f"<style>{STYLE.read_text()}</style></head>")


async def test_the_amount_and_the_object_stay_beside_the_buttons_to_the_end_of_the_page(
    chromium: Chromium, page_with_much_to_read: str
) -> None:
    window = await chromium.new_page(viewport={"width": 1200, "height": 900})
    await window.set_content(page_with_much_to_read)
    beside = window.get_by_label("Decision", exact=True)
    await expect(beside.get_by_text("₩12,000").first).to_be_in_viewport(ratio=1)
    await window.evaluate("window.scrollTo(0, document.body.scrollHeight)")
    assert await window.evaluate("window.scrollY") > 900
    await expect(beside.get_by_text("₩12,000").first).to_be_in_viewport(ratio=1)
    await expect(beside.get_by_text("order-1001").first).to_be_in_viewport(ratio=1)
    await expect(beside.get_by_role("button", name="Approve ₩12,000")).to_be_in_viewport(ratio=1)
    await window.close()


async def test_on_a_small_window_the_amount_stands_before_everything_that_others_wrote(
    chromium: Chromium, page_with_much_to_read: str
) -> None:
    window = await chromium.new_page(viewport={"width": 380, "height": 700})
    await window.set_content(page_with_much_to_read)
    await expect(window.get_by_text("₩12,000").first).to_be_in_viewport(ratio=1)
    await window.close()
