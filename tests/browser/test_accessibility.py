"""Every page of the back office held to the rules that axe knows, and a decision made with the keyboard alone."""

from collections.abc import Callable
from dataclasses import replace
from itertools import cycle
from typing import Any, NamedTuple

import httpx2
import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Browser, Page, expect

from adapters.http.back_office.lists import HeldMessage, HeldNotice
from tests.browser.shown import WINDOWS, Window, window_of
from tests.fakes.dashboard import Asked, Claimed, Row
from tests.unit.back_office_house import ISSUER, PAGE, House, house_of
from tests.unit.back_office_sheets import HASH, REFUND, approval_sheet, of_tenant, operation_sheet
from tests.unit.memory_back_office import NOON
from worker.dev.issuer import DevelopmentIssuer, IssuerSettings
from workflows.domain.approval import ApprovalState, Choice
from workflows.domain.audit import AuditLine
from workflows.domain.gate import Layer
from workflows.domain.impact import Fact, Money
from workflows.domain.lifecycle import State

OPERATION = "/back-office/operations/operation-1"
INVARIANTS = "/back-office/invariants"
LONG = "a-name-that-somebody-else-has-chosen-" * 8

Prepare = Callable[[House], None]


class Shown(NamedTuple):
    """One page as one person meets it, once the house is as it must be."""

    name: str
    person: str
    path: str
    prepare: Prepare = lambda house: None


def empty(house: House) -> None:
    house.store.approvals.clear()


def decided(house: House) -> None:
    sheet = approval_sheet()
    house.store.ask(replace(sheet, approval=replace(sheet.approval, state=ApprovalState.DENIED)))


def own_request(house: House) -> None:
    sheet = approval_sheet()
    house.store.ask(replace(sheet, requester=replace(sheet.requester, subject="approver-1")))


def crowded(house: House) -> None:
    for place in range(3):
        house.store.ask(of_tenant(approval_sheet(f"approval-{place}", quorum=2), "tenant-a"))


def revised(house: House) -> None:
    """A second revision, of what a model had given otherwise, with much text in it."""
    given = (Fact("order_id", "1001"), Fact(LONG, LONG * 20))
    changed = replace(approval_sheet(), impact=replace(REFUND, money=Money(35_000, "KRW")), given=given)
    house.store.revise(changed, HASH)


def held(house: House) -> None:
    """A message that nobody will deliver."""
    operation_in(State.MANUAL_REVIEW)(house)
    house.store.held[41] = ("support-7", HeldMessage(41, "nudge", "operation-1", "undeliverable", 4, NOON, NOON))


def operation_in(state: State) -> Prepare:
    def prepare(house: House) -> None:
        sheet = operation_sheet(state=state)
        house.store.record(replace(sheet, line=replace(sheet.line, tool=LONG)))

    return prepare


def untold(house: House) -> None:
    """An event that a receiver outside was not told of."""
    house.store.record(operation_sheet(state=State.AWAITING_APPROVAL))
    notice = HeldNotice(51, "chat", "approval.asked", "operation-1", "status 410", 1, NOON, NOON)
    house.store.untold[51, "chat"] = ("support-7", notice)


def audited(house: House) -> None:
    for what in ("proposed", "decision.approve", "effect.applied"):
        house.audit.add(AuditLine("tenant-a", 0, NOON, "approver-1", what, operation_id="operation-1"))
    house.audit.seal()


def busy(house: House) -> None:
    """Something in every plot, and one promise broken."""
    seen = house.dashboard
    seen.operations += [Row("op_1", "tenant-a", State.SUCCEEDED, ended=60.0), Row("op_2", "tenant-a", State.SUCCEEDED)]
    seen.operations += [Row(f"open_{state}", "tenant-a", state, changed=4000.0) for state in State]
    seen.claims += [Claimed("op_1", 1, 2, 1)]
    seen.questions += [Asked("tenant-a", 60.0, words=((Choice.APPROVE, 30.0), (Choice.DENY, 40.0)))]
    seen.refusals += [("tenant-a", Layer.BUSINESS, "quote_changed", 60.0)]
    seen.corrections += [("tenant-a", LONG, 60.0)]


PAGES = (
    Shown("sign-in", "", "/back-office/sign-in"),
    Shown("inbox, empty", "approver-1", "/back-office/", empty),
    Shown("inbox", "approver-1", "/back-office/", crowded),
    Shown("inbox, narrowed down", "approver-1", f"/back-office/?tool={LONG[:200]}&currency=KRW&waiting=1d"),
    Shown("inbox, a form at fault", "approver-1", "/back-office/?narrow=1&at_least=5&waiting=ever"),
    Shown("approval, second revision", "approver-1", PAGE, revised),
    Shown("approval, open", "approver-1", PAGE),
    Shown("approval, decided", "approver-1", PAGE, decided),
    Shown("approval, barred", "approver-1", PAGE, own_request),
    Shown("operations, none", "viewer-1", "/back-office/operations"),
    Shown("operations", "viewer-1", "/back-office/operations", operation_in(State.UNCONFIRMED)),
    *(Shown(f"operation, {state}", "viewer-1", OPERATION, operation_in(state)) for state in State),
    Shown("operation, asking an operator", "operator-1", OPERATION, operation_in(State.MANUAL_REVIEW)),
    Shown("refused", "approver-1", "/back-office/nothing-here"),
    Shown("stuck work, none", "operator-1", "/back-office/stuck", empty),
    Shown("stuck work", "operator-1", "/back-office/stuck", operation_in(State.MANUAL_REVIEW)),
    Shown("stuck work, a message too", "operator-1", "/back-office/stuck", held),
    Shown("stuck work, a notice too", "operator-1", "/back-office/stuck", untold),
    Shown("search, a form at fault", "viewer-1", "/back-office/operations?since=never&state=odd"),
    Shown("audit", "operator-1", "/back-office/audit", audited),
    Shown("audit, a form at fault", "operator-1", "/back-office/audit?since=never", audited),
    Shown("invariants, nothing yet", "viewer-1", INVARIANTS),
    Shown("invariants", "viewer-1", INVARIANTS, busy),
)


LOOKS = [
    pytest.param(shown, window, id=f"{shown.name}, {window.width}-{window.scheme}-{window.language}")
    for shown, opposites in zip(PAGES, cycle(WINDOWS), strict=False)
    for window in opposites
]
"""Each page in two opposite windows, and each pair of windows for every third page."""


@pytest.fixture(scope="module")
def issuer(tmp_path_factory: pytest.TempPathFactory) -> httpx2.ASGITransport:
    folder = tmp_path_factory.mktemp("issuer")
    return httpx2.ASGITransport(DevelopmentIssuer(IssuerSettings(dev_issuer_state_dir=folder, issuer=ISSUER)).app())


@pytest.fixture
def house(issuer: httpx2.ASGITransport) -> House:
    """One in which one approval waits."""
    return house_of(issuer)


@pytest.mark.parametrize(("shown", "window"), LOOKS)
async def test_a_page_breaks_no_rule_of_accessibility_and_fits_its_window(
    house: House, chromium: Browser, shown: Shown, window: Window
) -> None:
    shown.prepare(house)
    async with window_of(house, chromium, shown.person, window) as page:
        await page.goto(shown.path)
        for details in await page.locator("details").all():
            await details.evaluate("element => element.open = true")
        assert await broken_rules(page) == []
        assert await page.evaluate("document.documentElement.scrollWidth") <= window.width


async def test_a_page_that_breaks_a_rule_is_found_out(house: House, chromium: Browser) -> None:
    async with window_of(house, chromium, "approver-1", Window()) as page:
        await page.goto(PAGE)
        await page.evaluate("document.documentElement.removeAttribute('lang')")
        await page.evaluate("document.querySelector('h1').style.color = '#f0f0f0'")
        assert {"html-has-lang", "color-contrast"} <= {rule for rule, *_ in await broken_rules(page)}


async def broken_rules(page: Page) -> list[tuple[str, str, list[Any]]]:
    """Each rule with its impact and the elements that break it."""
    found = (await Axe().run(page)).response["violations"]
    return [(rule["id"], rule["impact"], [node["html"] for node in rule["nodes"]]) for rule in found]


async def test_a_decision_is_made_with_the_keyboard_alone(house: House, chromium: Browser) -> None:
    async with window_of(house, chromium, "approver-1", Window()) as page:
        await page.goto("/back-office/")
        await press_tab_until(page, "Refund a payment")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("heading", name="Your decision")).to_be_visible()
        reached = await press_tab_until(page, "Approve ₩12,000")
        assert reached.index("Skip to the content") < reached.index("Approvals") < reached.index("Reason")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("heading", name="Your approval counted")).to_be_visible()
    assert house.state() is ApprovalState.GRANTED


async def test_the_first_thing_that_is_reached_leads_past_the_header(house: House, chromium: Browser) -> None:
    async with window_of(house, chromium, "approver-1", Window()) as page:
        await page.goto(PAGE)
        await page.keyboard.press("Tab")
        skip = page.get_by_role("link", name="Skip to the content")
        await expect(skip).to_be_focused()
        await expect(skip).to_be_in_viewport()
        await page.keyboard.press("Enter")
        await page.keyboard.press("Tab")
        assert await page.evaluate("document.activeElement.closest('main') !== null")


async def press_tab_until(page: Page, name: str) -> list[str]:
    """The names of what had the focus one after the other, each of which must show that it has it."""
    reached: list[str] = []
    while name not in reached:
        await page.keyboard.press("Tab")
        called, visible = await page.evaluate(FOCUS)
        assert visible, called
        reached.append(called)
        assert len(reached) < 40, reached
    return reached


FOCUS = """() => {
    const held = document.activeElement, label = held.labels?.[0]?.firstChild;
    const ringed = [null, '::after'].some(part => getComputedStyle(held, part).outlineStyle !== 'none');
    return [(label ?? held).textContent.trim(), ringed];
}"""
"""What the element with the focus is called, and whether anything is drawn around it."""
