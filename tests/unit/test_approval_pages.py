"""One approval as a browser meets it: what it shows, and whose word counts."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from tests.unit.back_office_house import DECISION, HERE, INBOX, OWN_PAGE, PAGE, Browser, House
from tests.unit.back_office_sheets import HASH, OTHER_HASH, REFUND, approval_sheet, of_tenant
from tests.unit.memory_back_office import NOON
from workflows.domain.approval import ApprovalState
from workflows.domain.impact import Money


async def test_the_approval_page_shows_the_servers_own_look(house: House, approver: Browser) -> None:
    page = (await approver.get(PAGE)).text
    for shown in ("Still refundable", "₩42,000", "Cannot be undone", "tenant-a", "3f9a 1c22 90be", "0 of 1"):
        assert shown in page
    assert "Money leaves and cannot be called back" in page
    assert ">2 Mar 2026, 11:42 UTC</time>. No model wrote any of this." in page


@pytest.mark.parametrize("approved", [True, False])
async def test_a_void_approval_says_why_whoever_has_approved_it(
    house: House, approver: Browser, approved: bool
) -> None:
    if approved:
        await approver.decide("approve")
    sheet = house.store.approvals["approval-1"]
    house.store.ask(replace(sheet, approval=replace(sheet.approval, state=ApprovalState.VOID)))
    page = (await approver.get(PAGE)).text
    assert "What it asked about has changed since; nothing was sent." in page


async def test_another_tenants_approval_is_absent_to_read_and_to_decide(house: House, approver: Browser) -> None:
    house.store.ask(of_tenant(approval_sheet("approval-b"), "tenant-b"))
    theirs = "/back-office/approvals/approval-b"
    assert (await approver.get(theirs)).status_code == 404
    assert "approval-b" not in (await approver.get(INBOX)).text
    form = await approver.hidden() | {"choice": "approve"}
    assert (await approver.post(f"{theirs}/decision", form)).status_code == 404
    assert house.state("approval-b") is ApprovalState.PENDING


async def test_an_approval_counts_and_says_so(house: House, approver: Browser) -> None:
    answer = await approver.decide("approve")
    assert answer.status_code == 200
    assert "Your approval counted" in answer.text
    assert "It is approved. Everything is checked once more before it is done." in answer.text
    assert house.state() is ApprovalState.GRANTED


async def test_a_denial_counts_with_its_reason(house: House, approver: Browser) -> None:
    answer = await approver.decide("deny", "The order was never delivered.\r\nAsk again.")
    assert "Your denial counted" in answer.text
    assert house.store.approvals["approval-1"].votes[0].reason == "The order was never delivered.\nAsk again."
    assert house.state() is ApprovalState.DENIED


@pytest.mark.parametrize("reason", ["  ", "\u200b\u2060"], ids=ascii)
async def test_a_denial_without_a_reason_decides_nothing(house: House, approver: Browser, reason: str) -> None:
    answer = await approver.decide("deny", reason)
    assert answer.status_code == 422
    assert "A denial needs a reason" in answer.text
    assert house.state() is ApprovalState.PENDING


async def test_a_get_never_decides(house: House, approver: Browser) -> None:
    form = await approver.hidden() | {"choice": "approve"}
    answer = await approver.client.get(DECISION, params=form, headers=OWN_PAGE)
    assert answer.status_code == 405
    assert house.store.attempts == []
    assert house.state() is ApprovalState.PENDING


@pytest.mark.parametrize("csrf", [None, "", "wrong", "é"])
async def test_a_form_without_this_sessions_token_decides_nothing(
    house: House, approver: Browser, csrf: str | None
) -> None:
    form = await approver.hidden() | {"choice": "approve"}
    form.pop("csrf") if csrf is None else form.update(csrf=csrf)
    assert (await approver.post(DECISION, form)).status_code == 403
    assert house.store.attempts == []


async def test_another_sessions_token_decides_nothing(
    house: House, approver: Browser, second_approver: Browser
) -> None:
    form = await approver.hidden() | {"choice": "approve"}
    assert (await second_approver.post(DECISION, form)).status_code == 403
    assert house.store.attempts == []


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": "null"},
        {"Origin": "https://evil.test"},
        {"Origin": "http://localhost:8001"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site", "Origin": HERE},
        {"Sec-Fetch-Site": "none"},
    ],
)
async def test_a_form_from_elsewhere_decides_nothing(house: House, approver: Browser, headers: dict[str, str]) -> None:
    form = await approver.hidden() | {"choice": "approve"}
    assert (await approver.post(DECISION, form, headers)).status_code == 403
    assert house.store.attempts == []


@pytest.mark.parametrize("headers", [{"Origin": HERE}, {"Sec-Fetch-Site": "same-origin", "Origin": "null"}])
async def test_a_form_of_our_own_page_is_taken(house: House, approver: Browser, headers: dict[str, str]) -> None:
    form = await approver.hidden() | {"choice": "approve"}
    assert (await approver.post(DECISION, form, headers)).status_code == 200


async def test_a_form_sent_after_the_session_ended_leads_back_to_the_page(house: House, approver: Browser) -> None:
    form = await approver.hidden() | {"choice": "approve"}
    house.clock.advance(hours=9)
    answer = await approver.post(DECISION, form)
    assert answer.headers["location"] == "/back-office/sign-in?next=%2Fback-office%2Fapprovals%2Fapproval-1"
    assert house.store.attempts == []


@pytest.mark.parametrize(
    "form", ["choice=approve&choice=deny", "a=1&" * 30, "reason=" + "x" * 70_000, "reason=%FF", "\xff"]
)
async def test_a_form_that_no_page_sends_is_refused(house: House, approver: Browser, form: str) -> None:
    headers = {**OWN_PAGE, "Content-Type": "application/x-www-form-urlencoded"}
    answer = await approver.client.post(DECISION, content=form.encode("latin-1"), headers=headers)
    assert answer.status_code == 400
    assert house.store.attempts == []


async def test_a_form_of_another_media_type_is_refused(house: House, approver: Browser) -> None:
    form = await approver.hidden() | {"choice": "approve"}
    assert (await approver.client.post(DECISION, json=form, headers=OWN_PAGE)).status_code == 400
    assert house.store.attempts == []


@pytest.mark.parametrize("changed", [{"choice": "maybe"}, {"choice": ""}, {"reason": "x" * 2001}, {"reason": "a\0b"}])
async def test_an_odd_field_decides_nothing(house: House, approver: Browser, changed: dict[str, str]) -> None:
    form = await approver.hidden() | {"choice": "approve", "reason": ""} | changed
    assert (await approver.post(DECISION, form)).status_code == 400
    assert house.store.attempts == []


@pytest.mark.parametrize("revision", ["", "0", "2", "-1", "1.0", "١", "latest"])
async def test_another_revision_or_none_decides_nothing(house: House, approver: Browser, revision: str) -> None:
    answer = await approver.decide("approve", revision=revision)
    assert answer.status_code == 409
    assert "This page was out of date" in answer.text
    assert house.state() is ApprovalState.PENDING


@pytest.mark.parametrize("intent_hash", ["", OTHER_HASH, HASH[:12]])
async def test_another_intent_hash_or_none_decides_nothing(house: House, approver: Browser, intent_hash: str) -> None:
    assert (await approver.decide("approve", intent_hash=intent_hash)).status_code == 409
    assert house.state() is ApprovalState.PENDING


async def test_a_stale_page_shows_the_new_content_and_that_can_be_approved(house: House, approver: Browser) -> None:
    shown = await approver.hidden() | {"choice": "approve"}
    changed = replace(approval_sheet(), impact=replace(REFUND, money=Money(35000, "KRW")))
    house.store.revise(changed, OTHER_HASH)
    stale = await approver.post(DECISION, shown)
    assert stale.status_code == 409
    assert "₩35,000" in stale.text
    assert OTHER_HASH in stale.text
    assert (await approver.decide("approve")).status_code == 200
    assert house.store.approvals["approval-1"].approval.revision == 2


async def test_a_double_click_is_answered_twice_and_counts_once(house: House, approver: Browser) -> None:
    form = await approver.hidden() | {"choice": "approve"}
    first, second = await asyncio.gather(approver.post(DECISION, form), approver.post(DECISION, form))
    assert (first.status_code, second.status_code) == (200, 200)
    assert "had already counted" in first.text + second.text
    assert len(house.store.approvals["approval-1"].votes) == 1


async def test_the_second_approver_is_told_who_decided_and_that_nothing_changed(
    house: House, approver: Browser, second_approver: Browser
) -> None:
    late = await second_approver.hidden() | {"choice": "deny", "reason": "No"}
    await approver.decide("approve")
    answer = await second_approver.post(DECISION, late)
    assert answer.status_code == 409
    assert "Already decided" in answer.text
    assert "Approved by Refund approver (approver-1) on 2 Mar 2026, 12:00 UTC." in answer.text
    assert "Nothing was changed by your click." in answer.text
    assert house.state() is ApprovalState.GRANTED


async def test_an_approval_against_a_denial_is_told_the_actual_outcome(
    house: House, approver: Browser, second_approver: Browser
) -> None:
    late = await approver.hidden() | {"choice": "approve"}
    await second_approver.decide("deny", "Not ours")
    answer = await approver.post(DECISION, late)
    assert "Denied by Second refund approver (approver-2)" in answer.text
    assert house.state() is ApprovalState.DENIED


async def test_two_of_two_needs_two_people(house: House, approver: Browser, second_approver: Browser) -> None:
    house.store.ask(approval_sheet(quorum=2))
    form = await approver.hidden() | {"choice": "approve"}
    first = await approver.post(DECISION, form)
    assert "1 of 2 approvals. It goes on when one more person has approved." in first.text
    assert "had already counted" in (await approver.post(DECISION, form)).text
    assert house.state() is ApprovalState.PENDING
    await second_approver.decide("approve")
    assert house.state() is ApprovalState.GRANTED


async def test_one_denial_ends_a_quorum_of_two(house: House, approver: Browser, second_approver: Browser) -> None:
    house.store.ask(approval_sheet(quorum=2))
    await approver.decide("approve")
    await second_approver.decide("deny", "Wrong order")
    assert house.state() is ApprovalState.DENIED


async def test_a_person_cannot_take_back_their_word(house: House, approver: Browser) -> None:
    house.store.ask(approval_sheet(quorum=2))
    form = await approver.hidden() | {"choice": "deny", "reason": "Changed my mind"}
    await approver.decide("approve")
    answer = await approver.post(DECISION, form)
    assert answer.status_code == 409
    assert "You have already decided" in answer.text


async def test_a_question_that_ended_with_one_of_two_approvals_is_not_called_approved(
    house: House, approver: Browser
) -> None:
    house.store.ask(approval_sheet(quorum=2))
    await approver.decide("approve")
    voted = house.store.approvals["approval-1"]
    house.store.ask(replace(voted, approval=replace(voted.approval, state=ApprovalState.EXPIRED)))
    page = (await approver.get(PAGE)).text
    assert "Nobody decided in time." in page
    assert "Approved by" not in page


async def test_a_late_click_is_told_that_it_is_too_late(house: House, approver: Browser) -> None:
    house.store.ask(
        replace(approval_sheet(), approval=replace(approval_sheet().approval, expires_at=NOON + timedelta(minutes=40)))
    )
    form = await approver.hidden() | {"choice": "approve"}
    house.clock.advance(minutes=40)
    answer = await approver.post(DECISION, form)
    assert answer.status_code == 409
    assert "Too late to decide" in answer.text
    assert "/decision" not in answer.text
    assert house.state() is ApprovalState.PENDING


async def test_nobody_decides_on_their_own_request(house: House, approver: Browser) -> None:
    form = await approver.hidden() | {"choice": "approve"}
    own = approval_sheet()
    house.store.ask(replace(own, requester=replace(own.requester, subject="approver-1")))
    answer = await approver.post(DECISION, form)
    assert answer.status_code == 403
    assert "You asked for it yourself" in answer.text
    assert house.state() is ApprovalState.PENDING


@pytest.mark.parametrize("person", ["viewer-1", "operator-1"])
async def test_without_the_role_there_is_no_form_and_no_decision(house: House, person: str) -> None:
    browser = await house.signed_in(person)
    page = (await browser.get(PAGE)).text
    assert "/decision" not in page
    assert "Not yours to decide" in page
    answer = await browser.decide("approve", revision="1", intent_hash=HASH)
    assert answer.status_code == 403
    assert house.state() is ApprovalState.PENDING


@pytest.mark.parametrize("state", [state for state in ApprovalState if state is not ApprovalState.PENDING])
async def test_an_ended_approval_takes_no_form(house: House, approver: Browser, state: ApprovalState) -> None:
    form = await approver.hidden() | {"choice": "approve"}
    ended = approval_sheet()
    house.store.ask(replace(ended, approval=replace(ended.approval, state=state)))
    assert "/decision" not in (await approver.get(PAGE)).text
    assert (await approver.post(DECISION, form)).status_code == 409
    assert house.state() is state
