"""Bearer tokens: what counts, what does not, and what the caller is told."""

import asyncio
import base64
import hmac
import json
import time
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from fastapi import Depends, FastAPI
from pydantic import BaseModel

from adapters.http import issuer as issuers
from adapters.http.identity import LONGEST_CHAIN, BearerIdentity, TokenVerifier, Unauthenticated, principal_from
from adapters.http.issuer import (
    LARGEST_ANSWER,
    REFETCH_SECONDS,
    USABLE_SECONDS,
    Issuer,
    IssuerKeys,
    IssuerUnavailable,
)
from adapters.http.problem_handlers import answer_with_problems
from adapters.http.problems import Problem
from workflows.domain.principal import Principal

URL = "https://issuer.test"
AUDIENCE = "onceward"


class RotatingIssuer:
    """Publishes its keys, counts how often it is asked, and can go away."""

    def __init__(self) -> None:
        self.keys: dict[str, ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey] = {}
        self.published: list[dict[str, Any]] = []
        self.asked = 0
        self.hosts: set[str] = set()
        self.gone = False
        self.keys_at = "/jwks.json"
        self.document: Any = None
        self.rotate("key-1")

    def rotate(self, key_id: str, key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey | None = None) -> None:
        key = key or ec.generate_private_key(ec.SECP256R1())
        algorithm = (
            jwt.algorithms.ECAlgorithm if isinstance(key, ec.EllipticCurvePrivateKey) else jwt.algorithms.RSAAlgorithm
        )
        public = json.loads(algorithm.to_jwk(key.public_key()))  # type: ignore[arg-type]
        self.keys[key_id] = key
        self.published.append({**public, "kid": key_id, "use": "sig"})

    def token(self, key_id: str = "key-1", algorithm: str = "ES256", without: str = "", **claims: Any) -> str:
        now = int(time.time())
        full = {
            "iss": URL,
            "aud": AUDIENCE,
            "sub": "support-7",
            "tenant": "tenant-a",
            "roles": ["support"],
            "iat": now,
            "exp": now + 600,
            **claims,
        }
        full.pop(without, None)
        return jwt.encode(full, self.keys[key_id], algorithm, headers={"kid": key_id})

    def signed(self, header: dict[str, Any], **claims: Any) -> str:
        """A token with exactly this header, really signed with this issuer's first key."""
        signed = unsigned(header, valid_claims(**claims))
        key = self.keys["key-1"]
        assert isinstance(key, ec.EllipticCurvePrivateKey)
        r, s = decode_dss_signature(key.sign(signed.encode(), ec.ECDSA(SHA256())))
        signature = base64.urlsafe_b64encode(r.to_bytes(32) + s.to_bytes(32)).rstrip(b"=").decode()
        return f"{signed}.{signature}"

    def answer(self, request: httpx2.Request) -> httpx2.Response:
        self.hosts.add(request.url.host)
        if self.gone:
            raise httpx2.ConnectError("gone")
        if request.url.path == "/.well-known/openid-configuration":
            return httpx2.Response(200, json={"issuer": URL, "jwks_uri": f"{URL}{self.keys_at}"})
        if request.url.path != self.keys_at:
            return httpx2.Response(404)
        self.asked += 1
        return httpx2.Response(200, json={"keys": self.published} if self.document is None else self.document)


class HandClock:
    """Seconds that pass when told to."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def issuer() -> RotatingIssuer:
    return RotatingIssuer()


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def verifier(issuer: RotatingIssuer, clock: HandClock) -> TokenVerifier:
    client = httpx2.AsyncClient(transport=httpx2.MockTransport(issuer.answer))
    return TokenVerifier(IssuerKeys(Issuer(URL, client), clock), issuer=URL, audience=AUDIENCE)


def unsigned(header: dict[str, Any], claims: dict[str, Any]) -> str:
    return ".".join(
        base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in (header, claims)
    )


def valid_claims(**changed: Any) -> dict[str, Any]:
    now = int(time.time())
    plain = {"iss": URL, "aud": AUDIENCE, "sub": "support-7", "tenant": "tenant-a", "iat": now, "exp": now + 600}
    return {**plain, **changed}


def chain_of(agents: int) -> dict[str, Any]:
    """An `act` claim that names so many agents, one inside the other."""
    act: dict[str, Any] = {"sub": "agent-1"}
    for number in range(2, agents + 1):
        act = {"sub": f"agent-{number}", "act": act}
    return act


async def refusal(verifier: TokenVerifier, token: str) -> str:
    with pytest.raises(Unauthenticated) as caught:
        await verifier.principal(token)
    return caught.value.code


async def test_a_valid_token_gives_the_principal_that_it_names(issuer: RotatingIssuer, verifier: TokenVerifier) -> None:
    token = issuer.token(scope="refunds:write orders:read", act={"sub": "support-agent"}, name="Support")
    assert await verifier.principal(token) == Principal(
        tenant="tenant-a",
        subject="support-7",
        roles=frozenset({"support"}),
        scopes=frozenset({"refunds:write", "orders:read"}),
        agent="support-agent",
        name="Support",
    )


async def test_an_rs256_token_is_accepted(issuer: RotatingIssuer, verifier: TokenVerifier) -> None:
    issuer.rotate("rsa-1", rsa.generate_private_key(65537, 2048))
    assert (await verifier.principal(issuer.token("rsa-1", "RS256"))).subject == "support-7"


async def test_a_token_that_names_no_algorithm_is_refused(verifier: TokenVerifier) -> None:
    token = unsigned({"alg": "none", "kid": "key-1"}, valid_claims()) + "."
    assert await refusal(verifier, token) == "invalid_token"


async def test_a_token_signed_with_the_public_key_as_a_shared_secret_is_refused(
    issuer: RotatingIssuer, verifier: TokenVerifier
) -> None:
    public = issuer.keys["key-1"].public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    signed = unsigned({"alg": "HS256", "kid": "key-1"}, valid_claims())
    signature = base64.urlsafe_b64encode(hmac.digest(public, signed.encode(), "sha256")).rstrip(b"=").decode()
    assert await refusal(verifier, f"{signed}.{signature}") == "invalid_token"


async def test_a_shared_secret_that_the_issuer_publishes_is_not_a_key(
    issuer: RotatingIssuer, verifier: TokenVerifier
) -> None:
    secret = b"s" * 32
    issuer.published.append({"kty": "oct", "kid": "oct-1", "k": base64.urlsafe_b64encode(secret).decode()})
    token = jwt.encode(valid_claims(), secret, "HS256", headers={"kid": "oct-1"})
    assert await refusal(verifier, token) == "invalid_token"


async def test_a_changed_claim_breaks_the_signature(issuer: RotatingIssuer, verifier: TokenVerifier) -> None:
    header, _, signature = issuer.token().split(".")
    forged = unsigned({}, valid_claims(tenant="tenant-b")).split(".")[1]
    assert await refusal(verifier, f"{header}.{forged}.{signature}") == "invalid_token"


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": "another-service"},
        {"aud": []},
        {"iss": "https://other.test"},
        {"tenant": ""},
        {"tenant": ["tenant-a"]},
        {"tenant": "tenant\0a"},
        {"sub": "x" * 300},
        {"roles": "support"},
        {"roles": [1]},
        {"scope": ["refunds:write"]},
        {"act": "support-agent"},
        {"act": {}},
        {"act": None},
        {"name": "\ud800x"},
        {"name": "a\0b"},
        {"scope": "refunds:write \udfff"},
        {"roles": ["support\ud800"]},
        {"sub": "\udc00"},
        {"tenant": "tenant-a\ud800"},
        {"act": {"sub": "agent\ud800"}},
        {"sub": "support-7 "},
        {"sub": "support-7\ufe0f"},
        {"sub": "\u3164"},
        {"sub": "support\u202e-7"},
        {"sub": "support\u200b-7"},
        {"tenant": " tenant-a"},
        {"tenant": "tenant\u034f-a"},
        {"act": {"sub": "\u2800"}},
    ],
    ids=ascii,
)
async def test_a_claim_of_the_wrong_value_or_shape_is_refused(
    issuer: RotatingIssuer, verifier: TokenVerifier, claims: dict[str, Any]
) -> None:
    assert await refusal(verifier, issuer.token(**claims)) == "invalid_token"


@pytest.mark.parametrize("claim", ["exp", "iat", "iss", "aud", "sub", "tenant"])
async def test_a_required_claim_that_is_missing_is_refused(
    issuer: RotatingIssuer, verifier: TokenVerifier, claim: str
) -> None:
    assert await refusal(verifier, issuer.token(without=claim)) == "invalid_token"


async def test_an_expired_token_is_told_apart(issuer: RotatingIssuer, verifier: TokenVerifier) -> None:
    assert await refusal(verifier, issuer.token(exp=int(time.time()) - 60)) == "expired_token"


@pytest.mark.parametrize("claim", ["nbf", "iat"])
async def test_a_token_that_is_not_valid_yet_is_refused(
    issuer: RotatingIssuer, verifier: TokenVerifier, claim: str
) -> None:
    assert await refusal(verifier, issuer.token(**dict[str, Any]({claim: int(time.time()) + 300}))) == "invalid_token"


async def test_clocks_may_be_half_a_minute_apart(issuer: RotatingIssuer, verifier: TokenVerifier) -> None:
    now = int(time.time())
    assert await verifier.principal(issuer.token(exp=now - 10))
    assert await verifier.principal(issuer.token(nbf=now + 10))


@pytest.mark.parametrize("token", ["", "abc", "a.b.c", "é.é.é", "x" * 9000])
async def test_what_is_no_token_is_refused(verifier: TokenVerifier, token: str) -> None:
    assert await refusal(verifier, token) == "invalid_token"


@pytest.mark.parametrize(
    "header",
    [
        {"kid": "../../key-1"},
        {"kid": "key-1\0"},
        {"kid": ["key-1"]},
        {"kid": {"key": "key-1"}},
        {"kid": ""},
        {"kid": None},
        {"alg": "RS256"},
        {"alg": "ES384"},
        {"alg": "es256"},
        {"alg": ["ES256"]},
        {"crit": ["exp"]},
        {"crit": []},
        {"crit": ["b64"], "b64": False},
        {"b64": False},
        {"alg": None},
    ],
    ids=str,
)
async def test_a_header_that_asks_for_another_key_or_another_way_is_refused(
    issuer: RotatingIssuer, verifier: TokenVerifier, header: dict[str, Any]
) -> None:
    assert await refusal(verifier, issuer.signed({"alg": "ES256", "kid": "key-1"} | header)) == "invalid_token"


@pytest.mark.parametrize("name", ["jku", "x5u", "jwk", "x5c"])
async def test_a_key_that_the_token_itself_brings_along_is_never_looked_at(
    issuer: RotatingIssuer, verifier: TokenVerifier, name: str
) -> None:
    forger = RotatingIssuer()
    brought: Any = forger.published[0] if name == "jwk" else "https://forger.test/jwks.json"
    header = {"alg": "ES256", "kid": "key-1", name: [brought] if name == "x5c" else brought}
    assert await refusal(verifier, forger.signed(header)) == "invalid_token"
    assert issuer.hosts == {"issuer.test"}
    assert await verifier.principal(issuer.signed(header))


async def test_an_elliptic_key_takes_no_rsa_signature_and_the_other_way_round(
    issuer: RotatingIssuer, verifier: TokenVerifier
) -> None:
    issuer.rotate("rsa-1", rsa.generate_private_key(65537, 2048))
    elliptic, other = issuer.token("key-1"), issuer.token("rsa-1", "RS256")
    for signed, key_id in ((elliptic, "rsa-1"), (other, "key-1")):
        _, payload, signature = signed.split(".")
        renamed = unsigned(jwt.get_unverified_header(signed) | {"kid": key_id}, {}).split(".")[0]
        assert await refusal(verifier, f"{renamed}.{payload}.{signature}") == "invalid_token"


@pytest.mark.filterwarnings("ignore::jwt.warnings.InsecureKeyLengthWarning")
async def test_an_rsa_key_that_is_too_short_to_trust_is_none(issuer: RotatingIssuer, verifier: TokenVerifier) -> None:
    issuer.rotate("rsa-1", rsa.generate_private_key(65537, 1024))
    assert await refusal(verifier, issuer.token("rsa-1", "RS256")) == "invalid_token"


@pytest.mark.parametrize("claim", ["exp", "iat", "nbf"])
@pytest.mark.parametrize("moment", ["soon", [1], {}, float("inf"), float("nan"), None], ids=repr)
async def test_a_moment_that_is_no_number_is_refused(
    issuer: RotatingIssuer, verifier: TokenVerifier, claim: str, moment: Any
) -> None:
    token = issuer.signed({"alg": "ES256", "kid": "key-1"}, **{claim: moment})
    assert await refusal(verifier, token) == "invalid_token"


@pytest.mark.parametrize(
    ("claim", "moment"), [("exp", "9999999999"), ("iat", "1"), ("nbf", "1"), ("iat", True), ("nbf", True)]
)
async def test_a_moment_that_is_written_as_text_is_refused(
    issuer: RotatingIssuer, verifier: TokenVerifier, claim: str, moment: Any
) -> None:
    token = issuer.signed({"alg": "ES256", "kid": "key-1"}, **{claim: moment})
    assert await refusal(verifier, token) == "invalid_token"


async def test_a_header_as_deep_as_a_token_is_long_is_refused(issuer: RotatingIssuer, verifier: TokenVerifier) -> None:
    deep = base64.urlsafe_b64encode(b'{"kid":' + b"[" * 6000).rstrip(b"=").decode()
    assert await refusal(verifier, f"{deep}.e30.eHh4") == "invalid_token"


async def test_one_audience_among_several_is_enough(issuer: RotatingIssuer, verifier: TokenVerifier) -> None:
    assert await verifier.principal(issuer.token(aud=["another-service", AUDIENCE]))


async def test_of_a_chain_of_agents_the_last_one_acts_and_the_others_are_known(
    issuer: RotatingIssuer, verifier: TokenVerifier
) -> None:
    act = {"sub": "refund-agent", "iss": URL, "act": {"sub": "planner", "act": {"sub": "front-desk"}}}
    principal = await verifier.principal(issuer.token(act=act))
    assert (principal.agent, principal.agents_before) == ("refund-agent", ("planner", "front-desk"))


@pytest.mark.parametrize(
    "act",
    [
        {"sub": "refund-agent", "act": "planner"},
        {"sub": "refund-agent", "act": {}},
        {"sub": "refund-agent", "act": None},
        {"act": {"sub": "planner"}},
        chain_of(LONGEST_CHAIN + 1),
    ],
    ids=str,
)
async def test_a_chain_of_agents_that_is_odd_or_endless_is_refused(
    issuer: RotatingIssuer, verifier: TokenVerifier, act: Any
) -> None:
    assert await refusal(verifier, issuer.token(act=act)) == "invalid_token"


async def test_the_longest_chain_of_agents_is_read(issuer: RotatingIssuer, verifier: TokenVerifier) -> None:
    assert len((await verifier.principal(issuer.token(act=chain_of(LONGEST_CHAIN)))).agents_before) == LONGEST_CHAIN - 1


async def test_a_token_for_another_audience_of_the_same_issuer_is_worth_nothing_here(
    issuer: RotatingIssuer, verifier: TokenVerifier
) -> None:
    assert await refusal(verifier.for_audience("back-office"), issuer.token()) == "invalid_token"


async def test_keys_are_fetched_once_for_many_tokens(issuer: RotatingIssuer, verifier: TokenVerifier) -> None:
    for _ in range(5):
        await verifier.principal(issuer.token())
    assert issuer.asked == 1


async def test_a_rotated_key_is_found_by_one_fetch(
    issuer: RotatingIssuer, verifier: TokenVerifier, clock: HandClock
) -> None:
    await verifier.principal(issuer.token())
    issuer.rotate("key-2")
    clock.seconds += REFETCH_SECONDS
    assert await verifier.principal(issuer.token("key-2"))
    assert issuer.asked == 2


async def test_made_up_key_ids_do_not_become_a_stream_of_fetches(
    issuer: RotatingIssuer, verifier: TokenVerifier, clock: HandClock
) -> None:
    await verifier.principal(issuer.token())
    clock.seconds += REFETCH_SECONDS
    for number in range(20):
        assert (
            await refusal(verifier, unsigned({"alg": "ES256", "kid": f"made-up-{number}"}, {}) + ".eHh4")
            == "invalid_token"
        )
    assert issuer.asked == 2


async def test_a_key_that_the_issuer_withdrew_stops_counting(
    issuer: RotatingIssuer, verifier: TokenVerifier, clock: HandClock
) -> None:
    token = issuer.token()
    await verifier.principal(token)
    issuer.published.clear()
    issuer.rotate("key-2")
    clock.seconds += 601
    assert await refusal(verifier, token) == "invalid_token"


async def test_keys_at_hand_carry_over_a_short_absence_of_the_issuer(
    issuer: RotatingIssuer, verifier: TokenVerifier, clock: HandClock
) -> None:
    await verifier.principal(issuer.token())
    issuer.gone = True
    clock.seconds += USABLE_SECONDS - 1
    assert await verifier.principal(issuer.token())
    clock.seconds += 2
    with pytest.raises(IssuerUnavailable):
        await verifier.principal(issuer.token())


async def test_an_https_issuer_is_not_followed_to_an_address_that_anybody_on_the_way_could_answer() -> None:
    def answer(_: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, json={"issuer": URL, "jwks_uri": "http://issuer.test/jwks.json"})

    issuer = Issuer(URL, httpx2.AsyncClient(transport=httpx2.MockTransport(answer)))
    with pytest.raises(IssuerUnavailable):
        await issuer.endpoint("jwks_uri")


async def test_a_withdrawn_key_stops_counting_as_soon_as_any_other_key_is_asked_for(
    issuer: RotatingIssuer, verifier: TokenVerifier, clock: HandClock
) -> None:
    token = issuer.token()
    await verifier.principal(token)
    issuer.published.clear()
    issuer.rotate("key-2")
    clock.seconds += REFETCH_SECONDS
    await verifier.principal(issuer.token("key-2"))
    assert await refusal(verifier, token) == "invalid_token"


async def test_an_issuer_that_calls_itself_something_else_is_not_believed(issuer: RotatingIssuer) -> None:
    client = httpx2.AsyncClient(transport=httpx2.MockTransport(issuer.answer))
    other = Issuer("https://other.test", client, discovery_url=f"{URL}/.well-known/openid-configuration")
    with pytest.raises(IssuerUnavailable):
        await TokenVerifier(IssuerKeys(other), issuer=URL, audience=AUDIENCE).principal(issuer.token())


ODD_KEYS: list[dict[str, Any]] = [
    {"kty": "EC", "kid": ["odd"]},
    {"kty": "EC", "kid": {}, "crv": "P-256"},
    {"kty": "EC", "kid": "odd", "alg": ["ES256"]},
    {"kty": ["EC"], "kid": "odd"},
    {"kty": "EC", "kid": "odd", "crv": ["P-256"]},
    {"kty": "EC", "kid": "odd", "crv": "P-256", "x": 1, "y": 2},
    {"kty": "EC", "kid": "odd", "crv": "P-256", "x": "AAAA", "y": None},
    {"kty": "RSA", "kid": "odd", "n": "AQ", "e": "AQ"},
    {"kty": "RSA", "kid": "odd", "n": 3, "e": 3},
    {"kty": "OKP", "kid": "odd", "crv": "Ed25519", "x": "AA"},
    {"kty": "RSA", "kid": "odd", "alg": "RSA-OAEP", "use": "enc"},
    {},
]


@pytest.mark.parametrize("odd", ODD_KEYS, ids=str)
async def test_a_key_that_nobody_can_use_keeps_nobody_from_using_the_others(
    issuer: RotatingIssuer, verifier: TokenVerifier, odd: dict[str, Any]
) -> None:
    issuer.published.insert(0, odd)
    assert await verifier.principal(issuer.token())


@pytest.mark.parametrize("document", [{}, {"keys": None}, {"keys": {}}, {"error": "busy"}], ids=str)
async def test_an_answer_that_has_no_list_of_keys_takes_none_away(
    issuer: RotatingIssuer, verifier: TokenVerifier, clock: HandClock, document: Any
) -> None:
    token = issuer.token()
    await verifier.principal(token)
    issuer.document = document
    clock.seconds += 601
    assert await verifier.principal(token)


async def test_before_there_are_keys_such_an_answer_says_nothing_of_the_credential(
    issuer: RotatingIssuer, verifier: TokenVerifier
) -> None:
    issuer.document = {}
    with pytest.raises(IssuerUnavailable):
        await verifier.principal(issuer.token())


async def test_an_answer_without_end_is_none(issuer: RotatingIssuer, verifier: TokenVerifier) -> None:
    issuer.document = {"keys": issuer.published, "more": "x" * LARGEST_ANSWER}
    with pytest.raises(IssuerUnavailable):
        await verifier.principal(issuer.token())


class SlowIssuer(RotatingIssuer):
    """Takes its time for its keys: on the hand clock as long as it takes, and long enough for others to come."""

    def __init__(self, clock: HandClock) -> None:
        super().__init__()
        self.clock, self.seconds, self.waiting, self.asking = clock, 0.0, 0, asyncio.Event()

    async def slowly(self, request: httpx2.Request) -> httpx2.Response:
        answer = self.answer(request)
        if self.seconds and request.url.path == "/jwks.json":
            self.waiting += 1
            self.asking.set()
            await asyncio.sleep(0.05)
            self.clock.seconds += self.seconds
            raise httpx2.ReadTimeout("slow")
        return answer


@pytest.fixture
def slow(clock: HandClock) -> SlowIssuer:
    return SlowIssuer(clock)


@pytest.fixture
def patient(slow: SlowIssuer, clock: HandClock) -> TokenVerifier:
    client = httpx2.AsyncClient(transport=httpx2.MockTransport(slow.slowly))
    return TokenVerifier(IssuerKeys(Issuer(URL, client), clock), issuer=URL, audience=AUDIENCE)


async def test_many_who_come_while_an_issuer_hangs_wait_for_it_once(slow: SlowIssuer, patient: TokenVerifier) -> None:
    slow.seconds = 15.0
    told = await asyncio.gather(*(patient.principal(slow.token()) for _ in range(20)), return_exceptions=True)
    assert [type(each) for each in told] == [IssuerUnavailable] * 20
    assert slow.waiting == 1


async def test_while_one_asks_an_issuer_that_hangs_the_others_use_the_keys_at_hand(
    slow: SlowIssuer, patient: TokenVerifier, clock: HandClock
) -> None:
    token = slow.token()
    await patient.principal(token)
    slow.seconds = 15.0
    clock.seconds += 601
    asking = asyncio.ensure_future(patient.principal(token))
    await slow.asking.wait()
    assert await patient.principal(token)
    assert not asking.done()
    assert await asking


async def test_an_answer_that_trickles_in_for_ever_is_given_up(
    monkeypatch: pytest.MonkeyPatch, issuer: RotatingIssuer
) -> None:
    async def trickle() -> AsyncIterator[bytes]:
        while True:
            yield b" "
            await asyncio.sleep(0.01)

    monkeypatch.setattr(issuers, "ANSWER_SECONDS", 0.1)
    endless = httpx2.MockTransport(lambda _: httpx2.Response(200, content=trickle()))
    began = time.monotonic()
    with pytest.raises(IssuerUnavailable):
        await Issuer(URL, httpx2.AsyncClient(transport=endless)).endpoint("jwks_uri")
    assert time.monotonic() - began < 5


async def test_keys_that_have_moved_are_found_where_the_issuer_says_they_are_now(
    issuer: RotatingIssuer, verifier: TokenVerifier, clock: HandClock
) -> None:
    await verifier.principal(issuer.token())
    issuer.keys_at = "/moved.json"
    clock.seconds += 601
    await verifier.principal(issuer.token())
    issuer.rotate("key-2")
    clock.seconds += REFETCH_SECONDS
    assert await verifier.principal(issuer.token("key-2"))


async def test_an_address_that_is_none_is_an_issuer_that_does_not_answer(issuer: RotatingIssuer) -> None:
    client = httpx2.AsyncClient(transport=httpx2.MockTransport(issuer.answer))
    with pytest.raises(IssuerUnavailable):
        await Issuer(URL, client).json("https://[broken")


def test_no_role_and_no_agent_is_what_absent_claims_mean() -> None:
    assert principal_from({"tenant": "tenant-a", "sub": "user-1"}) == Principal("tenant-a", "user-1")


# ── what the caller is told ──


class Quantity(BaseModel):
    count: int


@pytest.fixture
def door(verifier: TokenVerifier) -> httpx2.AsyncClient:
    app = FastAPI()
    answer_with_problems(app)
    identity = BearerIdentity(verifier)

    @app.get("/me")
    async def me(principal: Principal = Depends(identity)) -> dict[str, str]:  # noqa: B008
        return {"tenant": principal.tenant}

    @app.post("/quantities")
    async def quantities(quantity: Quantity) -> int:
        return quantity.count

    @app.get("/broken")
    async def broken() -> None:
        raise RuntimeError("secret-of-the-house")

    @app.get("/refused")
    async def refused() -> None:
        raise Problem(409, "idempotency_conflict", "This key stands for another intent.", operation_id="op-1")

    transport = httpx2.ASGITransport(app, raise_app_exceptions=False)
    return httpx2.AsyncClient(transport=transport, base_url="https://door.test")


def assert_problem(answer: httpx2.Response, status: int, code: str) -> dict[str, Any]:
    body: dict[str, Any] = answer.json()
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert (body["status"], body["code"], body["type"]) == (status, code, f"urn:onceward:problem:{code}")
    assert body["title"]
    return body


async def test_a_request_without_a_token_is_challenged(door: httpx2.AsyncClient) -> None:
    answer = await door.get("/me")
    assert_problem(answer, 401, "missing_token")
    assert answer.headers["www-authenticate"] == 'Bearer realm="onceward"'


async def test_another_scheme_counts_as_no_token(door: httpx2.AsyncClient) -> None:
    assert_problem(await door.get("/me", headers={"Authorization": "Basic eDp5"}), 401, "missing_token")


async def test_a_bad_token_is_challenged_with_the_error(door: httpx2.AsyncClient) -> None:
    answer = await door.get("/me", headers={"Authorization": "Bearer nonsense"})
    assert_problem(answer, 401, "invalid_token")
    assert 'error="invalid_token"' in answer.headers["www-authenticate"]
    assert "nonsense" not in answer.text


async def test_two_authorization_headers_are_refused(door: httpx2.AsyncClient, issuer: RotatingIssuer) -> None:
    header = ("Authorization", f"Bearer {issuer.token()}")
    assert_problem(await door.get("/me", headers=[header, header]), 401, "invalid_token")


async def test_a_token_in_the_address_is_not_looked_at(door: httpx2.AsyncClient, issuer: RotatingIssuer) -> None:
    assert_problem(await door.get("/me", params={"access_token": issuer.token()}), 401, "missing_token")


async def test_a_good_token_opens_the_door(door: httpx2.AsyncClient, issuer: RotatingIssuer) -> None:
    answer = await door.get("/me", headers={"authorization": f"bearer {issuer.token()}"})
    assert answer.json() == {"tenant": "tenant-a"}


async def test_an_absent_issuer_is_no_fault_of_the_caller(door: httpx2.AsyncClient, issuer: RotatingIssuer) -> None:
    issuer.gone = True
    answer = await door.get("/me", headers={"Authorization": f"Bearer {issuer.token()}"})
    assert_problem(answer, 503, "upstream_unavailable")
    assert answer.headers["retry-after"] == "5"


async def test_an_unfit_body_is_told_where_and_never_what(door: httpx2.AsyncClient) -> None:
    body = assert_problem(await door.post("/quantities", json={"count": "many-secrets"}), 422, "invalid_request")
    assert body["errors"] == [{"path": "/body/count", "code": "invalid_value", "expected": "an integer"}]
    assert "many-secrets" not in json.dumps(body)


async def test_a_body_that_is_no_json_is_a_bad_request(door: httpx2.AsyncClient) -> None:
    answer = await door.post("/quantities", content=b"{", headers={"content-type": "application/json"})
    assert_problem(answer, 400, "invalid_json")


async def test_an_unknown_address_and_a_wrong_method_are_problems_too(door: httpx2.AsyncClient) -> None:
    assert_problem(await door.get("/nowhere"), 404, "unknown_route")
    answer = await door.delete("/me")
    assert_problem(answer, 405, "method_not_allowed")
    assert answer.headers["allow"] == "GET"


async def test_a_surprise_says_nothing_of_the_inside(door: httpx2.AsyncClient) -> None:
    answer = await door.get("/broken")
    assert_problem(answer, 500, "internal_error")
    assert "secret-of-the-house" not in answer.text


async def test_a_problem_may_carry_more_members(door: httpx2.AsyncClient) -> None:
    assert assert_problem(await door.get("/refused"), 409, "idempotency_conflict")["operation_id"] == "op-1"
