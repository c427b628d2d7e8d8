"""Every route that changes something, tried with every credential that must reach no decision and no resolution.

The doors are the real ones over PostgreSQL. Whoever adds a route that changes something has to say here what to send to
it, and finds out whether it is a way round.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlencode

import httpx2
import pytest
from sqlalchemy import func, select, update
from starlette.routing import Mount
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from adapters.http.back_office.settings import PREFIX
from adapters.postgres.engine import Database
from adapters.postgres.tables import approvals, decisions, resolutions, sessions
from tests.support.acts import asked, in_review
from tests.support.benches import PostgresBench
from tests.support.proposals import CALLER, fresh
from tests.unit.back_office_house import HERE, ISSUER, Browser
from worker.api import Closing, application
from worker.dev import issuer as development
from worker.dev.issuer import DevelopmentIssuer, IssuerSettings, mint
from worker.dev.people import PEOPLE, Person
from worker.dev.stack import Stack
from worker.settings import ApiSettings

DOOR, OFFICE, SIGN_IN = "onceward", "onceward-back-office-api", "onceward-back-office"
AUDIENCES = (DOOR, OFFICE, SIGN_IN)

ROLES = ("approver:refunds", "operator", "support")
"""All that anybody needs, so that it is never only the role that is missing."""

OWN_PAGE = {"Sec-Fetch-Site": "same-origin", "Origin": HERE}

MAY_NOT = "viewer-1"
REQUESTER = Person(CALLER.subject, "Requester", "tenant-a", ROLES)
NEIGHBOUR = Person("approver-b", "Approver of another tenant", "tenant-b", ROLES)
APPROVER = Person("approver-1", "Approver", "tenant-a", ROLES)
LEFT = Person("approver-9", "Approver who has signed out", "tenant-a", ROLES)


class AbsentTemporal:
    """Wakes nobody: the outbox would."""

    async def start_workflow(self, *_: Any, **__: Any) -> None:
        raise RPCError("away", RPCStatusCode.UNAVAILABLE, b"")


@dataclass(frozen=True)
class Wanted:
    """What somebody wants to decide and to resolve, with all that the right person's page would show."""

    operation_id: str
    approval_id: str
    intent_hash: str
    in_review: str

    def address(self, path: str) -> str:
        """The route's address for what is wanted there."""
        subject = self.in_review if path.endswith("/resolution") else self.operation_id
        filled = path.replace("{approval_id}", self.approval_id).replace("{operation_id}", subject)
        return filled.replace("{id}", self.approval_id if "/approvals/" in path else subject)

    def fields(self, path: str) -> dict[str, Any]:
        """What to send."""
        if path.endswith("/decision"):
            return {"choice": "approve", "reason": "", "revision": 1, "intent_hash": self.intent_hash}
        if path.endswith("/resolution"):
            return {"finding": "happened", "evidence": "Seen.", "reference": fresh("rf"), "generation": 1}
        return {"surface": "anthropic-messages", "response": {}} if path.endswith("/turns") else {}


@dataclass(frozen=True)
class House:
    """The doors, their issuer, and what is wanted of them."""

    app: Any
    issuer: httpx2.ASGITransport
    keys: Path
    wanted: Wanted
    owner: Database

    @property
    def transports(self) -> dict[str, httpx2.AsyncBaseTransport]:
        return {HERE: httpx2.ASGITransport(self.app), ISSUER: self.issuer}

    def changing(self) -> list[str]:
        """Every route that takes anything but a GET."""
        return sorted({path for path, methods in _routes(self.app) if methods - {"GET", "HEAD", "OPTIONS"}})

    def token(self, audience: str, person: Person, agent: str = "") -> str:
        return mint(
            self.keys,
            issuer=ISSUER,
            audience=audience,
            subject=person.subject,
            tenant=person.tenant,
            roles=person.roles,
            agent=agent,
        )

    async def signed_in(self, person: str) -> Browser:
        browser = Browser(self.transports)
        answer = await browser.sign_in(person)
        assert answer.status_code == 303
        return browser

    async def try_all(self, client: httpx2.AsyncClient, csrf: str = "") -> dict[str, set[int]]:
        """Send to every route, as a form and as JSON, by every method; the statuses of what was answered."""
        answered: dict[str, set[int]] = {}
        for path in self.changing():
            address, fields = self.wanted.address(path), self.wanted.fields(path)
            form = urlencode(fields | {"csrf": csrf}).encode()
            as_form = {"content": form, "headers": OWN_PAGE | {"Content-Type": "application/x-www-form-urlencoded"}}
            tries = [
                await client.post(address, json=fields, headers=OWN_PAGE),
                await client.post(address, **cast("Any", as_form)),
                await client.get(address, params=fields),
                await client.put(address, json=fields, headers=OWN_PAGE),
            ]
            answered[path] = {each.status_code for each in tries}
        return answered

    async def counted(self) -> tuple[int, int, str]:
        """Decisions, resolutions, and how the question stands."""
        mine = (self.wanted.operation_id, self.wanted.in_review)
        decided = select(func.count()).select_from(decisions).where(decisions.c.approval_id == self.wanted.approval_id)
        resolved = select(func.count()).select_from(resolutions).where(resolutions.c.operation_id.in_(mine))
        state = select(approvals.c.state).where(approvals.c.approval_id == self.wanted.approval_id)
        async with self.owner.transaction() as connection:
            found = [(await connection.execute(each)).scalar_one() for each in (decided, resolved, state)]
        return cast("tuple[int, int, str]", tuple(found))


def _routes(app: Any, prefix: str = "") -> Iterator[tuple[str, set[str]]]:
    for route in app.routes:
        if isinstance(route, Mount):
            # The pages stand inside of what sets their headers.
            inner = getattr(route.app, "_app", route.app)
            yield from _routes(inner, prefix + route.path) if hasattr(inner, "routes") else ()
        elif hasattr(route, "original_router"):
            yield from _routes(route.original_router, prefix)
        else:
            yield prefix + route.path, set(route.methods or ())


@pytest.fixture
async def house(
    postgres: Stack,
    postgres_bench: PostgresBench,
    owner_database: Database,
    door_database: Database,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncIterator[House]:
    known = [each for each in PEOPLE if each.subject not in ("approver-1", "approver-b")]
    monkeypatch.setattr(development, "PEOPLE", (*known, REQUESTER, NEIGHBOUR, APPROVER, LEFT))
    issuer = httpx2.ASGITransport(DevelopmentIssuer(IssuerSettings(dev_issuer_state_dir=tmp_path, issuer=ISSUER)).app())
    given: dict[str, Any] = {
        "postgres_dsn": postgres.dsn("onceward_door"),
        "temporal_address": "127.0.0.1:1",
        "public_url": HERE,
        "issuer": ISSUER,
        "development": True,
        "session_secret": "s" * 32,
        "words_per_minute": 1000,
    }
    async with httpx2.AsyncClient(transport=issuer) as web:
        temporal = cast("Client", AbsentTemporal())
        app = application(ApiSettings(**given), door_database, temporal, web, Closing())
        yield House(app, issuer, tmp_path, await _wanted(postgres_bench), owner_database)


async def _wanted(bench: PostgresBench) -> Wanted:
    operation, question = await asked(bench)
    claim = await in_review(bench)
    return Wanted(operation.operation_id, question.approval_id, operation.intent_hash, claim.operation_id)


@asynccontextmanager
async def client_with(house: House, **headers: str) -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(transport=house.transports[HERE], base_url=HERE, headers=headers) as client:
        yield client


NOTHING = (0, 0, "pending")


def test_every_route_that_changes_something_is_known(house: House) -> None:
    assert house.changing() == [
        f"{PREFIX}/approvals/{{id}}/decision",
        f"{PREFIX}/language",
        f"{PREFIX}/operations/{{id}}/resolution",
        f"{PREFIX}/sign-out",
        f"{PREFIX}/stuck/messages/{{id}}/requeue",
        f"{PREFIX}/stuck/notices/{{id}}/retell",
        "/v1/approvals/{approval_id}/decision",
        "/v1/operations/{operation_id}/cancel",
        "/v1/operations/{operation_id}/resolution",
        "/v1/turns",
    ]


async def test_nobody_decides_without_a_credential(house: House) -> None:
    async with client_with(house) as client:
        answered = await house.try_all(client)
    assert not {200, 204} & (answered["/v1/approvals/{approval_id}/decision"] | answered["/v1/turns"])
    assert await house.counted() == NOTHING


@pytest.mark.parametrize("audience", AUDIENCES)
async def test_no_agent_decides_for_whomever_it_acts_and_whichever_roles_it_has(house: House, audience: str) -> None:
    for person in (APPROVER, REQUESTER):
        token = house.token(audience, person, agent="support-agent")
        async with client_with(house, Authorization=f"Bearer {token}") as client:
            await house.try_all(client)
    assert await house.counted() == NOTHING


@pytest.mark.parametrize("audience", [DOOR, SIGN_IN])
async def test_a_persons_token_for_another_door_decides_nothing(house: House, audience: str) -> None:
    async with client_with(house, Authorization=f"Bearer {house.token(audience, APPROVER)}") as client:
        await house.try_all(client)
    assert await house.counted() == NOTHING


@pytest.mark.parametrize("person", [REQUESTER, NEIGHBOUR, replace(APPROVER, roles=("viewer",))], ids=str)
async def test_a_person_who_may_not_decide_does_not_over_the_api(house: House, person: Person) -> None:
    async with client_with(house, Authorization=f"Bearer {house.token(OFFICE, person)}") as client:
        await house.try_all(client)
    assert await house.counted() == NOTHING


@pytest.mark.parametrize("person", [MAY_NOT, REQUESTER.subject, NEIGHBOUR.subject])
async def test_a_person_who_may_not_decide_does_not_on_the_pages(house: House, person: str) -> None:
    browser = await house.signed_in(person)
    await house.try_all(browser.client, (await browser.hidden(f"{PREFIX}/"))["csrf"])
    assert await house.counted() == NOTHING


async def test_an_agents_token_adds_nothing_to_a_session_and_a_session_nothing_to_it(house: House) -> None:
    browser = await house.signed_in(MAY_NOT)
    csrf = (await browser.hidden(f"{PREFIX}/"))["csrf"]
    for audience in AUDIENCES:
        token = house.token(audience, APPROVER, agent="support-agent")
        browser.client.headers["Authorization"] = f"Bearer {token}"
        await house.try_all(browser.client, csrf)
    assert await house.counted() == NOTHING


@pytest.mark.parametrize("moment", ["ends_at", "seen_at", "checked_at", "ended_at"])
async def test_a_session_that_has_ended_decides_nothing(house: House, moment: str) -> None:
    browser = await house.signed_in(LEFT.subject)
    csrf = (await browser.hidden(f"{PREFIX}/"))["csrf"]
    long_ago = func.now() - func.make_interval(0, 0, 0, 1)
    ended = update(sessions).where(sessions.c.subject == LEFT.subject).values({moment: long_ago})
    async with house.owner.transaction() as connection:
        await connection.execute(ended)
    await house.try_all(browser.client, csrf)
    assert await house.counted() == NOTHING


async def test_a_session_decides_nothing_without_its_forms_secret(house: House) -> None:
    browser, other = await house.signed_in(APPROVER.subject), await house.signed_in(APPROVER.subject)
    for csrf in ("", "x" * 64, (await other.hidden(f"{PREFIX}/"))["csrf"]):
        await house.try_all(browser.client, csrf)
    assert await house.counted() == NOTHING


async def test_the_right_person_decides_and_resolves_on_the_pages(house: House) -> None:
    browser = await house.signed_in(APPROVER.subject)
    path, resolution = f"{PREFIX}/approvals/{{id}}/decision", f"{PREFIX}/operations/{{id}}/resolution"
    csrf = {"csrf": (await browser.hidden(f"{PREFIX}/"))["csrf"]}
    for route in (path, resolution):
        fields = {name: str(value) for name, value in house.wanted.fields(route).items()}
        answer = await browser.post(house.wanted.address(route), fields | csrf)
        assert answer.status_code == 200, answer.text
    assert await house.counted() == (1, 1, "granted")


async def test_the_right_person_decides_and_resolves_over_the_api(house: House) -> None:
    async with client_with(house, Authorization=f"Bearer {house.token(OFFICE, APPROVER)}") as client:
        for route in ("/v1/approvals/{approval_id}/decision", "/v1/operations/{operation_id}/resolution"):
            answer = await client.post(house.wanted.address(route), json=house.wanted.fields(route))
            assert answer.is_success, answer.text
    assert await house.counted() == (1, 1, "granted")
