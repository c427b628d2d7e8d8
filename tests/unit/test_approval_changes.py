"""What the approval page marks as another: by words, beside the values themselves."""

import re
from dataclasses import replace

from tests.unit.back_office_house import PAGE, Browser, House
from tests.unit.back_office_sheets import HASH, REFUND, approval_sheet
from workflows.domain.impact import Fact, Money


def rows(page: str) -> list[list[str]]:
    """The cells of each row of the page's comparisons, as text."""
    found = re.findall(r"<tr[^>]*>(.*?)</tr>", page, re.S)
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S) for row in found]
    return [[" ".join(re.sub(r"<[^>]+>", " ", cell).split()) for cell in row] for row in cells]


async def test_what_the_model_gave_stands_beside_what_will_be_sent_and_differences_are_said_in_words(
    house: House, approver: Browser
) -> None:
    sent = (Fact("order_id", "order-1001"), Fact("amount", "12000"), Fact("currency", "KRW"))
    given = (Fact("order_id", "order-1001"), Fact("amount", "12,000"), Fact("note", "null"))
    house.store.ask(replace(approval_sheet(), arguments=sent, given=given))
    assert rows((await approver.get(PAGE)).text)[1:] == [
        ["order_id", "order-1001", "order-1001", "The same"],
        ["amount", "12,000", "12000", "Changed"],
        ["currency", "Nothing", "KRW", "Filled in"],
        ["note", "null", "Nothing", "Left out"],
    ]


async def test_what_the_model_gave_is_inert(house: House, approver: Browser) -> None:
    given = (Fact("<script>1</script>", "a\u202eb"),)
    house.store.ask(replace(approval_sheet(), given=given))
    page = (await approver.get(PAGE)).text
    assert "<script" not in page
    assert "\u202e" not in page
    assert r"\u{202E}" in page


async def test_without_a_difference_there_is_no_comparison(approver: Browser) -> None:
    page = (await approver.get(PAGE)).text
    assert "<table" not in page
    assert "What has changed" not in page


async def test_a_second_revision_says_what_has_changed_and_that_the_first_approval_does_not_count(
    house: House, approver: Browser, second_approver: Browser
) -> None:
    house.store.ask(approval_sheet(quorum=2))
    await second_approver.decide("approve", "Seen the parcel.")
    sheet = house.store.approvals["approval-1"]
    facts = (Fact("Paid", "₩50,000"), Fact("Still refundable", "₩35,000"))
    binding = replace(sheet.approval.binding, resource_version="v8")
    changed = replace(
        sheet,
        approval=replace(sheet.approval, binding=binding),
        impact=replace(REFUND, money=Money(35_000, "KRW"), facts=facts),
    )
    house.store.revise(changed, HASH)
    page = (await approver.get(PAGE)).text
    assert "What has changed since revision 1" in page
    assert "Approved by Second refund approver (approver-2) on" in page
    assert "Seen the parcel." in page
    assert "What was said to that revision does not count for this one." in page
    assert rows(page)[1:] == [
        ["Version of the object", "v7", "v8", "Changed"],
        ["Amount", "₩12,000 KRW", "₩35,000 KRW", "Changed"],
        ["Still refundable", "₩42,000", "₩35,000", "Changed"],
        ["Already refunded", "₩8,000", "Nothing", "No longer there"],
        ["Payment", "payment-77, card", "Nothing", "No longer there"],
    ]


async def test_the_history_of_an_approval_is_told(house: House, approver: Browser) -> None:
    house.store.ask(approval_sheet(quorum=2))
    page = (await approver.decide("approve")).text
    assert "History of this approval" in page
    history = page.partition("History of this approval")[2]
    assert "approver-1 · Revision 1" in " ".join(re.sub(r"<[^>]+>", " ", history).split())


async def test_what_is_decided_on_stands_beside_the_buttons_however_much_there_is_to_read(
    house: House, approver: Browser
) -> None:
    house.store.ask(replace(approval_sheet(), arguments=(Fact("reason", "APPROVED BY CFO\n" * 5000),)))
    page = (await approver.get(PAGE)).text
    card = page.partition('class="card decision"')[2].partition("</form>")[0]
    for shown in ("₩12,000", "KRW", "Refund a payment", "order-1001", "tenant-a", 'value="approve"'):
        assert shown in card
    assert "APPROVED BY CFO" not in card
