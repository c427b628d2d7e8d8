"""The back office as a browser meets it: sign-in, the decision, and what others wrote kept inert."""

import asyncio
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from fastapi import FastAPI

from adapters.http.back_office import BackOfficeSettings, mount
from adapters.http.back_office.figures import Amount, amount, distance, fingerprint
from adapters.http.back_office.inert_text import marked, visible
from adapters.http.back_office.languages import ENGLISH
from adapters.http.back_office.ports import ApprovalReference
from adapters.http.back_office.refusal import PageRefused
from adapters.http.back_office.sign_in import admitted
from adapters.http.identity import TokenVerifier
from adapters.http.issuer import Issuer, IssuerKeys
from tests.unit.back_office_house import (
    DECISION,
    HERE,
    INBOX,
    ISSUER,
    OWN_PAGE,
    PAGE,
    SECRET,
    Browser,
    House,
    application,
)
from tests.unit.back_office_sheets import HASH, OTHER_HASH, REFUND, approval_sheet, of_tenant, operation_sheet
from tests.unit.memory_back_office import NOON, MemoryBackOffice
from workflows.domain.approval import ApprovalState
from workflows.domain.errors import InvalidConfiguration, StoreUnavailable
from workflows.domain.impact import Fact, Money
from workflows.domain.lifecycle import State


@pytest.fixture
async def approver(house: House) -> Browser:
    return await house.signed_in("approver-1")


@pytest.fixture
async def second_approver(house: House) -> Browser:
    return await house.signed_in("approver-2")


# ── coming in ──


async def test_the_root_address_leads_to_the_back_office(house: House) -> None:
    assert (await house.browser().get("/")).headers["location"] == INBOX


@pytest.mark.parametrize("path", [INBOX, PAGE, "/back-office/operations", "/back-office/operations/operation-1"])
async def test_nobody_sees_a_page_without_signing_in(house: House, path: str) -> None:
    answer = await house.browser().get(path)
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/back-office/sign-in?next=")


async def test_a_person_comes_back_to_the_page_that_they_wanted(house: House) -> None:
    browser = house.browser()
    answer = await browser.sign_in("approver-1", f"/back-office/sign-in/start?next={PAGE}")
    assert answer.headers["location"] == PAGE
    assert (await browser.get(PAGE)).status_code == 200


async def test_the_link_that_an_agent_is_given_survives_the_sign_in(house: House) -> None:
    wanted = "/back-office/operations/op_1/approval"
    answer = await house.browser().sign_in("approver-1", f"/back-office/sign-in/start?next={wanted}")
    assert answer.headers["location"] == wanted


@pytest.mark.parametrize("elsewhere", ["https://evil.test/", "//evil.test/", "/back-office/..//evil.test", "/v1/x"])
async def test_signing_in_never_leads_elsewhere(house: House, elsewhere: str) -> None:
    answer = await house.browser().sign_in("approver-1", f"/back-office/sign-in/start?next={elsewhere}")
    assert answer.headers["location"] == INBOX


async def test_the_session_cookie_is_out_of_reach_of_scripts_and_other_sites(house: House) -> None:
    cookies = (await house.browser().sign_in("approver-1")).headers.get_list("set-cookie")
    session = next(cookie for cookie in cookies if cookie.startswith("onceward_session="))
    assert {"HttpOnly", "SameSite=lax", "Path=/", "Max-Age=28800"} <= set(session.split("; "))


async def test_the_cookie_travels_over_https_only_when_the_public_address_is_https(
    house: House, development_issuer: httpx2.ASGITransport
) -> None:
    seen = Issuer(ISSUER, httpx2.AsyncClient(transport=development_issuer))
    app = FastAPI()
    settings = BackOfficeSettings("https://office.test", SECRET)
    verifier = TokenVerifier(IssuerKeys(seen), issuer=ISSUER, audience="onceward")
    mount(app, store=house.store, sessions=house.sessions, verifier=verifier, issuer=seen, settings=settings)
    client = httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="https://office.test")
    answer = await client.get("/back-office/sign-in/start")
    assert answer.headers["set-cookie"].startswith("__Host-onceward_sign_in=")
    assert "Secure" in answer.headers["set-cookie"]
    assert answer.headers["strict-transport-security"]


async def test_each_sign_in_is_a_new_session(house: House, approver: Browser) -> None:
    before = (approver.client.cookies["onceward_session"], (await approver.hidden())["csrf"])
    await approver.sign_in("approver-1")
    after = (approver.client.cookies["onceward_session"], (await approver.hidden())["csrf"])
    assert before[0] != after[0]
    assert before[1] != after[1]


async def test_a_changed_cookie_is_nobody(approver: Browser) -> None:
    value = approver.client.cookies["onceward_session"]
    approver.client.cookies.clear()
    approver.client.cookies.set("onceward_session", value[:-4] + "AAAA")
    assert (await approver.get(INBOX)).status_code == 303


async def test_the_cookie_of_a_sign_in_under_way_is_no_session(house: House) -> None:
    browser = house.browser()
    await browser.get("/back-office/sign-in/start")
    browser.client.cookies.set("onceward_session", browser.client.cookies["onceward_sign_in"])
    assert (await browser.get(INBOX)).status_code == 303


async def test_an_answer_that_another_browser_asked_for_signs_nobody_in(house: House) -> None:
    theirs = house.browser()
    leaving = await theirs.get("/back-office/sign-in/start")
    form = {name: values[0] for name, values in parse_qs(urlsplit(leaving.headers["location"]).query).items()}
    chosen = await theirs.client.post(f"{ISSUER}/authorize", data={**form, "person": "approver-1"})
    mine = house.browser()
    assert (await mine.get(chosen.headers["location"])).status_code == 400
    await mine.get("/back-office/sign-in/start")
    assert (await mine.get(chosen.headers["location"])).status_code == 400
    assert "onceward_session" not in mine.client.cookies


@pytest.mark.parametrize(
    "spoil",
    [
        lambda address: re.sub(r"state=[^&]+", "state=other", address),
        lambda address: re.sub(r"code=[^&]+", "code=other", address),
        lambda address: re.sub(r"iss=[^&]+", "iss=https%3A%2F%2Fother.test", address),
        lambda address: address.split("?")[0] + "?error=access_denied",
    ],
)
async def test_a_foreign_or_failed_answer_signs_nobody_in(house: House, spoil: Callable[[str], str]) -> None:
    browser = house.browser()
    leaving = await browser.get("/back-office/sign-in/start")
    form = {name: values[0] for name, values in parse_qs(urlsplit(leaving.headers["location"]).query).items()}
    chosen = await browser.client.post(f"{ISSUER}/authorize", data={**form, "person": "approver-1"})
    assert (await browser.get(spoil(chosen.headers["location"]))).status_code == 400
    assert "onceward_session" not in browser.client.cookies


async def test_a_token_with_another_nonce_signs_nobody_in(house: House) -> None:
    browser = house.browser()
    leaving = await browser.get("/back-office/sign-in/start")
    form = {name: values[0] for name, values in parse_qs(urlsplit(leaving.headers["location"]).query).items()}
    chosen = await browser.client.post(f"{ISSUER}/authorize", data={**form, "nonce": "other", "person": "approver-1"})
    assert (await browser.get(chosen.headers["location"])).status_code == 400


@pytest.mark.parametrize(
    ("claims", "status"),
    [
        ({"roles": ["approver:refunds"], "act": {"sub": "support-agent"}}, 403),
        ({"roles": ["customer"]}, 403),
        ({"roles": []}, 403),
        ({"roles": ["approver:refunds"], "act": "odd"}, 400),
    ],
)
def test_agents_and_people_without_a_role_cannot_sign_in(claims: dict[str, Any], status: int) -> None:
    with pytest.raises(PageRefused) as caught:
        admitted({"sub": "user-1", "tenant": "tenant-a", **claims})
    assert caught.value.status == status


async def test_an_agents_bearer_token_opens_no_page(house: House) -> None:
    browser = house.browser()
    answer = await browser.client.get(INBOX, headers={"Authorization": "Bearer anything"})
    assert answer.status_code == 303


async def test_an_absent_issuer_is_said_in_words(house: House) -> None:
    def gone(_: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectError("gone")

    app = application(house.store, house.clock, httpx2.MockTransport(gone))
    client = httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url=HERE)
    answer = await client.get("/back-office/sign-in/start")
    assert answer.status_code == 503
    assert "does not answer" in answer.text


async def test_signing_out_takes_a_form_of_ours(house: House, approver: Browser) -> None:
    csrf = (await approver.hidden(INBOX))["csrf"]
    assert (await approver.get("/back-office/sign-out")).status_code == 405
    assert (await approver.post("/back-office/sign-out", {"csrf": "wrong"})).status_code == 403
    assert (await approver.get(INBOX)).status_code == 200
    await approver.post("/back-office/sign-out", {"csrf": csrf})
    assert (await approver.get(INBOX)).status_code == 303


# ── reading ──


async def test_the_inbox_shows_what_an_approver_sorts_by(house: House, approver: Browser) -> None:
    page = (await approver.get(INBOX)).text
    for shown in ("Refund a payment", "order-1001", "₩12,000", "KRW", "support-7", "support-agent", "execute_refund"):
        assert shown in page
    assert "Asked 18 minutes ago" in page
    assert "Ends in 2 days" in page


async def test_an_empty_inbox_says_so(house: House, approver: Browser) -> None:
    house.store.approvals.clear()
    assert "Nothing waits for a decision." in (await approver.get(INBOX)).text


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


async def test_another_tenants_operation_is_absent(house: House, approver: Browser) -> None:
    house.store.record(operation_sheet("operation-b"), "tenant-b")
    house.store.record(operation_sheet("operation-a"))
    assert (await approver.get("/back-office/operations/operation-b")).status_code == 404
    page = (await approver.get("/back-office/operations")).text
    assert "operation-a" in page
    assert "operation-b" not in page


@pytest.mark.parametrize(
    "path", ["approvals/%00", "approvals/a%20b", "operations/..%2F", "operations/%E2%80%AE", "nope"]
)
async def test_an_odd_address_is_absent(approver: Browser, path: str) -> None:
    assert (await approver.get(f"/back-office/{path}")).status_code == 404


async def test_the_operation_page_tells_the_whole_story(house: House, approver: Browser) -> None:
    house.store.record(operation_sheet())
    page = (await approver.get("/back-office/operations/operation-1")).text
    for shown in ("It was sent and no answer came", "Sent; no answer came in time", "generation 2", "re_88421"):
        assert shown in page
    for shown in ("Fits the business rules", "Ask a person", "Approved and used", PAGE):
        assert shown in page
    assert 'href="http://localhost:8233/w/operation-1"' in page


async def test_a_read_that_succeeded_claims_no_effect_and_leads_to_no_workflow(house: House, approver: Browser) -> None:
    read = operation_sheet(state=State.SUCCEEDED)
    house.store.record(replace(read, line=replace(read.line, writes=False), reference=None, idempotency_key=""))
    page = (await approver.get("/back-office/operations/operation-1")).text
    assert "It was read. Nothing was changed." in page
    for absent in ("It is done, once", "Receipt", "Generation", "Key sent", "workflow console"):
        assert absent not in page


async def test_what_an_operation_waits_for_is_said_as_a_sentence(house: House, approver: Browser) -> None:
    house.store.record(operation_sheet())
    for path in ("operations", "operations/operation-1"):
        page = (await approver.get(f"/back-office/{path}")).text
        assert "Waits for the next look at the payments provider" in page


@pytest.mark.parametrize("state", [State.FAILED_TERMINAL, State.FAILED_RETRYABLE])
async def test_what_ended_without_effect_promises_no_receipt(house: House, approver: Browser, state: State) -> None:
    house.store.record(replace(operation_sheet(state=state), reference=None, idempotency_key=""))
    page = (await approver.get("/back-office/operations/operation-1")).text
    assert "Receipt" not in page
    assert "None yet" not in page
    assert '<dt>Key sent</dt><dd class="id">—</dd>' in page


async def test_whoever_knows_the_operation_only_is_led_to_its_newest_approval(house: House, approver: Browser) -> None:
    sheet = operation_sheet()
    newer = ApprovalReference("approval-2", 2, ApprovalState.PENDING)
    house.store.record(replace(sheet, approvals=(newer, *sheet.approvals)))
    house.store.record(replace(operation_sheet("operation-2"), approvals=()))
    house.store.record(operation_sheet("operation-b"), "tenant-b")
    led = {
        name: await approver.get(f"/back-office/operations/{name}/approval") for name in ("operation-1", "operation-2")
    }
    assert led["operation-1"].headers["location"] == "/back-office/approvals/approval-2"
    assert led["operation-2"].headers["location"] == "/back-office/operations/operation-2"
    assert (await approver.get("/back-office/operations/operation-b/approval")).status_code == 404


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


# ── deciding ──


async def test_an_approval_counts_and_says_so(house: House, approver: Browser) -> None:
    answer = await approver.decide("approve")
    assert answer.status_code == 200
    assert "Your approval counted" in answer.text
    assert house.state() is ApprovalState.GRANTED


async def test_a_denial_counts_with_its_reason(house: House, approver: Browser) -> None:
    answer = await approver.decide("deny", "The order was never delivered.\r\nAsk again.")
    assert "Your denial counted" in answer.text
    assert house.store.approvals["approval-1"].votes[0].reason == "The order was never delivered.\nAsk again."
    assert house.state() is ApprovalState.DENIED


async def test_a_denial_without_a_reason_decides_nothing(house: House, approver: Browser) -> None:
    answer = await approver.decide("deny", "  ")
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


# ── what others wrote ──

HOSTILE = (
    Fact("payee", "Kim\u202etfel\u2066"),
    Fact("note", "<img src=x onerror=alert(1)><script>alert(1)</script>"),
    Fact("link", "[ok](javascript:alert(1)) https://evil.test"),
    Fact("template", "{{ 7*7 }}{% raw %}"),
    Fact("e\u200bmail", "p\u0430yments@shop.test"),
    Fact("long", "APPROVED BY CFO\n" * 5000),
)


async def test_hostile_values_are_shown_as_inert_text(house: House, approver: Browser) -> None:
    impact = replace(REFUND, action="Refund\u202e <b>all</b>", facts=HOSTILE)
    hostile = replace(approval_sheet(impact=impact), arguments=HOSTILE, why="'\"><svg onload=alert(1)>")
    house.store.ask(hostile)
    for path in (INBOX, PAGE):
        page = (await approver.get(path)).text
        assert not re.search(r"<(script|img src=x|svg|b>)", page)
        assert not re.search("[\u200b\u202e\u2066]", page)
    assert r"\u{202E}" in page
    assert "{{ 7*7 }}" in page
    assert "mixes alphabets" in page
    assert 'href="javascript' not in page
    assert 'href="https://evil' not in page


async def test_a_long_value_stands_after_the_key_facts_and_the_amount(house: House, approver: Browser) -> None:
    house.store.ask(replace(approval_sheet(), arguments=HOSTILE))
    page = (await approver.get(PAGE)).text
    assert page.index("₩12,000") < page.index("Key facts") < page.index("Still refundable") < page.index("APPROVED BY")
    assert "80,000 characters, scroll to read all" in page


async def test_a_hostile_downstream_is_inert_on_the_operation_page(house: House, approver: Browser) -> None:
    sheet = replace(operation_sheet(), reference="<script>1</script>\u202e", evidence=HOSTILE)
    house.store.record(sheet)
    page = (await approver.get("/back-office/operations/operation-1")).text
    assert "<script>" not in page
    assert "\u202e" not in page


async def test_a_typed_reason_comes_back_as_text(house: House, approver: Browser) -> None:
    answer = await approver.decide("approve", "</textarea><script>1</script>", revision="9")
    assert "<script>" not in answer.text
    assert "&lt;/textarea&gt;" in answer.text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain – text, 한글, ñ", "plain – text, 한글, ñ"),
        ("a\u202eb", r"a\u{202E}b"),
        ("a\u200bb\ufeff", r"a\u{200B}b\u{FEFF}"),
        ("line\nnext\tx\r", r"line\nnext\tx\r"),
        ("nul\0 esc\x1b[31m \x9b", r"nul\u{0000} esc\u{001B}[31m \u{009B}"),
        ("a\u00a0b\u3000c", r"a\u{00A0}b\u{3000}c"),
        ("\u3164\u2800\uffa0", r"\u{3164}\u{2800}\u{FFA0}"),
        ("tag\U000e0041", r"tag\u{E0041}"),
        ("half\ud800", r"half\u{D800}"),
        ("sep\u2028", r"sep\u{2028}"),
    ],
)
def test_what_cannot_be_seen_is_shown_as_an_escape(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_a_typed_escape_is_not_taken_for_a_real_one() -> None:
    assert marked(r"\u{202E}") == r"\u{202E}"
    assert marked("\u202e") == r'<span class="unseen">\u{202E}</span>'


@pytest.mark.parametrize(
    ("word", "remark"),
    [
        ("p\u0430y", "mixes alphabets"),
        ("１２０", "unusual digits"),
        ("카카오pay", ""),
        ("оплата", ""),
        ("order-1001", ""),
    ],
)
def test_dubious_words_are_marked(word: str, remark: str) -> None:
    assert (">" + remark in marked(word)) if remark else (marked(word) == word)


@pytest.mark.parametrize(
    ("money", "figure"),
    [
        (Money(12000, "KRW"), "₩12,000"),
        (Money(250050, "USD"), "$2,500.50"),
        (Money(1234567, "KWD"), "1,234.567"),
        (Money(-5, "EUR"), "-€0.05"),
        (Money(7, "XXX"), "7 minor units"),
        (Money(1500, "IQD"), "1.500"),
        (Money(2**70, "KRW"), "₩1,180,591,620,717,411,303,424"),
    ],
)
def test_an_amount_is_written_with_the_digits_of_its_currency(money: Money, figure: str) -> None:
    assert amount(money, ENGLISH) == Amount(figure, money.currency)


@pytest.mark.parametrize(
    ("delta", "words"),
    [
        ({"seconds": 30}, "in less than a minute"),
        ({"seconds": -61}, "1 minute ago"),
        ({"minutes": 59, "seconds": 45}, "in 1 hour"),
        ({"hours": 1}, "in 1 hour"),
        ({"hours": 23, "minutes": 50}, "in 1 day"),
        ({"days": 2, "hours": 23, "minutes": 45}, "in 3 days"),
        ({"days": 2, "hours": 5}, "in 2 days"),
        ({"days": -3}, "3 days ago"),
    ],
)
def test_times_are_told_as_distances(delta: dict[str, float], words: str) -> None:
    assert distance(NOON + timedelta(**delta), NOON, ENGLISH) == words


def test_a_fingerprint_is_short_enough_to_compare() -> None:
    assert fingerprint(HASH) == "3f9a 1c22 90be"


# ── every answer ──


async def test_every_answer_carries_the_security_headers(house: House, approver: Browser) -> None:
    house.store.record(operation_sheet())
    paths = [INBOX, PAGE, "/back-office/operations", "/back-office/operations/operation-1", "/back-office/nope"]
    answers = [await approver.get(path) for path in (*paths, DECISION, "/back-office/assets/back-office.css")]
    answers += [
        await house.browser().get(path) for path in ("/back-office/sign-in", "/back-office/sign-in/start", INBOX)
    ]
    answers.append(await approver.decide("approve", revision="9"))
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; style-src 'self'")
        assert "script-src" not in policy
        for rule in ("form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'"):
            assert rule in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cache-control"] == "no-store"


async def test_pages_need_nothing_from_elsewhere_and_no_script(house: House, approver: Browser) -> None:
    house.store.record(operation_sheet())
    for path in (INBOX, PAGE, "/back-office/operations/operation-1"):
        page = (await approver.get(path)).text
        assert not re.search(r"<script|<style| style=| on\w+=", page)
        assert all(
            source.startswith("/back-office/") for source in re.findall(r'(?:src|<link[^>]* href)="([^"]*)"', page)
        )


async def test_a_surprise_says_nothing_of_the_inside(house: House, development_issuer: httpx2.ASGITransport) -> None:
    class BrokenBackOffice(MemoryBackOffice):
        """Cannot be read."""

        async def pending(self, viewer: Any, query: Any = None) -> Any:
            raise RuntimeError("secret-of-the-house")

    app = application(BrokenBackOffice(house.clock), house.clock, development_issuer)
    here = httpx2.ASGITransport(app, raise_app_exceptions=False)
    browser = Browser({HERE: here, ISSUER: development_issuer})
    await browser.sign_in("approver-1")
    answer = await browser.get(INBOX)
    assert answer.status_code == 500
    assert "secret-of-the-house" not in answer.text
    assert answer.headers["content-security-policy"]


async def test_an_outage_of_the_store_says_that_a_word_may_have_counted(
    house: House, development_issuer: httpx2.ASGITransport
) -> None:
    class AwayWhenAskedToDecide(MemoryBackOffice):
        """Can be read, and is gone when a decision comes."""

        async def decide(self, *_: Any) -> Any:
            raise StoreUnavailable

    store = AwayWhenAskedToDecide(house.clock)
    store.ask(approval_sheet())
    here = httpx2.ASGITransport(application(store, house.clock, development_issuer))
    browser = Browser({HERE: here, ISSUER: development_issuer})
    await browser.sign_in("approver-1")
    answer = await browser.decide("approve")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert "your word may have counted" in answer.text


@pytest.mark.parametrize(
    "wrong",
    [
        {"public_url": "localhost:8000"},
        {"public_url": "ftp://office.test"},
        {"session_secret": "short"},
        {"console_workflow_url": "javascript:alert(1)"},
    ],
)
def test_unfit_settings_stop_the_start(wrong: dict[str, str]) -> None:
    with pytest.raises(InvalidConfiguration):
        BackOfficeSettings(**{"public_url": HERE, "session_secret": SECRET, **wrong})
