"""The API of a company's own back office: who is let in, what is shown, whose word counts and what others are told."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx2
import jwt
import pytest
from fastapi import FastAPI

from adapters.http.identity import LEEWAY_SECONDS, TokenVerifier
from adapters.http.issuer import Issuer, IssuerKeys
from adapters.http.office import BackOfficeApi
from adapters.http.people import PersonIdentity
from adapters.http.problem_handlers import answer_with_problems
from tests.fakes.audit_log import MemoryAuditLog
from tests.unit.back_office_sheets import HASH, OTHER_HASH, approval_sheet, of_tenant, operation_sheet
from tests.unit.memory_back_office import MemoryBackOffice, StandingClock
from worker.dev.issuer import DevelopmentIssuer, IssuerSettings, mint
from worker.dev.signing_key import SigningKey
from workflows.domain.approval import ApprovalState
from workflows.domain.impact import Fact
from workflows.domain.lifecycle import State

Json = dict[str, Any]

ISSUER = "http://localhost:8400"
AGENTS, OFFICE, PAGES = "onceward", "onceward-back-office-api", "onceward-back-office"
SHEET = "/v1/approvals/approval-1"
DECISION = f"{SHEET}/decision"
OPERATION = "/v1/operations/operation-1/sheet"
RESOLUTION = "/v1/operations/operation-1/resolution"
APPROVALS, OPERATIONS, STUCK = "/v1/approvals", "/v1/operations", "/v1/stuck"
ONES = (SHEET, OPERATION)
READS = (*ONES, APPROVALS, OPERATIONS, STUCK)
CLAIMED = ("client_id", "azp", "cid", "gty", "idtyp", "preferred_username")
"""Claims by which issuers say for which client a token is, and whether for itself."""
WORD = {"finding": "happened", "evidence": "The provider's own console.", "reference": "re_88421", "generation": 2}


@dataclass
class House:
    """The API over a store in memory."""

    store: MemoryBackOffice
    clock: StandingClock
    client: httpx2.AsyncClient
    keys: Path
    audit: MemoryAuditLog

    def token(self, subject: str = "approver-1", *, roles: tuple[str, ...] = ("approver:refunds",), **more: Any) -> str:
        given = {"issuer": ISSUER, "audience": OFFICE, "tenant": "tenant-a", "name": "Refund approver"} | more
        claimed = {name: given.pop(name) for name in CLAIMED if name in given}
        token = mint(self.keys, subject=subject, roles=roles, **given)
        if not claimed:
            return token
        claims = jwt.decode(token, options={"verify_signature": False})
        return SigningKey(self.keys).sign(claims | claimed, "at+jwt")

    def operator(self, **more: Any) -> str:
        return self.token("operator-1", **({"roles": ("operator",), "name": "Operator"} | more))

    async def get(self, path: str, token: str = "") -> httpx2.Response:
        return await self.client.get(path, headers={"Authorization": f"Bearer {token or self.token()}"})

    async def post(self, path: str, body: Json, token: str = "") -> httpx2.Response:
        headers = {"Authorization": f"Bearer {token or self.token()}"}
        return await self.client.post(path, json=body, headers=headers)

    async def decide(self, choice: str = "approve", token: str = "", **changes: Any) -> httpx2.Response:
        body = {"choice": choice, "reason": "", "revision": 1, "intent_hash": HASH} | changes
        return await self.post(DECISION, {name: value for name, value in body.items() if value is not None}, token)

    async def resolve(self, token: str = "", **changes: Any) -> httpx2.Response:
        return await self.post(RESOLUTION, WORD | changes, token or self.operator())

    def state(self) -> ApprovalState:
        return self.store.approvals["approval-1"].approval.state


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("issuer")


@pytest.fixture
def house(keys: Path) -> House:
    store = MemoryBackOffice(clock := StandingClock())
    store.ask(approval_sheet())
    store.record(operation_sheet(state=State.MANUAL_REVIEW))
    issuer = DevelopmentIssuer(IssuerSettings(dev_issuer_state_dir=keys, issuer=ISSUER)).app()
    seen = Issuer(ISSUER, httpx2.AsyncClient(transport=httpx2.ASGITransport(issuer)))
    verifier = TokenVerifier(IssuerKeys(seen), issuer=ISSUER, audience=AGENTS)
    app = FastAPI()
    answer_with_problems(app)
    app.include_router(BackOfficeApi(store, PersonIdentity(verifier, OFFICE), audit := MemoryAuditLog(clock)).router())
    here = httpx2.ASGITransport(app, raise_app_exceptions=False)
    return House(store, clock, httpx2.AsyncClient(transport=here, base_url="http://localhost"), keys, audit)


def code_of(answer: httpx2.Response) -> tuple[int, str]:
    assert answer.headers["content-type"] == "application/problem+json"
    return answer.status_code, answer.json()["code"]


# ── who is let in ──

WORTH_NOTHING: dict[str, Callable[[House], str]] = {
    "none": lambda _: "",
    "for the agents' door": lambda house: house.token(audience=AGENTS),
    "for the agents' door and for here": lambda house: house.token(audience=[AGENTS, OFFICE]),
    "that signs in to our pages": lambda house: house.token(audience=PAGES),
    "that has ended": lambda house: house.token(seconds=-3600),
    "of another issuer": lambda house: house.token(issuer="http://localhost:9999"),
    "that is none": lambda _: "a.b.c",
}


@pytest.mark.parametrize("token", WORTH_NOTHING.values(), ids=WORTH_NOTHING.keys())
@pytest.mark.parametrize("path", [*READS, DECISION, RESOLUTION])
async def test_a_token_that_was_not_issued_for_this_api_alone_opens_no_route(
    house: House, path: str, token: Callable[[House], str]
) -> None:
    given = token(house)
    headers = {"Authorization": f"Bearer {given}"} if given else {}
    answer = await house.client.request("GET" if path in READS else "POST", path, headers=headers)
    assert (answer.status_code, answer.headers["www-authenticate"].split()[0]) == (401, "Bearer")
    assert house.store.attempts == []


async def test_a_word_that_is_said_after_its_token_has_expired_does_not_count(house: House) -> None:
    token = house.token(seconds=1 - LEEWAY_SECONDS)

    async def slowly() -> AsyncIterator[bytes]:
        yield b"{"
        await asyncio.sleep(1.5)
        yield json.dumps({"choice": "approve", "reason": "", "revision": 1, "intent_hash": HASH}).encode()[1:]

    headers = {"Authorization": f"Bearer {token}"}
    answer = await house.client.post(DECISION, content=slowly(), headers=headers)
    assert code_of(answer) == (401, "expired_token")
    assert house.store.attempts == []


SOFTWARE: dict[str, Json] = {
    "an agent that acts for an approver": {"agent": "support-agent"},
    "a client with a token for itself": {"client_id": "approver-1"},
    "the same by its older name": {"azp": "approver-1"},
    "the same at Okta": {"cid": "approver-1"},
    "the same at Auth0": {"azp": "night-job", "gty": "client-credentials"},
    "the same at Entra ID": {"azp": "night-job", "idtyp": "app"},
    "the same at Keycloak": {"azp": "Night-Job", "preferred_username": "service-account-night-job"},
}


@pytest.mark.parametrize("who", SOFTWARE.values(), ids=SOFTWARE.keys())
async def test_software_decides_nothing_whatever_roles_it_has(house: House, who: Json) -> None:
    assert code_of(await house.decide(token=house.token(**who))) == (403, "approver_not_allowed")
    assert house.state() is ApprovalState.PENDING


@pytest.mark.parametrize("who", SOFTWARE.values(), ids=SOFTWARE.keys())
async def test_software_resolves_nothing_whatever_roles_it_has(house: House, who: Json) -> None:
    changed = {name: value.replace("approver-1", "operator-1") for name, value in who.items()}
    assert code_of(await house.resolve(house.operator(**changed))) == (403, "operator_not_allowed")
    assert house.store.resolutions == {}


async def test_a_client_that_auth0_has_made_a_subject_decides_nothing(house: House) -> None:
    token = house.token("night-job@clients", azp="night-job")
    assert code_of(await house.decide(token=token)) == (403, "approver_not_allowed")


@pytest.mark.parametrize(
    "more",
    [{"azp": "company-office", "client_id": "company-office"}, {"azp": "office", "preferred_username": "approver-1"}],
    ids=str,
)
async def test_a_person_is_none_whichever_client_their_token_is_for(house: House, more: Json) -> None:
    assert (await house.decide(token=house.token(**more))).status_code == 200


@pytest.mark.parametrize("path", READS)
@pytest.mark.parametrize("who", SOFTWARE.values(), ids=SOFTWARE.keys())
async def test_software_reads_nothing_here(house: House, path: str, who: Json) -> None:
    assert code_of(await house.get(path, house.token(**who))) == (403, "permission_denied")


@pytest.mark.parametrize("path", READS)
@pytest.mark.parametrize("roles", [(), ("support",), ("approvers",)], ids=["none", "an agent's", "much like one"])
async def test_whom_the_back_office_is_not_for_reads_nothing_here_either(
    house: House, path: str, roles: tuple[str, ...]
) -> None:
    """On the pages nobody without such a role gets past the sign-in."""
    assert code_of(await house.get(path, house.token(roles=roles))) == (403, "permission_denied")


@pytest.mark.parametrize("path", ONES)
async def test_what_another_tenant_has_is_absent(house: House, path: str) -> None:
    assert code_of(await house.get(path, house.token(tenant="tenant-b"))) == (404, "not_found")


async def test_what_another_tenant_has_is_in_no_list(house: House) -> None:
    stranger = house.operator(tenant="tenant-b")
    assert (await house.get(APPROVALS, stranger)).json() == {"approvals": [], "total": 0, "following": ""}
    assert (await house.get(OPERATIONS, stranger)).json() == {"operations": [], "following": ""}
    assert (await house.get(STUCK, stranger)).json()["total"] == 0


async def test_nobody_decides_or_resolves_what_another_tenant_has(house: House) -> None:
    assert code_of(await house.decide(token=house.token(tenant="tenant-b"))) == (404, "not_found")
    assert code_of(await house.resolve(house.operator(tenant="tenant-b"))) == (404, "not_found")


@pytest.mark.parametrize("path", ["/v1/approvals/{}", "/v1/operations/{}/sheet"])
@pytest.mark.parametrize("name", ["%00", "a%00b", "x" * 200, "%EF%BF%BF"])
async def test_an_odd_name_is_absent(house: House, path: str, name: str) -> None:
    assert code_of(await house.get(path.format(name))) == (404, "not_found")


@pytest.mark.parametrize("path", ["/v1/approvals/{}/decision", "/v1/operations/{}/resolution"])
@pytest.mark.parametrize("name", ["%00", "a%00b", "x" * 200])
async def test_nobody_has_a_word_on_an_odd_name(house: House, path: str, name: str) -> None:
    assert code_of(await house.post(path.format(name), {})) == (404, "not_found")


@pytest.mark.parametrize("path", [*READS, DECISION, RESOLUTION])
@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"])
async def test_a_method_that_a_route_does_not_take_is_refused_with_those_that_it_takes(
    house: House, path: str, method: str
) -> None:
    answer = await house.client.request(method, path, headers={"Authorization": f"Bearer {house.token()}"})
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET" if path in READS else "POST")


@pytest.mark.parametrize("path", [DECISION, RESOLUTION])
async def test_a_get_never_decides(house: House, path: str) -> None:
    assert code_of(await house.get(path)) == (405, "method_not_allowed")
    assert house.store.attempts == []


# ── what is shown ──


async def listed(house: House, **asked: Any) -> list[str]:
    answer = await house.client.get(APPROVALS, params=asked, headers={"Authorization": f"Bearer {house.token()}"})
    assert answer.status_code == 200
    return [line["approval_id"] for line in answer.json()["approvals"]]


async def test_what_waits_is_listed_with_what_it_is_about(house: House) -> None:
    told = (await house.get(APPROVALS)).json()
    assert (told["total"], told["following"]) == (1, "")
    (line,) = told["approvals"]
    assert (line["approval_id"], line["votes"], line["quorum"]) == ("approval-1", 0, 1)
    assert (line["money"], line["expires_at"]) == ({"minor_units": 12000, "currency": "KRW"}, "2026-03-04T12:00:00Z")


FOUND: list[tuple[Json, bool]] = [
    ({"tool": "execute_refund"}, True),
    ({"tool": "another"}, False),
    ({"currency": "KRW", "at_least": 12000, "at_most": 12000}, True),
    ({"currency": "KRW", "at_least": 12001}, False),
    ({"currency": "USD"}, False),
    ({"waiting_seconds": 60}, True),
    ({"waiting_seconds": 3600}, False),
    ({"ends_in_seconds": 3 * 24 * 3600}, True),
    ({"ends_in_seconds": 60}, False),
    ({"mine": "true"}, True),
    ({"after": "approval-1"}, False),
]


@pytest.mark.parametrize(("asked", "found"), FOUND)
async def test_a_filter_finds_what_it_says(house: House, asked: Json, found: bool) -> None:
    assert await listed(house, **asked) == ["approval-1"] * found


async def test_what_has_been_decided_is_no_longer_listed(house: House) -> None:
    await house.decide()
    assert await listed(house) == []


async def test_a_long_list_comes_page_by_page_and_names_each_question_once(house: House) -> None:
    for number in range(2, 121):
        house.store.ask(approval_sheet(f"approval-{number}"))
    seen, cursor = [], ""
    while True:
        told = (await house.get(f"{APPROVALS}?after={cursor}")).json()
        seen += [line["approval_id"] for line in told["approvals"]]
        cursor = told["following"]
        if not cursor:
            break
    assert (len(seen), len(set(seen)), told["total"]) == (120, 120, 120)


SEARCHES: list[tuple[str, bool]] = [
    ("state=manual_review", True),
    ("state=succeeded", False),
    ("resource=order:order-1001", True),
    ("requester=support-7&tool=execute_refund", True),
    ("requester=somebody", False),
    ("id=operation-1", True),
    ("since=2026-03-02T11:00:00Z&until=2026-03-02T12:00:00%2B00:00", True),
    ("until=2026-03-02T11:00:00Z", False),
]


@pytest.mark.parametrize(("asked", "found"), SEARCHES)
async def test_operations_are_found_by_what_is_known_of_them(house: House, asked: str, found: bool) -> None:
    told = (await house.get(f"{OPERATIONS}?{asked}")).json()
    assert [line["operation_id"] for line in told["operations"]] == ["operation-1"] * found


async def test_what_is_stuck_is_told_by_reason_with_what_hangs_on_it(house: House) -> None:
    told = (await house.get(STUCK, house.operator())).json()
    group = next(group for group in told["groups"] if group["why"] == "manual_review")
    assert (group["total"], group["sums"]) == (1, [{"minor_units": 12000, "currency": "KRW"}])
    assert group["operations"][0]["operation_id"] == "operation-1"
    assert told["messages"] == {"total": 0, "lines": []}
    assert (await house.get(STUCK)).json()["messages"] is None


ODDLY_ASKED: list[tuple[str, str]] = [
    (f"{APPROVALS}?at_least=5", "/query"),
    (f"{APPROVALS}?currency=KRW&at_least=much", "/query/at_least"),
    (f"{APPROVALS}?currency=KRW&at_least=-1", "/query/at_least"),
    (f"{APPROVALS}?currency=KRW&at_most=1{'0' * 40}", "/query/at_most"),
    (f"{APPROVALS}?currency=krw", "/query/currency"),
    (f"{APPROVALS}?waiting_seconds=1{'0' * 15}", "/query/waiting_seconds"),
    (f"{APPROVALS}?mine=perhaps", "/query/mine"),
    (f"{APPROVALS}?tool=a%00b", "/query/tool"),
    (f"{APPROVALS}?after=%27", "/query/after"),
    (f"{APPROVALS}?tol=refund", "/query/tol"),
    (f"{OPERATIONS}?state=done", "/query/state"),
    (f"{OPERATIONS}?since=2026-03-02T11:00:00", "/query/since"),
    (f"{OPERATIONS}?since=yesterday", "/query/since"),
    (f"{OPERATIONS}?id={'x' * 300}", "/query/id"),
    (f"{OPERATIONS}?resource=%00", "/query/resource"),
    (f"{OPERATIONS}?id=a&id=b", "/query/id"),
    (f"{OPERATIONS}?id=a&id=a", "/query/id"),
    (f"{APPROVALS}?mine=true&mine=false", "/query/mine"),
]


@pytest.mark.parametrize(("asked", "place"), ODDLY_ASKED)
async def test_a_filter_that_is_none_is_refused_with_its_place(house: House, asked: str, place: str) -> None:
    answer = await house.get(asked)
    assert code_of(answer) == (422, "invalid_request")
    (fault,) = answer.json()["errors"]
    assert (fault["path"], set(fault)) == (place, {"path", "code", "expected"})


async def test_who_is_not_let_in_is_not_told_what_is_wrong_with_the_rest(house: House) -> None:
    assert (await house.client.get(f"{APPROVALS}?tol=refund")).status_code == 401


async def test_a_sheet_shows_what_a_decision_rests_on(house: House) -> None:
    answer = await house.get(SHEET)
    sheet = answer.json()
    assert answer.status_code == 200
    assert (sheet["revision"], sheet["intent_hash"], sheet["state"]) == (1, HASH, "pending")
    assert sheet["impact"]["money"] == {"minor_units": 12000, "currency": "KRW"}
    assert sheet["impact"]["facts"][0] == {"label": "Paid", "value": "₩50,000", "money": None}
    assert sheet["arguments"][0] == {"label": "order_id", "value": "order-1001", "money": None}
    assert sheet["requester"]["agent"] == "support-agent"
    assert (sheet["expires_at"], sheet["quorum"], sheet["votes"]) == ("2026-03-04T12:00:00Z", 1, [])
    assert sheet["why"].startswith("Money leaves")


async def test_a_sheet_says_whether_the_viewers_word_would_be_taken(house: House) -> None:
    assert (await house.get(SHEET)).json()["viewer"] == {"may_act": True, "refusal": None}
    asked_for_it = house.token("support-7")
    barred = {"may_act": False, "refusal": "approver_not_allowed"}
    assert (await house.get(SHEET, asked_for_it)).json()["viewer"] == barred


async def test_an_operation_shows_what_an_operator_must_look_up(house: House) -> None:
    told = (await house.get(OPERATION, house.operator())).json()
    assert (told["state"], told["generation"], told["idempotency_key"]) == ("manual_review", 2, OTHER_HASH)
    assert (told["reference"], told["sends"], told["viewer"]["may_act"]) == ("re_88421", 1, True)
    assert told["timeline"][-1]["what"] == "Looked it up: not there yet"
    assert told["approvals"] == [{"approval_id": "approval-1", "revision": 1, "state": "consumed"}]


# ── a word that counts ──


async def test_an_approval_counts(house: House) -> None:
    answer = await house.decide(reason="Seen the parcel.")
    told = answer.json()
    assert (answer.status_code, told["state"], told["approvals"], told["repeated"]) == (200, "granted", 1, False)
    assert (told["decision"]["approver"], told["decision"]["reason"]) == ("approver-1", "Seen the parcel.")
    assert told["decision"]["approver_name"] == "Refund approver"
    assert house.state() is ApprovalState.GRANTED


async def test_a_denial_counts(house: House) -> None:
    answer = await house.decide("deny", reason="Not ours.")
    assert (answer.status_code, answer.json()["state"]) == (200, "denied")


async def test_the_same_word_again_is_answered_with_the_same_decision(house: House) -> None:
    first, again = await house.decide(reason="Fine."), await house.decide(reason="Very fine.")
    assert (again.status_code, again.json()["repeated"]) == (200, True)
    assert again.json()["decision"] == first.json()["decision"]


async def test_one_of_two_approvals_is_not_enough(house: House) -> None:
    house.store.ask(approval_sheet(quorum=2))
    first, twice = await house.decide(), await house.decide()
    assert (first.json()["state"], twice.json()["state"], twice.json()["approvals"]) == ("pending", "pending", 1)
    assert (await house.decide(token=house.token("approver-2"))).json()["state"] == "granted"


# ── a word that does not count ──


async def test_of_two_who_decide_at_once_one_is_told_who_decided_what_and_when(house: House) -> None:
    answers = await asyncio.gather(
        house.decide(reason="Mine."), house.decide("deny", token=house.token("approver-2"), reason="No.")
    )
    first, second = sorted(answers, key=lambda answer: answer.status_code)
    assert (first.status_code, code_of(second)) == (200, (409, "approval_already_decided"))
    told = second.json()
    assert told["decision"] == first.json()["decision"]
    assert told["approval"]["state"] == house.state() == first.json()["state"]


async def test_a_word_on_an_older_revision_is_told_the_new_content_and_counts_on_that(house: House) -> None:
    house.store.revise(house.store.approvals["approval-1"], OTHER_HASH)
    stale = await house.decide()
    assert code_of(stale) == (409, "approval_stale")
    shown = stale.json()["approval"]
    assert (shown["revision"], shown["intent_hash"], shown["state"]) == (2, OTHER_HASH, "pending")
    assert stale.json()["decision"] is None
    again = await house.decide(revision=shown["revision"], intent_hash=shown["intent_hash"])
    assert (again.status_code, house.state()) == (200, ApprovalState.GRANTED)


async def test_what_the_model_gave_and_what_was_asked_before_stand_beside_what_will_be_sent(house: House) -> None:
    given = (Fact("order_id", "o-17"),)
    house.store.revise(replace(house.store.approvals["approval-1"], given=given), OTHER_HASH)
    shown = (await house.get("/v1/approvals/approval-1")).json()
    assert shown["given"] == [{"label": "order_id", "value": "o-17", "money": None}]
    assert (shown["revision"], shown["earlier"]["revision"], shown["earlier"]["state"]) == (2, 1, "void")


async def test_a_word_on_a_void_question_is_told_the_one_that_has_taken_its_place(house: House) -> None:
    old = house.store.approvals["approval-1"]
    house.store.ask(replace(old, approval=replace(old.approval, state=ApprovalState.VOID)))
    new = replace(old.approval, approval_id="approval-2", revision=2)
    house.store.ask(replace(old, approval=new))
    asked = operation_sheet()
    newest = replace(asked.approvals[0], approval_id="approval-2", revision=2, state=ApprovalState.PENDING)
    house.store.record(replace(asked, approvals=(*asked.approvals, newest)))
    stale = await house.decide()
    assert code_of(stale) == (409, "approval_stale")
    assert (stale.json()["approval"]["approval_id"], stale.json()["approval"]["state"]) == ("approval-2", "pending")


async def test_the_revision_of_one_and_the_hash_of_another_count_for_nothing(house: House) -> None:
    assert code_of(await house.decide(intent_hash=OTHER_HASH)) == (409, "approval_stale")
    assert house.state() is ApprovalState.PENDING


async def test_a_late_word_is_told_when_the_time_ended(house: House) -> None:
    house.clock.advance(days=3)
    late = await house.decide()
    assert code_of(late) == (409, "approval_expired")
    assert late.json()["approval"]["expires_at"] == "2026-03-04T12:00:00Z"


async def test_one_vote_of_two_has_decided_nothing_when_the_time_ends(house: House) -> None:
    house.store.ask(approval_sheet(quorum=2))
    await house.decide()
    house.clock.advance(days=3)
    late = await house.decide(token=house.token("approver-2"))
    assert code_of(late) == (409, "approval_expired")
    assert (late.json()["decision"], len(late.json()["approval"]["votes"])) == (None, 1)


async def test_another_word_than_the_first_is_told_the_first(house: House) -> None:
    house.store.ask(approval_sheet(quorum=2))
    first = await house.decide()
    other = await house.decide("deny", reason="No.")
    assert code_of(other) == (409, "vote_already_cast")
    assert other.json()["decision"] == first.json()["decision"]


@pytest.mark.parametrize(
    "who", [{"subject": "support-7"}, {"subject": "viewer-1", "roles": ("viewer",)}], ids=["own request", "no role"]
)
async def test_who_may_not_decide_is_told_so_and_nothing_else(house: House, who: Json) -> None:
    answer = await house.decide(token=house.token(**who))
    assert code_of(answer) == (403, "approver_not_allowed")
    assert {"approval", "decision"} & answer.json().keys() == set()
    assert house.state() is ApprovalState.PENDING


@pytest.mark.parametrize("reason", ["  ", "\u200b\u2060"], ids=ascii)
async def test_a_denial_says_why(house: House, reason: str) -> None:
    assert code_of(await house.decide("deny", reason=reason)) == (422, "decision_reason_required")
    assert house.state() is ApprovalState.PENDING


ODD: dict[str, Json] = {
    "no revision": {"revision": None},
    "the latest revision": {"revision": "latest"},
    "a revision that is text": {"revision": "1"},
    "revision zero": {"revision": 0},
    "a revision beyond all": {"revision": 2**31},
    "no hash": {"intent_hash": None},
    "an empty hash": {"intent_hash": ""},
    "no choice": {"choice": None},
    "a choice that there is not": {"choice": "perhaps"},
    "somebody else's name": {"approver": "approver-2"},
    "a reason beyond measure": {"reason": "x" * 2001},
}


@pytest.mark.parametrize("changes", ODD.values(), ids=ODD.keys())
async def test_a_body_that_is_no_word_is_told_to_the_audit_log_by_its_code_alone(house: House, changes: Json) -> None:
    await house.decide(**({"choice": "approve"} | changes))
    (line,) = house.audit.lines
    assert (line.actor, line.what, line.detail) == ("approver-1", "decision.refused", '{"code": "invalid_request"}')


async def test_an_operators_body_that_is_no_word_is_told_too(house: House) -> None:
    await house.resolve(finding="perhaps")
    (line,) = house.audit.lines
    assert (line.what, line.detail) == ("resolution.refused", '{"code": "invalid_request"}')


async def test_what_nobody_who_is_known_has_sent_is_not_told(house: House) -> None:
    await house.client.post(DECISION, json={"choice": "approve"})
    assert house.audit.lines == []


@pytest.mark.parametrize("changes", ODD.values(), ids=ODD.keys())
async def test_what_does_not_fit_decides_nothing_and_names_the_place(house: House, changes: Json) -> None:
    answer = await house.decide(**({"choice": "approve"} | changes))
    assert code_of(answer) == (422, "invalid_request")
    (fault,) = answer.json()["errors"]
    assert (fault["path"], set(fault)) == (f"/{next(iter(changes))}", {"path", "code", "expected"})
    assert house.store.attempts == []


@pytest.mark.parametrize("path", [DECISION, RESOLUTION])
async def test_a_body_that_is_no_strict_json_or_too_large_is_not_read(house: House, path: str) -> None:
    headers = {"Authorization": f"Bearer {house.token()}"}
    for content, expected in ((b'{"a": 1, "a": 2}', (400, "invalid_json")), (b" " * 70_000, (413, "body_too_large"))):
        assert code_of(await house.client.post(path, content=content, headers=headers)) == expected


# ── an operator's word ──


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"evidence": " \u200b"}, "resolution_evidence_required"),
        ({"reference": "\u200b"}, "resolution_reference_required"),
        ({"reference": "re_88421\u202e"}, "resolution_reference_unclear"),
        ({"reference": "re_88\n421"}, "resolution_reference_unclear"),
        ({"reference": "re_88421 "}, "resolution_reference_unclear"),
    ],
    ids=ascii,
)
async def test_a_word_that_rests_on_what_nobody_can_see_does_not_count(house: House, changes: Json, code: str) -> None:
    assert code_of(await house.resolve(**changes)) == (422, code)
    assert house.store.resolutions == {}


async def test_an_operators_word_counts_and_may_be_repeated(house: House) -> None:
    assert [(await house.resolve()).status_code for _ in range(2)] == [204, 204]
    assert house.store.resolutions["operation-1"].reference == "re_88421"


@pytest.mark.parametrize(
    ("changes", "code"),
    [({"generation": 1}, "resolution_stale"), ({"evidence": "Other."}, "resolution_already_given")],
)
async def test_a_word_that_comes_too_late_is_told_the_operation_as_it_is(
    house: House, changes: Json, code: str
) -> None:
    await house.resolve()
    answer = await house.resolve(**changes)
    assert code_of(answer) == (409, code)
    assert (answer.json()["operation"]["generation"], answer.json()["operation"]["state"]) == (2, "manual_review")


@pytest.mark.parametrize(
    "who", [{"subject": "support-7", "roles": ("operator",)}, {"roles": ("viewer",)}], ids=["own request", "no role"]
)
async def test_who_is_no_operator_of_this_resolves_nothing(house: House, who: Json) -> None:
    assert code_of(await house.resolve(house.token(**who))) == (403, "operator_not_allowed")
    assert house.store.resolutions == {}


async def test_what_belongs_to_another_tenant_is_not_told_in_a_conflict(house: House) -> None:
    house.store.ask(of_tenant(approval_sheet("approval-1"), "tenant-b"))
    answer = await house.decide()
    assert (code_of(answer), "approval" in answer.json()) == ((404, "not_found"), False)
