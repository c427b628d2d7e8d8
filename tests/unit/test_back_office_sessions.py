"""Sessions as a browser meets them: how one begins, is renewed, and ends everywhere it should."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from datetime import timedelta
from html import escape
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2
import pytest
from fastapi import FastAPI

from adapters.http.back_office.application import mount
from adapters.http.back_office.own_pages import HOME, own_page, page_to_return_to
from adapters.http.back_office.session_store import BELIEVED_FOR, RENEWED_AFTER
from adapters.http.back_office.settings import BackOfficeSettings
from adapters.http.identity import TokenVerifier
from adapters.http.issuer import Issuer, IssuerKeys
from tests.fakes.sessions import MemorySessions
from tests.support.led import AT_ONCE, led_on
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
from worker.dev import issuer as development
from worker.dev.people import PEOPLE, Person
from workflows.domain.approval import ApprovalState
from workflows.domain.errors import StoreUnavailable

COOKIE = "onceward_session"


@pytest.fixture
async def approver(house: House) -> Browser:
    return await house.signed_in("approver-1")


def cookie_of(browser: Browser) -> str:
    return str(browser.client.cookies[COOKIE])


def with_cookie(house: House, value: str) -> Browser:
    browser = house.browser()
    browser.client.cookies.set(COOKIE, value, domain="localhost.local")
    return browser


async def seen(browser: Browser, path: str = INBOX) -> httpx2.Response:
    """The page that a person sees in the end, wherever their browser is led on the way."""
    return await led_on(browser.client, await browser.client.get(path, follow_redirects=True))


def the_issuer_now_knows(monkeypatch: pytest.MonkeyPatch, people: Sequence[Person]) -> None:
    monkeypatch.setattr(development, "PEOPLE", tuple(people))


# ── how one ends ──


async def test_a_session_ends_eight_hours_after_the_sign_in_whatever_was_done(house: House, approver: Browser) -> None:
    for _ in range(19):
        house.clock.advance(minutes=25)
        assert (await seen(approver)).url.path == INBOX
    house.clock.advance(minutes=5)
    assert (await approver.get(INBOX)).headers["location"] == "/back-office/sign-in?next=%2Fback-office%2F"


async def test_a_session_that_nobody_uses_ends(house: House, approver: Browser) -> None:
    house.clock.advance(minutes=44)
    assert (await seen(approver)).url.path == INBOX
    house.clock.advance(minutes=45)
    assert (await seen(approver)).url.path == "/back-office/sign-in"


async def test_after_signing_out_the_old_cookie_is_worth_nothing_anywhere(house: House, approver: Browser) -> None:
    stolen = with_cookie(house, cookie_of(approver))
    assert (await stolen.get(INBOX)).status_code == 200
    form = await stolen.hidden() | {"choice": "approve"}
    await approver.post("/back-office/sign-out", {"csrf": (await approver.hidden(INBOX))["csrf"]})
    assert (await stolen.get(INBOX)).status_code == 303
    assert (await stolen.post(DECISION, form)).status_code == 303
    assert house.state() is ApprovalState.PENDING
    assert house.store.attempts == []


async def test_signing_out_leaves_a_persons_other_browsers_alone(house: House, approver: Browser) -> None:
    elsewhere = await house.signed_in("approver-1")
    await approver.post("/back-office/sign-out", {"csrf": (await approver.hidden(INBOX))["csrf"]})
    assert (await elsewhere.get(INBOX)).status_code == 200


async def test_all_sessions_of_a_person_end_at_their_word_and_nobody_elses(house: House, approver: Browser) -> None:
    elsewhere, other = await house.signed_in("approver-1"), await house.signed_in("approver-2")
    form = {"csrf": (await approver.hidden(INBOX))["csrf"], "everywhere": "yes"}
    assert "End all my sessions" in (await approver.get(INBOX)).text
    await approver.post("/back-office/sign-out", form)
    assert [(await each.get(INBOX)).status_code for each in (approver, elsewhere, other)] == [303, 303, 200]


async def test_an_eleventh_sign_in_ends_the_first(house: House) -> None:
    browsers = [await house.signed_in("approver-1") for _ in range(11)]
    assert [(await each.get(INBOX)).status_code for each in browsers] == [303, *[200] * 10]


# ── how one begins ──


async def test_a_cookie_that_somebody_planted_before_the_sign_in_is_not_the_sessions(house: House) -> None:
    planted = "planted-by-somebody-else"
    victim = with_cookie(house, planted)
    await victim.sign_in("approver-1")
    assert (await with_cookie(house, planted).get(INBOX)).status_code == 303


async def test_signing_in_again_ends_the_session_that_the_browser_had(house: House, approver: Browser) -> None:
    before = cookie_of(approver)
    await approver.sign_in("approver-2")
    assert (await with_cookie(house, before).get(INBOX)).status_code == 303


async def test_the_cookie_says_nothing_about_the_person(approver: Browser) -> None:
    assert len(cookie_of(approver)) == 43
    assert "approver" not in cookie_of(approver)


@pytest.mark.parametrize("value", ["", "x" * 5000, "../../etc", "%00", '"quoted"'])
async def test_an_odd_cookie_is_nobody(house: House, value: str) -> None:
    assert (await house.browser().client.get(INBOX, headers={"Cookie": f"{COOKIE}={value}"})).status_code == 303


async def slowly(form: dict[str, str], meanwhile: Callable[[], Awaitable[object]]) -> AsyncIterator[bytes]:
    """The form in two parts, and what happens between them."""
    whole = urlencode(form).encode()
    yield whole[:10]
    await meanwhile()
    yield whole[10:]


FORM = {**OWN_PAGE, "Content-Type": "application/x-www-form-urlencoded"}


async def test_a_form_that_was_begun_before_all_sessions_were_ended_counts_for_nothing(
    house: House, approver: Browser
) -> None:
    thief = with_cookie(house, cookie_of(approver))
    form = await thief.hidden() | {"choice": "approve"}
    own = {"csrf": (await approver.hidden(INBOX))["csrf"], "everywhere": "yes"}
    body = slowly(form, lambda: approver.post("/back-office/sign-out", own))
    assert (await thief.client.post(DECISION, content=body, headers=FORM)).status_code == 303
    assert house.store.attempts == []
    assert house.state() is ApprovalState.PENDING


async def test_a_form_that_was_begun_before_a_role_was_taken_away_counts_for_what_is_left(
    house: House, approver: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    form = await approver.hidden() | {"choice": "approve"}

    async def taken_away() -> None:
        the_issuer_now_knows(monkeypatch, [Person("approver-1", "Refund approver", "tenant-a", ("viewer",))])
        house.clock.advance(minutes=16)
        await seen(approver)

    answer = await approver.client.post(DECISION, content=slowly(form, taken_away), headers=FORM)
    assert answer.status_code != 200
    assert house.state() is ApprovalState.PENDING


async def test_a_session_of_one_issuer_is_none_for_a_door_that_believes_another(
    house: House, approver: Browser
) -> None:
    other, app = "http://localhost:8401", FastAPI()
    mount(
        app,
        store=house.store,
        sessions=house.sessions,
        audit=house.audit,
        dashboard=house.dashboard,
        verifier=TokenVerifier(IssuerKeys(seen := Issuer(other, httpx2.AsyncClient())), issuer=other, audience="x"),
        issuer=seen,
        settings=BackOfficeSettings(HERE, SECRET),
        clock=house.clock,
    )
    elsewhere = Browser({HERE: httpx2.ASGITransport(app)})
    elsewhere.client.cookies.set(COOKIE, cookie_of(approver), domain="localhost.local")
    assert (await elsewhere.get(INBOX)).headers["location"].startswith("/back-office/sign-in?")
    assert (await approver.get(INBOX)).status_code == 200


# ── how one is renewed ──


async def test_a_page_after_a_quarter_of_an_hour_asks_the_issuer_without_asking_the_person(
    house: House, approver: Browser
) -> None:
    before, csrf = cookie_of(approver), (await approver.hidden())["csrf"]
    house.clock.advance(minutes=16)
    assert (await approver.get(f"{INBOX}?tool=x")).headers["location"].startswith("/back-office/sign-in/renewal?next=")
    page = await seen(approver, f"{PAGE}?from=list")
    assert (page.status_code, page.url.path, page.url.query) == (200, PAGE, b"from=list")
    assert cookie_of(approver) != before
    assert (await approver.hidden())["csrf"] == csrf
    assert (await approver.get(INBOX)).status_code == 200
    assert len(house.sessions.sittings) == 1


async def test_a_form_that_was_open_meanwhile_still_counts(house: House, approver: Browser) -> None:
    form = await approver.hidden() | {"choice": "approve"}
    house.clock.advance(minutes=40)
    assert (await approver.post(DECISION, form)).status_code == 200
    assert house.state() is ApprovalState.GRANTED


async def test_a_form_that_another_tab_was_renewed_beside_still_counts(house: House, approver: Browser) -> None:
    form = await approver.hidden() | {"choice": "approve"}
    house.clock.advance(minutes=20)
    await seen(approver)
    house.clock.advance(minutes=10)
    assert (await approver.post(DECISION, form)).status_code == 200


async def test_the_cookie_from_before_a_renewal_is_soon_worth_nothing(house: House, approver: Browser) -> None:
    stolen = with_cookie(house, cookie_of(approver))
    house.clock.advance(minutes=16)
    await seen(approver)
    assert (await stolen.get(INBOX)).status_code == 200
    house.clock.advance(minutes=1)
    assert (await stolen.get(INBOX)).status_code == 303
    assert (await approver.get(INBOX)).status_code == 200


async def test_a_role_that_was_taken_away_is_gone_with_the_next_page(
    house: House, approver: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    the_issuer_now_knows(monkeypatch, [Person("approver-1", "Refund approver", "tenant-a", ("viewer",))])
    house.clock.advance(minutes=16)
    page = await seen(approver, PAGE)
    assert page.status_code == 200
    assert "decision" not in page.text.split("<main")[1].partition("<form")[2]
    form = {"csrf": (await approver.hidden(INBOX))["csrf"], "choice": "approve", "revision": "1", "intent_hash": "x"}
    assert (await approver.post(DECISION, form)).status_code in (403, 409)
    assert house.state() is ApprovalState.PENDING


@pytest.mark.parametrize(
    "people", [[], [Person("approver-1", "Refund approver", "tenant-a", ("customer",))]], ids=["gone", "no role left"]
)
async def test_whoever_may_not_come_in_any_more_may_not_stay(
    house: House, approver: Browser, monkeypatch: pytest.MonkeyPatch, people: list[Person]
) -> None:
    stolen = with_cookie(house, cookie_of(approver))
    the_issuer_now_knows(monkeypatch, people)
    house.clock.advance(minutes=16)
    await seen(approver)
    assert all(sitting.ended for sitting in house.sessions.sittings)
    the_issuer_now_knows(monkeypatch, PEOPLE)
    assert (await stolen.get(INBOX)).headers["location"].startswith("/back-office/sign-in?")


async def test_a_session_is_not_handed_on_to_whoever_is_signed_in_at_the_issuer_now(
    house: House, approver: Browser
) -> None:
    approver.client.cookies.set("onceward_dev_issuer_person", "approver-2", domain="localhost.local")
    house.clock.advance(minutes=16)
    page = await seen(approver)
    assert page.url.path == "/back-office/sign-in"
    assert "approver-2" not in page.text
    assert all(sitting.ended for sitting in house.sessions.sittings)


async def test_without_a_word_of_the_issuer_nobody_decides_for_more_than_an_hour(
    house: House, approver: Browser
) -> None:
    form = await approver.hidden() | {"choice": "approve"}
    late = await approver.hidden() | {"choice": "approve", "revision": "99"}
    house.clock.advance(seconds=RENEWED_AFTER.total_seconds())
    for _ in range(3):
        house.clock.advance(minutes=14)
        assert (await approver.post(DECISION, late)).status_code == 409
    house.clock.advance(seconds=(BELIEVED_FOR - RENEWED_AFTER - timedelta(minutes=42)).total_seconds())
    assert (await approver.post(DECISION, form)).status_code == 303
    assert house.state() is ApprovalState.PENDING


async def test_two_pages_that_ask_the_issuer_at_once_both_come_back(house: House, approver: Browser) -> None:
    house.clock.advance(minutes=16)
    to_first = await approver.get(f"/back-office/sign-in/renewal?next={PAGE}")
    back_first = await approver.client.get(to_first.headers["refresh"].removeprefix(AT_ONCE))
    to_second = await approver.get(f"/back-office/sign-in/renewal?next={PAGE}")
    back_second = await approver.client.get(to_second.headers["refresh"].removeprefix(AT_ONCE))
    assert (await approver.client.get(back_first.headers["location"])).headers["location"] == INBOX
    assert (await approver.client.get(back_second.headers["location"])).headers["location"] == PAGE
    assert (await approver.get(PAGE)).status_code == 200


async def test_the_way_to_the_issuer_is_no_redirect_that_could_follow_a_form(house: House, approver: Browser) -> None:
    house.clock.advance(minutes=16)
    answer = await approver.client.get(f"{INBOX}?tool=x", follow_redirects=True)
    assert (answer.status_code, answer.url.path) == (200, "/back-office/sign-in/renewal")
    address = answer.headers["refresh"].removeprefix(AT_ONCE)
    assert address.startswith(f"{ISSUER}/authorize?")
    assert "prompt=none" in address
    assert escape(address) in answer.text


async def test_whoever_has_no_session_has_none_to_renew(house: House) -> None:
    answer = await house.browser().get(f"/back-office/sign-in/renewal?next={PAGE}")
    assert answer.headers["location"] == "/back-office/sign-in?next=%2Fback-office%2Fapprovals%2Fapproval-1"


UNFIT = {
    "refused": httpx2.Response(401, json={"error": "invalid_client"}),
    "without an id token": httpx2.Response(200, json={"access_token": "x", "token_type": "Bearer"}),
    "an id token that is none": httpx2.Response(200, json={"id_token": "a.b.c"}),
    "a list": httpx2.Response(200, json=[]),
    "no JSON": httpx2.Response(200, text="<html>"),
    "another address": httpx2.Response(302, headers={"Location": "https://elsewhere.test/"}),
}


@pytest.mark.parametrize("answer", UNFIT.values(), ids=UNFIT.keys())
async def test_an_issuer_that_answers_with_nothing_fit_leads_nobody_in_a_circle(
    house: House, approver: Browser, monkeypatch: pytest.MonkeyPatch, answer: httpx2.Response
) -> None:
    form = await approver.hidden() | {"choice": "approve"}
    answering(house, monkeypatch, answer)
    house.clock.advance(minutes=16)
    page = await seen(approver)
    assert (page.status_code, page.url.path) == (400, "/back-office/sign-in/callback")
    assert "has answered, but not with what is needed here" in page.text
    assert (await approver.post(DECISION, form)).status_code == 200


@pytest.mark.parametrize("status", [408, 429, 500, 503])
async def test_an_issuer_that_cannot_just_now_ends_no_session(
    house: House, approver: Browser, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    with monkeypatch.context() as busy:
        answering(house, busy, httpx2.Response(status))
        house.clock.advance(minutes=16)
        page = await seen(approver)
    assert page.status_code == 503
    assert "The sign-in service does not answer." in page.text
    assert (await seen(approver)).status_code == 200


@pytest.mark.parametrize("error", ["server_error", "temporarily_unavailable"])
async def test_an_issuer_that_says_that_it_is_busy_says_nothing_of_the_person(
    house: House, approver: Browser, error: str
) -> None:
    house.clock.advance(minutes=16)
    on = await approver.get(f"/back-office/sign-in/renewal?next={PAGE}")
    state = parse_qs(urlsplit(on.headers["refresh"].removeprefix(AT_ONCE)).query)["state"][0]
    page = await approver.get(f"/back-office/sign-in/callback?error={error}&state={state}")
    assert page.status_code == 503
    assert not any(sitting.ended for sitting in house.sessions.sittings)
    assert (await seen(approver)).status_code == 200


def answering(house: House, monkeypatch: pytest.MonkeyPatch, answer: httpx2.Response) -> None:
    """The issuer's token endpoint says this."""
    issuer = house.transports[ISSUER]
    ask = issuer.handle_async_request

    async def said(request: httpx2.Request) -> httpx2.Response:
        return answer if request.url.path == "/token" else await ask(request)

    monkeypatch.setattr(issuer, "handle_async_request", said)


# ── what may go wrong ──


class AbsentSessions(MemorySessions):
    """A store that does not answer."""

    async def find(self, fingerprint: str) -> None:
        raise StoreUnavailable


async def test_a_store_that_does_not_answer_is_said_in_words_and_decides_nothing(
    house: House, development_issuer: httpx2.ASGITransport
) -> None:
    app = application(house.store, house.clock, development_issuer, AbsentSessions(house.clock))
    client = httpx2.AsyncClient(transport=httpx2.ASGITransport(app, raise_app_exceptions=False), base_url=HERE)
    client.cookies.set(COOKIE, "something")
    for answer in (await client.get(PAGE), await client.post(DECISION, data={"choice": "approve"})):
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
        assert "The store does not answer." in answer.text
    assert house.store.attempts == []


@pytest.mark.parametrize(
    "elsewhere",
    [
        "https://evil.test/",
        "//evil.test/",
        "/\\evil.test",
        "\\\\evil.test",
        "/back-office/..//evil.test",
        "/back-office/\\evil.test",
        "/back-office/\r\nLocation: https://evil.test",
        "/back-office@evil.test",
        "/back-office.evil.test/",
        "javascript:alert(1)",
        "/back-office/?a=b#c",
        "/v1/turns",
        "",
        "/back-office/" + "a" * 3000,
    ],
)
def test_nobody_is_sent_elsewhere(elsewhere: str) -> None:
    assert own_page(elsewhere) == HOME
    assert page_to_return_to(elsewhere) == HOME


def test_a_sign_in_does_not_lead_to_another_sign_in() -> None:
    assert page_to_return_to("/back-office/sign-in/start") == HOME
    assert (
        page_to_return_to("/back-office/operations?state=open&after=5") == "/back-office/operations?state=open&after=5"
    )


def test_no_address_takes_long_to_look_at() -> None:
    began = time.process_time()
    assert own_page("/back-office/" + "a" * 1500 + "!") == HOME
    assert time.process_time() - began < 1
