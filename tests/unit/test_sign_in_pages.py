"""Coming in: who is let in, as whom, and for how long."""

import json
import re
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from fastapi import FastAPI

from adapters.http.back_office.admission import Doorkeeper
from adapters.http.back_office.application import mount
from adapters.http.back_office.code_flow import CodeFlow
from adapters.http.back_office.refusal import PageRefused
from adapters.http.back_office.settings import BackOfficeSettings
from adapters.http.identity import TokenVerifier
from adapters.http.issuer import Issuer, IssuerKeys
from tests.support.led import led_on
from tests.unit.back_office_house import HERE, INBOX, ISSUER, PAGE, SECRET, Browser, House, application
from worker.dev import issuer as development
from worker.dev.people import Person


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
    mount(
        app,
        store=house.store,
        sessions=house.sessions,
        audit=house.audit,
        dashboard=house.dashboard,
        verifier=verifier,
        issuer=seen,
        settings=settings,
    )
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
    assert refusals(house) == [("approver-1", {"code": "another_sign_in"})]


@pytest.mark.parametrize("claim", ["name", "sub", "nonce"])
async def test_an_answer_that_no_store_could_keep_signs_nobody_in(
    house: House, monkeypatch: pytest.MonkeyPatch, claim: str
) -> None:
    monkeypatch.setattr(development, "_manners", lambda _: {claim: "\ud800x"})
    browser = house.browser()
    assert (await browser.sign_in("approver-1")).status_code == 400
    assert "onceward_session" not in browser.client.cookies


@pytest.mark.parametrize(
    ("claims", "status"),
    [
        ({"roles": ["approver:refunds"], "act": {"sub": "support-agent"}}, 403),
        ({"roles": ["customer"]}, 403),
        ({"roles": []}, 403),
        ({"roles": ["approver:refunds"], "act": "odd"}, 400),
    ],
)
def test_agents_and_people_without_a_role_cannot_sign_in(house: House, claims: dict[str, Any], status: int) -> None:
    with pytest.raises(PageRefused) as caught:
        Doorkeeper(house.audit).admitted({"sub": "user-1", "tenant": "tenant-a", **claims})
    assert caught.value.status == status


@pytest.mark.parametrize("claims", [{"tenant": ["tenant-a"]}, {"roles": "approver:refunds"}, {"sub": ""}], ids=str)
async def test_whom_the_issuer_names_in_another_shape_is_not_told_that_they_took_too_long(
    house: House, monkeypatch: pytest.MonkeyPatch, claims: dict[str, Any]
) -> None:
    monkeypatch.setattr(development, "_manners", lambda _: claims)
    answer = await house.browser().sign_in("approver-1")
    assert answer.status_code == 400
    assert "has answered, but not with what is needed here" in answer.text
    assert "took too long" not in answer.text


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


# ── what the audit log is told of who is sent away ──


def refusals(house: House) -> list[tuple[str, dict[str, str]]]:
    lines = [line for line in house.audit.lines if line.what == "session.refused"]
    return [(line.actor, json.loads(line.detail)) for line in lines]


async def test_a_person_without_a_role_is_told_of_by_name_and_code(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(development, "PEOPLE", (Person("guest-1", "Somebody", "tenant-a", ("customer",)),))
    assert (await house.browser().sign_in("guest-1")).status_code == 403
    assert refusals(house) == [("guest-1", {"code": "no_role"})]
    assert house.audit.lines[0].tenant == "tenant-a"


async def test_an_agents_credential_is_told_of_with_whom_it_acts_for(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    acting = {"sub": "user-1", "tenant": "tenant-a", "roles": ["viewer"], "act": {"sub": "support-agent"}}
    monkeypatch.setattr(CodeFlow, "claims", answering(acting))
    browser = house.browser()
    await browser.get("/back-office/sign-in/start")
    assert (await browser.get("/back-office/sign-in/callback?code=x&state=y")).status_code == 403
    assert refusals(house) == [("support-agent", {"code": "acting_agent", "subject": "user-1"})]


async def test_of_an_answer_that_proves_nothing_nothing_is_told(house: House) -> None:
    browser = house.browser()
    await browser.get("/back-office/sign-in/start")
    for answer in ("code=made-up&state=made-up", "error=access_denied&error_description=Hello"):
        assert (await browser.get(f"/back-office/sign-in/callback?{answer}")).status_code == 400
    assert house.audit.lines == []


async def test_who_comes_back_for_somebody_elses_session_is_told_of(house: House, approver: Browser) -> None:
    approver.client.cookies.set("onceward_dev_issuer_person", "approver-2", domain="localhost.local")
    house.clock.advance(minutes=16)
    await led_on(approver.client, await approver.client.get(INBOX, follow_redirects=True))
    assert refusals(house) == [("approver-2", {"code": "another_person"})]


def answering(claims: dict[str, Any]) -> Callable[..., Awaitable[dict[str, Any]]]:
    """An issuer that names somebody to whoever asks."""

    async def named(*_: object) -> dict[str, Any]:
        return claims

    return named
