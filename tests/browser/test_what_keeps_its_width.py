"""However long a name or an amount is, a page keeps the width of its window and every figure stands whole."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import httpx2
import pytest
from playwright.async_api import Browser as Chromium

from adapters.http.back_office.ports import TimelineEntry
from adapters.http.back_office.revisions import ApprovalEvent, Vote
from tests.browser.shown import Window, window_of
from tests.unit.back_office_house import INBOX, ISSUER, PAGE, House, house_of
from tests.unit.back_office_sheets import REFUND, approval_sheet, operation_sheet
from tests.unit.memory_back_office import NOON
from worker.dev.issuer import DevelopmentIssuer, IssuerSettings
from workflows.domain.approval import ApprovalState, Choice
from workflows.domain.impact import Fact, Money

TRILLION = Money(10**12, "KRW")
UNBROKEN = "n" * 255

PARTED_FIGURES = """
() => [...document.querySelectorAll('.figure, .approve')].flatMap(figure => {
  const nodes = document.createTreeWalker(figure, NodeFilter.SHOW_TEXT), parted = [];
  while (nodes.nextNode()) for (const group of nodes.currentNode.data.matchAll(/[0-9]+/g)) {
    const range = document.createRange();
    range.setStart(nodes.currentNode, group.index);
    range.setEnd(nodes.currentNode, group.index + group[0].length);
    const [line, ...others] = range.getClientRects();
    if (others.length || line.right > document.documentElement.clientWidth) parted.push(group[0]);
  }
  return parted;
})
"""
"""Digits of one group that stand on two lines, or beyond the window."""

CUT_FRAMES = """
() => [...document.querySelectorAll('.decided-on, .given')]
  .filter(frame => frame.scrollWidth > frame.clientWidth).map(frame => frame.textContent)
"""
"""Frames with something beside what they show."""


@pytest.fixture(scope="module")
def issuer(tmp_path_factory: pytest.TempPathFactory) -> httpx2.ASGITransport:
    folder: Path = tmp_path_factory.mktemp("issuer")
    return httpx2.ASGITransport(DevelopmentIssuer(IssuerSettings(dev_issuer_state_dir=folder, issuer=ISSUER)).app())


@pytest.fixture
def house(issuer: httpx2.ASGITransport) -> House:
    """One in which an approval waits."""
    return house_of(issuer)


def of_much_money(house: House) -> None:
    impact = replace(REFUND, money=TRILLION, facts=(Fact("Balance now", money=TRILLION),))
    house.store.ask(approval_sheet(impact=impact))
    sheet = operation_sheet()
    house.store.record(replace(sheet, impact=impact, line=replace(sheet.line, money=TRILLION)))


def decided_by_a_long_name(house: House) -> None:
    sheet = approval_sheet()
    house.store.ask(
        replace(
            sheet,
            approval=replace(sheet.approval, state=ApprovalState.DENIED),
            votes=(Vote("decision-1", UNBROKEN, UNBROKEN, Choice.DENY, UNBROKEN, NOON),),
            history=(ApprovalEvent(NOON - timedelta(minutes=1), UNBROKEN, "decision.deny", 1),),
            requester=replace(sheet.requester, agent=UNBROKEN, name=UNBROKEN),
        )
    )


def through_a_long_agent(house: House) -> None:
    sheet = operation_sheet()
    entry = TimelineEntry(NOON, f"{UNBROKEN[:200]} for support-7", "proposed", UNBROKEN)
    house.store.record(replace(sheet, timeline=(entry,), line=replace(sheet.line, agent=UNBROKEN, requester=UNBROKEN)))


OPERATION = "/back-office/operations/operation-1"
SHOWN = (
    (PAGE, of_much_money),
    (INBOX, of_much_money),
    ("/back-office/operations", of_much_money),
    (OPERATION, of_much_money),
    (PAGE, decided_by_a_long_name),
    (OPERATION, through_a_long_agent),
    ("/back-office/operations", through_a_long_agent),
)


@pytest.mark.parametrize("window", [Window(360, language="ko"), Window(1200)], ids=str)
@pytest.mark.parametrize(("path", "prepare"), SHOWN)
async def test_nothing_pushes_a_page_wide_and_no_group_of_a_figure_is_parted(
    house: House, chromium: Chromium, window: Window, path: str, prepare: Callable[[House], None]
) -> None:
    prepare(house)
    async with window_of(house, chromium, "approver-1", window) as page:
        await page.goto(path)
        assert await page.evaluate("document.documentElement.scrollWidth") <= window.width
        assert await page.evaluate(PARTED_FIGURES) == []
        assert await page.evaluate(CUT_FRAMES) == []
