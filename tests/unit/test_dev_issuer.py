"""The development issuer: one key, codes that work once, and only for this machine."""

import hashlib
import re
import stat
from base64 import urlsafe_b64encode
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import jwt
import pytest

from adapters.http.identity import TokenVerifier
from adapters.http.issuer import Issuer, IssuerKeys
from adapters.tools.family import families
from worker.dev.environment import TOOLS
from worker.dev.issuer import DevelopmentIssuer, IssuerSettings, mint
from worker.dev.people import AGENT_ROLES
from workflows.domain.principal import Principal

URL = "http://localhost:8400"
BACK = "http://localhost:8000/back-office/sign-in/callback"
VERIFIER = "v" * 64
CHALLENGE = urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()


def test_the_roles_of_agents_are_those_that_the_policies_of_the_stack_know() -> None:
    policies = "".join(family.policy for family in families(TOOLS.split(",")))
    assert set(AGENT_ROLES) == set(re.findall(r'Role::"([^"]+)"', policies))


class HandClock:
    """Seconds that pass when told to."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def client(tmp_path: Path, clock: HandClock) -> httpx2.AsyncClient:
    settings = IssuerSettings(dev_issuer_state_dir=tmp_path / "issuer", issuer=URL, audience="onceward")
    app = DevelopmentIssuer(settings, clock).app()
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url=URL)


def asked(**changed: str) -> dict[str, str]:
    plain = {
        "response_type": "code",
        "client_id": "onceward-back-office",
        "redirect_uri": BACK,
        "state": "state-1",
        "nonce": "nonce-1",
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
    }
    return {**plain, **changed}


async def code_for(client: httpx2.AsyncClient, person: str = "approver-1") -> str:
    answer = await client.post("/authorize", data=asked() | {"person": person})
    assert answer.status_code == 303
    return parse_qs(urlsplit(answer.headers["location"]).query)["code"][0]


async def exchange(client: httpx2.AsyncClient, code: str, **changed: str) -> httpx2.Response:
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "client_id": "onceward-back-office",
        "redirect_uri": BACK,
        "code_verifier": VERIFIER,
    }
    return await client.post("/token", data={**form, **changed})


def verifier(client: httpx2.AsyncClient, audience: str) -> TokenVerifier:
    return TokenVerifier(IssuerKeys(Issuer(URL, client)), issuer=URL, audience=audience)


async def test_the_key_is_made_once_and_is_its_owners_alone(tmp_path: Path, client: httpx2.AsyncClient) -> None:
    key = tmp_path / "issuer" / "signing-key.pem"
    before = key.read_bytes()
    mint(tmp_path / "issuer", issuer=URL, audience="onceward", subject="u", tenant="t", roles=[])
    assert key.read_bytes() == before
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert list(key.parent.iterdir()) == [key]


async def test_the_published_key_is_public_only(client: httpx2.AsyncClient) -> None:
    published = (await client.get("/jwks.json")).json()["keys"]
    assert [sorted(key) for key in published] == [["alg", "crv", "kid", "kty", "use", "x", "y"]]


async def test_a_minted_token_names_the_user_and_the_agent(tmp_path: Path, client: httpx2.AsyncClient) -> None:
    token = mint(
        tmp_path / "issuer",
        issuer=URL,
        audience="onceward",
        subject="support-7",
        tenant="tenant-a",
        roles=["support"],
        agent="support-agent",
        scopes=["refunds:write"],
    )
    assert await verifier(client, "onceward").principal(token) == Principal(
        "tenant-a", "support-7", frozenset({"support"}), frozenset({"refunds:write"}), "support-agent", "support-7"
    )


async def test_the_page_says_what_it_is_and_lists_the_people(client: httpx2.AsyncClient) -> None:
    page = (await client.get("/authorize", params=asked(state='"><script>'))).text
    assert "For development only" in page
    assert all(subject in page for subject in ("approver-1", "approver-2", "viewer-1", "operator-1", "approver-b"))
    assert "<script>" not in page


async def test_a_code_is_exchanged_for_an_identity_and_an_access_token(client: httpx2.AsyncClient) -> None:
    tokens: dict[str, Any] = (await exchange(client, await code_for(client))).json()
    identity = await verifier(client, "onceward-back-office").claims(tokens["id_token"])
    assert (identity["sub"], identity["roles"], identity["nonce"]) == ("approver-1", ["approver:refunds"], "nonce-1")
    assert (await verifier(client, "onceward").principal(tokens["access_token"])).subject == "approver-1"


async def test_the_answer_carries_the_state_and_the_issuer(client: httpx2.AsyncClient) -> None:
    answer = await client.post("/authorize", data=asked() | {"person": "approver-1"})
    query = parse_qs(urlsplit(answer.headers["location"]).query)
    assert (query["state"], query["iss"]) == (["state-1"], [URL])


async def test_whoever_was_here_before_gets_a_code_unasked(client: httpx2.AsyncClient) -> None:
    await code_for(client, "approver-2")
    answer = await client.get("/authorize", params=asked(prompt="none", nonce="nonce-2"))
    query = parse_qs(urlsplit(answer.headers["location"]).query)
    assert (query["state"], query["iss"]) == (["state-1"], [URL])
    tokens = (await exchange(client, query["code"][0])).json()
    identity = await verifier(client, "onceward-back-office").claims(tokens["id_token"])
    assert (identity["sub"], identity["nonce"]) == ("approver-2", "nonce-2")


@pytest.mark.parametrize("known", ["", "nobody"])
async def test_a_stranger_who_is_not_to_be_asked_gets_none(client: httpx2.AsyncClient, known: str) -> None:
    client.cookies.set("onceward_dev_issuer_person", known)
    answer = await client.get("/authorize", params=asked(prompt="none"))
    query = parse_qs(urlsplit(answer.headers["location"]).query)
    assert query == {"error": ["login_required"], "state": ["state-1"], "iss": [URL]}


async def test_a_code_works_once(client: httpx2.AsyncClient) -> None:
    code = await code_for(client)
    assert (await exchange(client, code)).status_code == 200
    assert (await exchange(client, code)).json() == {"error": "invalid_grant"}


async def test_a_code_lasts_a_minute(client: httpx2.AsyncClient, clock: HandClock) -> None:
    code = await code_for(client)
    clock.seconds += 60
    assert (await exchange(client, code)).json() == {"error": "invalid_grant"}


@pytest.mark.parametrize(
    "changed",
    [{"code_verifier": "w" * 64}, {"client_id": "another"}, {"redirect_uri": BACK + "/x"}, {"code_verifier": ""}],
)
async def test_a_code_is_bound_to_who_asked_for_it_and_spent_by_a_failed_try(
    client: httpx2.AsyncClient, changed: dict[str, str]
) -> None:
    code = await code_for(client)
    assert (await exchange(client, code, **changed)).json() == {"error": "invalid_grant"}
    assert (await exchange(client, code)).json() == {"error": "invalid_grant"}


@pytest.mark.parametrize(
    "changed",
    [
        {"redirect_uri": "https://elsewhere.test/callback"},
        {"redirect_uri": "http://localhost.elsewhere.test/"},
        {"redirect_uri": "http://localhost@elsewhere.test/"},
        {"redirect_uri": "javascript:alert(1)"},
        {"code_challenge": ""},
        {"code_challenge_method": "plain"},
        {"response_type": "token"},
        {"client_id": ""},
    ],
)
async def test_an_unfit_request_gets_no_page_and_no_redirect(
    client: httpx2.AsyncClient, changed: dict[str, str]
) -> None:
    answer = await client.get("/authorize", params=asked(**changed))
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")


@pytest.mark.parametrize(
    "changed", [{"redirect_uri": "https://elsewhere.test/"}, {"person": "nobody"}, {"code_challenge": ""}]
)
async def test_a_choice_that_no_page_offered_gets_no_code(client: httpx2.AsyncClient, changed: dict[str, str]) -> None:
    answer = await client.post("/authorize", data=asked() | {"person": "approver-1"} | changed)
    assert answer.status_code == 400
    assert "location" not in answer.headers


async def test_it_says_that_it_is_alive(client: httpx2.AsyncClient) -> None:
    assert (await client.get("/healthz")).json() == {"status": "ok"}


async def test_tokens_say_what_they_are_for(tmp_path: Path, client: httpx2.AsyncClient) -> None:
    tokens = (await exchange(client, await code_for(client))).json()
    assert jwt.get_unverified_header(tokens["access_token"])["typ"] == "at+jwt"
