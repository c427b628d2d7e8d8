"""The inbox, the search and the stuck work, as a browser meets them."""

import re
from dataclasses import replace
from datetime import timedelta
from html import unescape

import pytest

from adapters.http.back_office.lists import HeldMessage, HeldNotice
from adapters.http.back_office.stuck import TOLD
from tests.unit.back_office_house import INBOX, Browser, House
from tests.unit.back_office_sheets import REFUND, approval_sheet, operation_sheet
from tests.unit.memory_back_office import NOON
from workflows.domain.impact import Money
from workflows.domain.lifecycle import State
from workflows.domain.notice import NoticeType


async def test_the_inbox_shows_what_an_approver_sorts_by(house: House, approver: Browser) -> None:
    page = (await approver.get(INBOX)).text
    for shown in ("Refund a payment", "order-1001", "₩12,000", "KRW", "support-7", "support-agent", "execute_refund"):
        assert shown in page
    assert "Asked 18 minutes ago" in page
    assert "Ends in 2 days" in page


async def test_an_empty_inbox_says_so(house: House, approver: Browser) -> None:
    house.store.approvals.clear()
    assert "Nothing waits for a decision." in (await approver.get(INBOX)).text


@pytest.mark.parametrize("state", list(State))
async def test_every_state_has_a_page_and_a_place_in_the_list(house: House, approver: Browser, state: State) -> None:
    house.store.record(operation_sheet("operation-x", state))
    assert (await approver.get("/back-office/operations/operation-x")).status_code == 200
    assert "operation-x" in (await approver.get(f"/back-office/operations?state={state.value}")).text


async def test_the_list_is_narrowed_to_a_state_and_paged(house: House, approver: Browser) -> None:
    for number in range(60):
        house.store.record(operation_sheet(f"operation-{number}", State.SUCCEEDED))
    house.store.record(operation_sheet("stuck-1", State.MANUAL_REVIEW))
    stuck = (await approver.get("/back-office/operations?state=manual_review")).text
    assert "stuck-1" in stuck
    assert "operation-3" not in stuck
    first = (await approver.get("/back-office/operations?state=succeeded")).text
    following = re.search(r'href="([^"]*state=succeeded&amp;after=[^"]*)"', first)
    assert following is not None
    second = (await approver.get(following[1].replace("&amp;", "&"))).text
    names = [set(re.findall(r"/operations/(operation-\d+)", page)) for page in (first, second)]
    assert [len(each) for each in names] == [50, 10]
    assert not names[0] & names[1]


# ── the inbox, narrowed down ──


def links(page: str) -> list[str]:
    return [unescape(address) for address in re.findall(r'href="([^"]*)"', page)]


def ask_many(house: House, number: int) -> None:
    """Requests of 0, 1,000, 2,000 won and so on, each with a later deadline than the one before."""
    for place in range(number):
        sheet = approval_sheet(f"many-{place}", impact=replace(REFUND, money=Money(place * 1000, "KRW")))
        ends = NOON + timedelta(days=3, minutes=place)
        house.store.ask(replace(sheet, approval=replace(sheet.approval, expires_at=ends)))


async def test_the_inbox_says_how_many_wait_and_leads_on_page_by_page(house: House, approver: Browser) -> None:
    ask_many(house, 119)
    seen: list[str] = []
    address: str | None = INBOX
    while address:
        page = (await approver.get(address)).text
        assert "120 requests" in page
        seen += re.findall(r"/approvals/([\w-]+)", page)
        address = next((link for link in links(page) if "after=" in link), None)
    assert seen == ["approval-1", *(f"many-{place}" for place in range(119))]


async def test_the_form_narrows_the_inbox_to_amounts_and_the_pages_keep_to_it(house: House, approver: Browser) -> None:
    ask_many(house, 119)
    first = (await approver.get(f"{INBOX}?currency=krw&at_least=50,000&tool=execute_refund")).text
    assert "69 requests" in first
    assert "many-50" in first
    assert "many-49" not in first
    following = next(link for link in links(first) if "after=" in link)
    second = (await approver.get(following)).text
    assert "many-118" in second
    assert "many-49" not in second


async def test_what_the_inbox_is_narrowed_to_is_said_and_taken_back_with_one_link(
    house: House, approver: Browser
) -> None:
    page = (await approver.get(f"{INBOX}?currency=USD&waiting=1d")).text
    assert "Currency: USD" in page
    assert "Asked: Over a day ago" in page
    assert "Nothing like this waits for a decision." in page
    assert INBOX in links(page)


async def test_mine_to_decide_leaves_out_ones_own_request(house: House, approver: Browser) -> None:
    own = approval_sheet("own-1")
    house.store.ask(replace(own, requester=replace(own.requester, subject="approver-1")))
    page = (await approver.get(f"{INBOX}?mine=1")).text
    assert "approval-1" in page
    assert "own-1" not in page
    assert "own-1" in (await approver.get(INBOX)).text


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("at_least=5", "An amount needs a currency"),
        ("at_least=5&currency=XYZ", "An amount needs a currency"),
        ("at_least=1.5&currency=KRW", "This is no amount in that currency."),
        ("at_most=1,00&currency=KRW", "This is no amount in that currency."),
        ("at_most=-1&currency=KRW", "This is no amount in that currency."),
        ("at_most=１２&currency=KRW", "This is no amount in that currency."),
        ("waiting=ever", "There is no such choice."),
        ("mine=perhaps", "There is no such choice."),
        ("tool=a%00b", "This cannot be looked for."),
        ("tool=" + "x" * 300, "This cannot be looked for."),
    ],
)
async def test_what_cannot_be_read_is_told_beside_its_field_and_nothing_is_listed(
    approver: Browser, typed: str, said: str
) -> None:
    answer = await approver.get(f"{INBOX}?{typed}")
    assert answer.status_code == 422
    assert said in answer.text
    assert 'aria-invalid="true"' in answer.text or "mine" in typed
    assert "approval-1" not in answer.text


@pytest.mark.parametrize(
    ("typed", "least"), [("1,250.50", 125_050), ("1250.5", 125_050), ("0", 0), ("123456789012", 12_345_678_901_200)]
)
async def test_an_amount_is_taken_as_people_write_it(house: House, approver: Browser, typed: str, least: int) -> None:
    for place, units in enumerate((least - 1, least)):
        house.store.ask(approval_sheet(f"dollars-{place}", impact=replace(REFUND, money=Money(units, "USD"))))
    page = (await approver.get(f"{INBOX}?currency=USD&at_least={typed}")).text
    assert "dollars-1" in page
    assert "dollars-0" not in page


# ── looking again ──


async def test_the_inbox_looks_again_by_itself_without_a_script(approver: Browser) -> None:
    answer = await approver.get(f"{INBOX}?mine=1")
    assert answer.headers["refresh"] == "60; url=/back-office/?mine=1&live=14"
    assert "<script" not in answer.text
    assert "script-src" not in answer.headers["content-security-policy"]


async def test_looking_again_is_stopped_with_one_link_and_begun_again_with_one(approver: Browser) -> None:
    page = (await approver.get(INBOX)).text
    stopped = await approver.get(next(link for link in links(page) if "live=0" in link))
    assert "refresh" not in stopped.headers
    assert "does not look again by itself" in stopped.text
    assert "refresh" in (await approver.get(INBOX)).headers


async def test_a_window_that_was_left_open_stops_looking(approver: Browser) -> None:
    address, looks = INBOX, 0
    while True:
        answer = await approver.get(address)
        if "refresh" not in answer.headers:
            break
        address, looks = answer.headers["refresh"].partition("url=")[2], looks + 1
    assert looks == 15


@pytest.mark.parametrize("live", ["99", "-1", "1.5", "x", "１"])
async def test_an_odd_wish_to_look_again_is_no_longer_one_than_ours(approver: Browser, live: str) -> None:
    answer = await approver.get(f"{INBOX}?live={live}")
    assert answer.headers.get("refresh", "").partition("live=")[2] in ("", "14")


@pytest.mark.parametrize("address", [f"{INBOX}?narrow=1", f"{INBOX}?after=approval-1", "/back-office/operations"])
async def test_a_page_on_which_one_types_or_reads_on_stands_still(approver: Browser, address: str) -> None:
    assert "refresh" not in (await approver.get(address)).headers


async def test_what_was_typed_cannot_lead_the_next_look_elsewhere(approver: Browser) -> None:
    answer = await approver.get(f"{INBOX}?tool=x%3B%20url%3Dhttps://evil.test")
    assert answer.headers["refresh"].startswith("60; url=/back-office/?tool=x%3B+url%3Dhttps%3A%2F%2Fevil.test")


# ── the search ──


async def test_an_operation_is_found_by_the_id_of_its_call_and_by_its_object(house: House, approver: Browser) -> None:
    for name in ("operation-1", "operation-2"):
        house.store.record(operation_sheet(name))
    other = operation_sheet("operation-3")
    resource = replace(other.line.resource, id="order-7")
    house.store.record(replace(other, line=replace(other.line, resource=resource)))
    house.store.names["operation-2"] = {"toolu_9", "msg_9"}
    for typed, found in (
        ("id=toolu_9", {"operation-2"}),
        ("id=msg_9", {"operation-2"}),
        ("resource=order+order-7", {"operation-3"}),
        ("resource=order-1001", {"operation-1", "operation-2"}),
        ("requester=support-7", {"operation-1", "operation-2", "operation-3"}),
        ("tool=other", set()),
    ):
        page = (await approver.get(f"/back-office/operations?{typed}")).text
        assert set(re.findall(r"/operations/([\w-]+)", page)) == found


async def test_a_period_has_its_last_day(house: House, approver: Browser) -> None:
    house.store.record(operation_sheet())
    for typed, shown in (
        ("since=2026-03-02&until=2026-03-02", True),
        ("since=2026-03-03", False),
        ("until=2026-03-01", False),
    ):
        page = (await approver.get(f"/back-office/operations?{typed}")).text
        assert ("operation-1" in page) is shown


@pytest.mark.parametrize("typed", ["since=2026-02-30", "until=9999-12-31", "since=yesterday", "state=odd"])
async def test_a_search_that_cannot_be_read_is_told_and_lists_nothing(
    house: House, approver: Browser, typed: str
) -> None:
    house.store.record(operation_sheet())
    answer = await approver.get(f"/back-office/operations?{typed}")
    assert answer.status_code == 422
    assert 'class="fault"' in answer.text
    assert "operation-1" not in answer.text


async def test_a_cursor_that_is_none_is_absent(approver: Browser) -> None:
    for path in (INBOX, "/back-office/operations"):
        assert (await approver.get(f"{path}?after=%00")).status_code == 404


# ── stuck work ──

STUCK = "/back-office/stuck"


def hold(house: House, requester: str = "support-7") -> None:
    house.store.record(operation_sheet())
    held = HeldMessage(41, "nudge", "operation-1", "undeliverable", 4, NOON, NOON - timedelta(hours=2))
    house.store.held[41] = (requester, held)


async def test_nothing_stuck_says_so(approver: Browser) -> None:
    page = (await approver.get(STUCK)).text
    assert "Nothing is stuck." in page
    assert 'class="count"' not in page


async def test_stuck_work_stands_in_its_groups_with_numbers_amounts_and_ages(house: House, approver: Browser) -> None:
    house.store.record(operation_sheet("review-1", State.MANUAL_REVIEW))
    house.store.record(operation_sheet("review-2", State.MANUAL_REVIEW))
    house.store.record(operation_sheet("unsure-1", State.UNCONFIRMED))
    house.clock.advance(hours=47, minutes=30)
    house.store.record(operation_sheet("still-1", State.STARTED))
    browser = await house.signed_in("approver-1")
    page = (await browser.get(STUCK)).text
    order = [page.index(name) for name in ("review-1", "unsure-1", "/approvals/approval-1", "still-1")]
    assert order == sorted(order)
    for shown in ("₩24,000", "Last change 2 days ago", "Ends in 30 minutes", "Nothing moves"):
        assert shown in page
    assert "(5) Stuck work" in page


async def test_the_number_of_what_is_stuck_stands_in_the_navigation_of_the_lists(
    house: House, approver: Browser
) -> None:
    house.store.record(operation_sheet("review-1", State.MANUAL_REVIEW))
    for path in (INBOX, "/back-office/operations", STUCK):
        assert re.search(
            r'href="/back-office/stuck"[^>]*>Stuck work <span class="count">1<', (await approver.get(path)).text
        )


async def test_a_line_of_manual_review_leads_to_the_form_that_resolves_it(house: House) -> None:
    house.store.record(operation_sheet("review-1", State.MANUAL_REVIEW))
    operator = await house.signed_in("operator-1")
    line = next(link for link in links((await operator.get(STUCK)).text) if link.endswith("review-1"))
    assert "/operations/review-1/resolution" in (await operator.get(line)).text


async def test_an_operator_puts_a_message_back_with_the_button(house: House) -> None:
    hold(house)
    operator = await house.signed_in("operator-1")
    page = (await operator.get(STUCK)).text
    assert "Waking of an operation" in page
    assert "Set aside 2 hours ago" in page
    answer = await operator.post(f"{STUCK}/messages/41/requeue", await operator.hidden(STUCK))
    assert answer.status_code == 200
    assert "The message is back in the queue" in answer.text
    assert house.store.requeued == [41]
    again = await operator.post(f"{STUCK}/messages/41/requeue", await operator.hidden(STUCK))
    assert again.status_code == 409
    assert "nothing was changed" in again.text


async def test_others_see_no_messages_and_put_none_back(house: House, approver: Browser) -> None:
    hold(house)
    assert "Messages that were set aside" not in (await approver.get(STUCK)).text
    answer = await approver.post(f"{STUCK}/messages/41/requeue", await approver.hidden(INBOX))
    assert answer.status_code == 403
    assert house.store.requeued == []


@pytest.mark.parametrize("number", ["42", "0", "-1", "x", "9" * 19])
async def test_a_message_that_is_not_there_is_absent(house: House, number: str) -> None:
    hold(house)
    operator = await house.signed_in("operator-1")
    answer = await operator.post(f"{STUCK}/messages/{number}/requeue", await operator.hidden(STUCK))
    assert answer.status_code == 404
    assert house.store.requeued == []


async def test_a_message_is_put_back_by_a_form_of_ours_only(house: House) -> None:
    hold(house)
    operator = await house.signed_in("operator-1")
    form = await operator.hidden(STUCK)
    assert (await operator.get(f"{STUCK}/messages/41/requeue")).status_code == 405
    assert (await operator.post(f"{STUCK}/messages/41/requeue", {"csrf": "wrong"})).status_code == 403
    foreign = {"Sec-Fetch-Site": "cross-site"}
    assert (await operator.post(f"{STUCK}/messages/41/requeue", form, foreign)).status_code == 403
    assert (await house.browser().post(f"{STUCK}/messages/41/requeue", form)).status_code == 303
    assert house.store.requeued == []


def keep_from(house: House, receiver: str = "chat") -> None:
    house.store.record(operation_sheet())
    held = HeldNotice(51, receiver, "approval.asked", "operation-1", "status 410", 1, NOON, NOON - timedelta(hours=3))
    house.store.untold[51, receiver] = ("support-7", held)


async def test_an_operator_has_a_receiver_told_after_all_with_the_button(house: House) -> None:
    keep_from(house)
    operator = await house.signed_in("operator-1")
    page = (await operator.get(STUCK)).text
    for shown in ("Somebody must decide", "chat", "status 410", "1 try", "Set aside 3 hours ago"):
        assert shown in page
    assert "/back-office/operations/operation-1" in links(page)
    form = await operator.hidden(STUCK)
    assert form["receiver"] == "chat"
    answer = await operator.post(f"{STUCK}/notices/51/retell", form)
    assert answer.status_code == 200
    assert "The notice is delivered after all" in answer.text
    assert house.store.retold == [(51, "chat")]
    again = await operator.post(f"{STUCK}/notices/51/retell", form)
    assert again.status_code == 409
    assert "The notice was not put back" in again.text


def test_every_event_that_others_are_told_has_its_words() -> None:
    assert set(TOLD) == set(NoticeType)


async def test_others_see_no_notices_and_have_none_delivered(house: House, approver: Browser) -> None:
    keep_from(house)
    assert "Notices that were set aside" not in (await approver.get(STUCK)).text
    form = {**await approver.hidden(INBOX), "receiver": "chat"}
    assert (await approver.post(f"{STUCK}/notices/51/retell", form)).status_code == 403
    assert house.store.retold == []


@pytest.mark.parametrize(
    ("number", "receiver"), [("52", "chat"), ("51", "mail"), ("51", ""), ("51", "chat\x00"), ("x", "chat")]
)
async def test_a_notice_that_is_not_there_is_absent(house: House, number: str, receiver: str) -> None:
    keep_from(house)
    operator = await house.signed_in("operator-1")
    form = {**await operator.hidden(STUCK), "receiver": receiver}
    assert (await operator.post(f"{STUCK}/notices/{number}/retell", form)).status_code == 404
    assert house.store.retold == []


async def test_a_receiver_is_told_after_all_by_a_form_of_ours_only(house: House) -> None:
    keep_from(house)
    operator = await house.signed_in("operator-1")
    form, address = await operator.hidden(STUCK), f"{STUCK}/notices/51/retell"
    assert (await operator.get(address)).status_code == 405
    assert (await operator.post(address, {**form, "csrf": "wrong"})).status_code == 403
    assert (await operator.post(address, form, {"Sec-Fetch-Site": "cross-site"})).status_code == 403
    assert (await house.browser().post(address, form)).status_code == 303
    assert house.store.retold == []
