"""Sessions as a browser meets them: how one begins, is renewed, and ends everywhere it should."""

import time
from collections.abc import Sequence
from datetime import timedelta

import httpx2
import pytest

from adapters.http.back_office.own_pages import HOME, own_page, page_to_return_to
from adapters.http.back_office.session_store import BELIEVED_FOR, RENEWED_AFTER
from tests.fakes.sessions import MemorySessions
from tests.unit.back_office_house import DECISION, HERE, INBOX, PAGE, Browser, House, application
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
    return await browser.client.get(path, follow_redirects=True)


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
    back_first = await approver.client.get(to_first.headers["location"])
    to_second = await approver.get(f"/back-office/sign-in/renewal?next={PAGE}")
    back_second = await approver.client.get(to_second.headers["location"])
    assert (await approver.client.get(back_first.headers["location"])).headers["location"] == INBOX
    assert (await approver.client.get(back_second.headers["location"])).headers["location"] == PAGE
    assert (await approver.get(PAGE)).status_code == 200


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
