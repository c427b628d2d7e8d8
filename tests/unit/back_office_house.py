"""The back office as a whole, with its issuer and its stores, and a browser to visit it with."""

import re
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

import httpx2
from fastapi import FastAPI

from adapters.http.back_office.application import mount
from adapters.http.back_office.audit_ports import AuditLog
from adapters.http.back_office.dashboard_ports import Dashboard
from adapters.http.back_office.ports import BackOfficeStore
from adapters.http.back_office.session_store import SessionStore
from adapters.http.back_office.settings import BackOfficeSettings
from adapters.http.identity import TokenVerifier
from adapters.http.issuer import Issuer, IssuerKeys
from adapters.http.limits import Limits
from adapters.http.problem_handlers import answer_with_problems
from tests.fakes.audit_log import MemoryAuditLog
from tests.fakes.dashboard import MemoryDashboard
from tests.fakes.sessions import MemorySessions
from tests.support.plain import PLAIN
from tests.unit.back_office_sheets import approval_sheet
from tests.unit.memory_back_office import NOON, MemoryBackOffice, StandingClock
from workflows.domain.approval import ApprovalState

HERE = "http://localhost:8000"
ISSUER = "http://localhost:8400"
SECRET = "a-secret-for-tests-of-forty-characters--"
OWN_PAGE = {"Sec-Fetch-Site": "same-origin"}
INBOX = "/back-office/"
PAGE = "/back-office/approvals/approval-1"
DECISION = f"{PAGE}/decision"


class Browser:
    """Follows links and sends the forms that a page holds, with cookies."""

    def __init__(self, transports: dict[str, httpx2.AsyncBaseTransport]) -> None:
        self.client = httpx2.AsyncClient(mounts=transports, base_url=HERE, verify=PLAIN)

    async def sign_in(self, person: str, start: str = "/back-office/sign-in/start") -> httpx2.Response:
        leaving = await self.client.get(start)
        form = {name: values[0] for name, values in parse_qs(urlsplit(leaving.headers["location"]).query).items()}
        chosen = await self.client.post(f"{ISSUER}/authorize", data={**form, "person": person})
        return await self.client.get(chosen.headers["location"])

    async def get(self, path: str) -> httpx2.Response:
        return await self.client.get(path)

    async def hidden(self, path: str = PAGE) -> dict[str, str]:
        """The hidden fields of the form that a page holds."""
        page = (await self.get(path)).text
        fields = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', page)
        return dict(fields)

    async def post(self, path: str, form: dict[str, str], headers: dict[str, str] = OWN_PAGE) -> httpx2.Response:
        return await self.client.post(path, data=form, headers=headers)

    async def decide(self, choice: str, reason: str = "", path: str = PAGE, **changed: str) -> httpx2.Response:
        """Open the page, then press a button on it."""
        form = await self.hidden(path) | {"choice": choice, "reason": reason} | changed
        return await self.post(f"{path}/decision", form)


@dataclass
class House:
    """The back office with its issuer, its store and its clock."""

    store: MemoryBackOffice
    sessions: MemorySessions
    clock: StandingClock
    transports: dict[str, httpx2.AsyncBaseTransport]
    audit: MemoryAuditLog
    dashboard: MemoryDashboard

    def browser(self) -> Browser:
        return Browser(self.transports)

    async def signed_in(self, person: str) -> Browser:
        browser = self.browser()
        await browser.sign_in(person)
        return browser

    def state(self, approval_id: str = "approval-1") -> ApprovalState:
        return self.store.approvals[approval_id].approval.state


def application(
    store: BackOfficeStore,
    clock: StandingClock,
    issuer: httpx2.AsyncBaseTransport,
    sessions: SessionStore | None = None,
    limits: Limits | None = None,
    audit: AuditLog | None = None,
    dashboard: Dashboard | None = None,
) -> FastAPI:
    app = FastAPI()
    answer_with_problems(app)
    seen = Issuer(ISSUER, httpx2.AsyncClient(transport=issuer))
    settings = BackOfficeSettings(HERE, SECRET, console_workflow_url="http://localhost:8233/w/{workflow_id}")
    verifier = TokenVerifier(IssuerKeys(seen), issuer=ISSUER, audience="onceward")
    kept = sessions or MemorySessions(clock)
    mount(
        app,
        store=store,
        sessions=kept,
        audit=audit or MemoryAuditLog(clock),
        dashboard=dashboard or MemoryDashboard(),
        verifier=verifier,
        issuer=seen,
        settings=settings,
        clock=clock,
        limits=limits,
    )
    return app


def house_of(issuer: httpx2.AsyncBaseTransport, limits: Limits | None = None) -> House:
    """A house in which one approval waits."""
    clock = StandingClock()
    store, sessions, audit = MemoryBackOffice(clock), MemorySessions(clock), MemoryAuditLog(clock)
    store.ask(approval_sheet())
    dashboard = MemoryDashboard(NOON)
    app = application(store, clock, issuer, sessions, limits, audit, dashboard)
    here = httpx2.ASGITransport(app, raise_app_exceptions=False)
    return House(store, sessions, clock, {HERE: here, ISSUER: issuer}, audit, dashboard)
