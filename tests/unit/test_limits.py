"""Who comes too often waits, and nobody else does."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import httpx2
import pytest
from fastapi import Depends, FastAPI, Header
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from adapters.http import limits
from adapters.http.headers import Headers
from adapters.http.identity import TokenVerifier, Unauthenticated
from adapters.http.issuer import Issuer, IssuerKeys
from adapters.http.limits import FailedCredentials, Limiter, Limits, address_of
from adapters.http.people import PersonIdentity
from adapters.http.problem_handlers import answer_with_problems
from tests.unit.back_office_house import DECISION, INBOX, ISSUER, OWN_PAGE, PAGE, house_of
from tests.unit.test_identity import HandClock
from worker.dev.issuer import DevelopmentIssuer, IssuerSettings, mint
from worker.rate_limits import RateLimitSettings
from workflows.domain.approval import ApprovalState
from workflows.domain.errors import Overloaded

SIGN_OUT = "/back-office/sign-out"


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


# ── counting ──


def test_so_many_may_pass_at_once_and_the_next_is_told_how_long_to_wait(clock: HandClock) -> None:
    limiter = Limiter(6, clock)
    assert [limiter.wait("a") for _ in range(8)] == [0] * 6 + [10, 10]
    clock.seconds += 9
    assert limiter.wait("a") == 1
    clock.seconds += 1
    assert [limiter.wait("a"), limiter.wait("a")] == [0, 10]


def test_what_was_turned_away_makes_nobody_wait_longer(clock: HandClock) -> None:
    limiter = Limiter(1, clock)
    assert limiter.wait("a") == 0
    for _ in range(100):
        limiter.wait("a")
    clock.seconds += 60
    assert limiter.wait("a") == 0


def test_whoever_keeps_the_pace_is_never_told_to_wait(clock: HandClock) -> None:
    limiter = Limiter(30, clock)
    for _ in range(500):
        assert limiter.wait("a") == 0
        clock.seconds += 2


def test_one_who_comes_too_often_keeps_nobody_else_waiting(clock: HandClock) -> None:
    limiter = Limiter(1, clock)
    assert [limiter.wait(key) for key in ("a", "a", "b", "b")] == [0, 60, 0, 60]


def test_no_stream_of_addresses_fills_the_memory(clock: HandClock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_KEYS", 100)
    limiter = Limiter(1, clock)
    for number in range(1000):
        limiter.wait(str(number))
    assert len(limiter._empty_at) == 100
    clock.seconds += 61
    limiter.wait("one more")
    assert len(limiter._empty_at) == 1


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("192.0.2.1", "192.0.2.2", False),
        ("2001:db8::1", "2001:db8::ffff:1", True),
        ("2001:db8:0:1::1", "2001:db8:0:2::1", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("testclient", "testclient", True),
    ],
)
def test_an_address_stands_for_one_customer_of_a_network(one: str, other: str, same: bool) -> None:
    assert (address_of({"client": (one, 1)}) == address_of({"client": (other, 2)})) is same


@pytest.mark.parametrize(
    "forwarded",
    [
        "203.0.113.7",
        "198.51.100.1, 203.0.113.7",
        "203.0.113.7:51234",
        "198.51.100.1, 203.0.113.7, 10.0.0.9",
        "198.51.100.1, 203.0.113.7, ::ffff:10.0.0.9",
        "10.0.0.1, ::ffff:203.0.113.7, 10.0.0.9",
        "nonsense, 203.0.113.7",
    ],
)
@pytest.mark.parametrize("proxy", ["10.0.0.5", "::ffff:10.0.0.5"])
async def test_who_is_behind_our_proxies_is_whom_they_have_written_last(proxy: str, forwarded: str) -> None:
    seen: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(address_of(scope))

    named = RateLimitSettings.model_validate({"trusted_proxies": "10.0.0.0/8"}).trusted_proxies
    headers = [(b"x-forwarded-for", forwarded.encode())]
    scope: Any = {"type": "http", "client": (proxy, 1), "headers": headers, "scheme": "http"}
    await ProxyHeadersMiddleware(app, list(named))(scope, cast("Any", None), cast("Any", None))
    assert seen == ["203.0.113.7"]


async def test_nobody_else_says_who_is_behind_them() -> None:
    named = RateLimitSettings.model_validate({"trusted_proxies": "10.0.0.0/8"}).trusted_proxies
    seen: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(address_of(scope))

    headers = [(b"x-forwarded-for", b"203.0.113.7"), (b"forwarded", b"for=203.0.113.7")]
    scope: Any = {"type": "http", "client": ("192.0.2.1", 1), "headers": headers, "scheme": "http"}
    await ProxyHeadersMiddleware(app, list(named))(scope, cast("Any", None), cast("Any", None))
    assert seen == ["192.0.2.1"]


# ── the agents' door ──


async def test_a_door_that_has_too_much_to_do_says_when_to_come_back() -> None:
    app = FastAPI()
    answer_with_problems(app)

    @app.get("/")
    async def busy() -> None:
        raise Overloaded(7)

    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://door.test") as client:
        answer = await client.get("/")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "7")
    told = answer.json()
    assert (told["code"], told["kind"], told["next_action"]) == ("overloaded", "not_started", "retry_later")


# ── the pages ──


def assert_asked_to_wait(answer: httpx2.Response) -> None:
    assert answer.status_code == 429
    seconds = int(answer.headers["retry-after"])
    assert 0 < seconds <= 60
    assert f"Please wait {seconds} second" in answer.text
    assert answer.headers["content-security-policy"]


async def test_signing_in_again_and_again_from_one_address_comes_to_an_end(
    development_issuer: httpx2.ASGITransport,
) -> None:
    house = house_of(development_issuer, Limits(sign_ins=Limiter(4)))
    for _ in range(2):
        await house.signed_in("approver-1")
    browser = house.browser()
    assert_asked_to_wait(await browser.get("/back-office/sign-in/start"))
    assert_asked_to_wait(await browser.get("/back-office/sign-in/callback?code=guess&state=guess"))
    assert (await browser.get("/back-office/sign-in")).status_code == 200


async def test_a_person_who_decides_too_much_waits_in_all_their_sessions_and_nobody_else_does(
    development_issuer: httpx2.ASGITransport,
) -> None:
    house = house_of(development_issuer, Limits(words=Limiter(2)))
    first, second, other = [await house.signed_in(name) for name in ("approver-1", "approver-1", "approver-2")]
    for browser in (first, second):
        assert (await browser.decide("deny")).status_code == 422
    for browser in (first, second):
        assert_asked_to_wait(await browser.decide("approve"))
    assert house.state() is ApprovalState.PENDING
    assert (await other.decide("approve")).status_code == 200
    assert (await first.get(PAGE)).status_code == 200


FORGED: dict[str, Callable[[dict[str, str]], tuple[dict[str, str], dict[str, str]]]] = {
    "of another site": lambda form: (form, {"Sec-Fetch-Site": "cross-site"}),
    "of another session": lambda form: (form | {"csrf": "0" * 64}, OWN_PAGE),
}


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED.keys())
async def test_forms_that_are_not_the_persons_own_use_up_none_of_their_words(
    development_issuer: httpx2.ASGITransport, forge: Callable[[dict[str, str]], tuple[dict[str, str], dict[str, str]]]
) -> None:
    house = house_of(development_issuer, Limits(words=Limiter(1), forged=Limiter(3)))
    browser = await house.signed_in("approver-1")
    form, headers = forge(await browser.hidden() | {"choice": "approve", "reason": ""})
    answers = [await browser.post(DECISION, form, headers) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [403, 403, 403, 429]
    assert_asked_to_wait(answers[-1])
    assert house.state() is ApprovalState.PENDING
    assert (await browser.decide("approve")).status_code == 200


@pytest.mark.parametrize("everywhere", [{}, {"everywhere": "yes"}], ids=["this session", "all sessions"])
async def test_a_thief_who_uses_up_the_words_cannot_keep_the_person_from_ending_sessions(
    development_issuer: httpx2.ASGITransport, everywhere: dict[str, str]
) -> None:
    house = house_of(development_issuer, Limits(words=Limiter(1), forged=Limiter(1)))
    thief, owner = [await house.signed_in("approver-1") for _ in range(2)]
    own = {"csrf": (await owner.hidden(INBOX))["csrf"]}
    assert [(await thief.decide("deny")).status_code for _ in range(2)] == [422, 429]
    assert [(await owner.post(SIGN_OUT, {"csrf": "forged"})).status_code for _ in range(2)] == [403, 429]
    assert (await owner.post(SIGN_OUT, own | everywhere)).status_code == 303
    assert (await owner.get(INBOX)).status_code == 303
    assert (await thief.get(INBOX)).status_code == (303 if everywhere else 200)


async def test_a_session_that_asks_for_too_many_pages_waits(development_issuer: httpx2.ASGITransport) -> None:
    house = house_of(development_issuer, Limits(pages=Limiter(3)))
    first, second = [await house.signed_in("approver-1") for _ in range(2)]
    assert [(await first.get(INBOX)).status_code for _ in range(3)] == [200, 200, 200]
    assert_asked_to_wait(await first.get(INBOX))
    assert (await second.get(INBOX)).status_code == 200
    assert (await first.get("/back-office/assets/back-office.css")).status_code == 200


async def test_who_reads_korean_is_told_the_same_seconds(development_issuer: httpx2.ASGITransport) -> None:
    browser = await house_of(development_issuer, Limits(pages=Limiter(1))).signed_in("approver-1")
    spent = [await browser.client.get(INBOX, headers={"Accept-Language": "ko"}) for _ in range(2)]
    assert f"{spent[-1].headers['retry-after']}초 기다린 뒤" in spent[-1].text


# ── the API ──


def words_api(tmp_path: Path, words: Limiter) -> httpx2.AsyncClient:
    """An API for people with one route, which takes words."""
    issuer = httpx2.ASGITransport(DevelopmentIssuer(IssuerSettings(dev_issuer_state_dir=tmp_path, issuer=ISSUER)).app())
    seen = Issuer(ISSUER, httpx2.AsyncClient(transport=issuer))
    identity = PersonIdentity(
        TokenVerifier(IssuerKeys(seen), issuer=ISSUER, audience="onceward"), "onceward-office", words
    )
    app = FastAPI()
    answer_with_problems(app)

    @app.post("/word", dependencies=[Depends(identity)])
    @app.get("/word", dependencies=[Depends(identity)])
    async def word() -> str:
        return "heard"

    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="https://door.test")


def bearer(tmp_path: Path, **more: Any) -> dict[str, str]:
    token = mint(
        tmp_path,
        issuer=ISSUER,
        audience="onceward-office",
        subject="approver-1",
        tenant="tenant-a",
        roles=["viewer"],
        **more,
    )
    return {"Authorization": f"Bearer {token}"}


async def test_software_that_acts_for_a_person_uses_up_none_of_their_words(tmp_path: Path) -> None:
    client, acting, own = words_api(tmp_path, Limiter(2)), bearer(tmp_path, agent="support-agent"), bearer(tmp_path)
    assert [(await client.post("/word", headers=acting)).status_code for _ in range(3)] == [200, 200, 429]
    assert [(await client.post("/word", headers=own)).status_code for _ in range(3)] == [200, 200, 429]


async def test_a_person_who_changes_too_much_over_the_api_waits_for_the_pages_too(
    tmp_path: Path,
) -> None:
    words = Limiter(1)
    client = words_api(tmp_path, words)
    client.headers.update(bearer(tmp_path))
    assert [(await client.post("/word")).status_code for _ in range(2)] == [200, 429]
    assert (await client.get("/word")).status_code == 200
    assert words.wait("tenant-a\0approver-1") > 0
    problem = (await client.post("/word")).json()
    assert (problem["status"], problem["code"]) == (429, "too_many_requests")


def door(monotonic: Callable[[], float], per_minute: int) -> httpx2.AsyncClient:
    """A door that knows the token `good`, behind a proxy that is believed and open to others too."""
    app = FastAPI()
    answer_with_problems(app)

    @app.get("/me")
    async def me(authorization: str = Header("")) -> str:
        if authorization != "Bearer good":
            raise Unauthenticated("invalid_token")
        return "welcome"

    @app.get("/broken")
    async def broken() -> None:
        raise RuntimeError("secret-of-the-house")

    held = Headers(FailedCredentials(app, Limiter(per_minute, monotonic)), secure=True)
    behind: Any = ProxyHeadersMiddleware(cast("Any", held), ["127.0.0.1"])
    transport = httpx2.ASGITransport(behind, raise_app_exceptions=False)
    return httpx2.AsyncClient(transport=transport, base_url="https://door.test")


async def test_an_address_whose_tokens_fail_too_often_waits_and_its_good_ones_still_pass(clock: HandClock) -> None:
    client, bad = door(clock, 3), {"Authorization": "Bearer nonsense"}
    assert [(await client.get("/me", headers=bad)).status_code for _ in range(5)] == [401, 401, 401, 429, 429]
    answer = await client.get("/me", headers=bad)
    assert (answer.json()["code"], answer.headers["retry-after"]) == ("too_many_requests", "20")
    assert (await client.get("/me", headers={"Authorization": "Bearer good"})).text == '"welcome"'
    clock.seconds += 20
    assert (await client.get("/me", headers=bad)).status_code == 401


async def test_who_is_behind_a_proxy_that_is_trusted_is_counted_alone(clock: HandClock) -> None:
    client = door(clock, 1)
    tried = [(await client.get("/me", headers={"X-Forwarded-For": f"203.0.113.{n}"})).status_code for n in (1, 1, 2)]
    assert tried == [401, 429, 401]


async def test_every_answer_of_the_api_is_for_one_caller_alone(clock: HandClock) -> None:
    client = door(clock, 1)
    for path, status in (("/me", 401), ("/me", 429), ("/nowhere", 404), ("/broken", 500), ("/openapi.json", 200)):
        answer = await client.get(path)
        assert answer.status_code == status
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["content-security-policy"].startswith("default-src 'none'")
        assert answer.headers["strict-transport-security"] == "max-age=31536000"
