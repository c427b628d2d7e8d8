"""`python -m worker.api`: the door for agents and the back office for people."""

import os
import socket
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from types import FrameType

import httpx2
import structlog
import uvicorn
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp
from temporalio.client import Client
from temporalio.service import RPCError

from adapters.envelopes import SURFACES
from adapters.envelopes.envelope import Search
from adapters.http import doors, office
from adapters.http.back_office.application import mount
from adapters.http.back_office.session_store import SessionRules
from adapters.http.back_office.settings import BackOfficeSettings
from adapters.http.doors import Doors
from adapters.http.headers import Headers
from adapters.http.identity import BearerIdentity, TokenVerifier
from adapters.http.issuer import Issuer, IssuerKeys
from adapters.http.limits import FailedCredentials, Limiter
from adapters.http.mcp_door import McpDoor
from adapters.http.office import BackOfficeApi
from adapters.http.openapi import describe
from adapters.http.people import PersonIdentity
from adapters.http.problem_handlers import answer_with_problems
from adapters.intake.cancels import Cancels
from adapters.intake.offers import Offers
from adapters.intake.ports import Budget
from adapters.intake.room import Room
from adapters.intake.searches import Searches, Shortlists
from adapters.intake.turns import Turns
from adapters.intake.watch import News, Watch
from adapters.postgres.audit_log import PostgresAuditLog
from adapters.postgres.back_office import PostgresBackOffice
from adapters.postgres.cancellations import PostgresCancellations
from adapters.postgres.dashboard import PostgresDashboard
from adapters.postgres.decisions import Wake
from adapters.postgres.engine import Database
from adapters.postgres.inbox import PostgresInbox
from adapters.postgres.news import PostgresNews
from adapters.postgres.progress import PostgresProgress
from adapters.postgres.sessions import PostgresSessions
from adapters.temporal.starter import TemporalStarter
from worker import mcp_hosts, process, usage, wiring
from worker.kept_dashboard import KeptDashboard
from worker.metrics import Metrics
from worker.readiness import Readiness
from worker.settings import ApiSettings, read
from workflows.domain.catalog import Catalog
from workflows.domain.errors import InvalidConfiguration

log = structlog.get_logger(__name__)

VERSION = "0.1.0"

LONGEST_FAREWELL = 10
"""Seconds that open requests get to be answered when this process is told to end."""


class Closing:
    """Whether this process has been told to end."""

    def __init__(self) -> None:
        self.begun = False

    def __call__(self) -> bool:
        """For those who wait."""
        return self.begun


class Server(uvicorn.Server):
    """Tells those who wait before it ends, so that they are answered instead of cut off."""

    def __init__(self, config: uvicorn.Config, closing: Closing, news: PostgresNews) -> None:
        super().__init__(config)
        self._closing, self._news = closing, news

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """The server's own answer to SIGINT and SIGTERM."""
        self._closing.begun = True
        self._news.wake_all()
        super().handle_exit(sig, frame)


def application(
    settings: ApiSettings,
    database: Database,
    client: Client,
    web: httpx2.AsyncClient,
    closing: Closing,
    news: News | None = None,
) -> FastAPI:
    """The door and the back office over one database and one Temporal."""
    issuer = Issuer(settings.issuer, web)
    verifier = TokenVerifier(IssuerKeys(issuer), issuer=settings.issuer, audience=settings.audience)
    starter = TemporalStarter(client, settings.temporal_task_queue)
    catalog = wiring.catalog(settings)
    watch = Watch(PostgresProgress(database), time.monotonic, closing, news)
    cancels = Cancels(PostgresCancellations(database, _nudging(starter)), watch)
    inbox, room = PostgresInbox(database), Room(settings.turns_at_once)
    mcp = mcp_hosts.endpoint(settings, catalog, inbox, starter, watch, cancels, room, VERSION)
    app = FastAPI(
        title="Onceward",
        version=VERSION,
        docs_url=None,
        redoc_url=None,
        # A redirect to the address without its slash would be built from the Host header.
        redirect_slashes=False,
        lifespan=lambda _: mcp.running(),
    )
    answer_with_problems(app)
    app.include_router(_doors(settings, catalog, database, starter, verifier, watch, cancels, room).router())
    mcp_door = McpDoor(mcp, BearerIdentity(verifier), public_url=settings.public_url, issuer=settings.issuer)
    mcp_door.add_to(app)
    app.add_route("/healthz", _healthy, include_in_schema=False)
    app.add_route("/readyz", Readiness(database, client).answer, include_in_schema=False)
    if settings.metrics_token is not None:
        app.add_route("/metrics", Metrics(database, settings.metrics_token).answer, include_in_schema=False)
    titles = {contract.name: contract.title for contract in catalog.all()}
    store = PostgresBackOffice(database, _nudging(starter), titles)
    limits = settings.limits()
    person = PersonIdentity(verifier, settings.back_office_audience, limits.words)
    app.include_router(BackOfficeApi(store, person, PostgresAuditLog(database)).router())
    describe(app, [*doors.DESCRIBED, *office.DESCRIBED], {"surface": sorted(SURFACES), "search": sorted(Search)})
    sessions = PostgresSessions(database, _session_rules(settings))
    pages = _back_office(settings)
    mount(
        app,
        store=store,
        sessions=sessions,
        audit=PostgresAuditLog(database),
        dashboard=KeptDashboard(PostgresDashboard(database)),
        verifier=verifier,
        issuer=issuer,
        settings=pages,
        limits=limits,
    )
    return app


def guarded(app: FastAPI, settings: ApiSettings) -> ASGIApp:
    """The same with what every answer is held to, the answer to a surprise included."""
    held = FailedCredentials(app, Limiter(settings.failed_tokens_per_minute))
    return Headers(held, secure=settings.public_url.startswith("https://"))


def _doors(
    settings: ApiSettings,
    catalog: Catalog,
    database: Database,
    starter: TemporalStarter,
    verifier: TokenVerifier,
    watch: Watch,
    cancels: Cancels,
    room: Room,
) -> Doors:
    budget = Budget(settings.calls_per_conversation, settings.same_answers)
    inbox, offers = PostgresInbox(database), Offers(SURFACES, catalog, strict=settings.strict_tools)
    searches, parallel = Searches(catalog, offers), settings.parallel
    behind = (SURFACES, catalog, inbox, starter, watch, budget)
    turns = Turns(*behind, offers=offers, searches=searches, parallel=parallel, room=room)
    shortlists = Shortlists(searches, offers, inbox)
    return Doors(turns, cancels, offers, shortlists, PostgresProgress(database), BearerIdentity(verifier))


def _nudging(starter: TemporalStarter) -> Callable[[Wake], Awaitable[None]]:
    async def nudge(wake: Wake) -> None:
        try:
            await starter.nudge(wake.operation_id, **wake.named())
        except RPCError as error:
            # The decision is committed with its nudge in the outbox; the relay goes on trying.
            log.warning("nudge_left_to_the_relay", operation_id=wake.operation_id, status=str(error.status))

    return nudge


def _session_rules(settings: ApiSettings) -> SessionRules:
    return SessionRules(timedelta(minutes=settings.session_idle_minutes), settings.sessions_per_person)


def _back_office(settings: ApiSettings) -> BackOfficeSettings:
    console = f"{settings.console_url}/namespaces/{settings.temporal_namespace}/workflows/{{workflow_id}}"
    return BackOfficeSettings(
        public_url=settings.public_url,
        session_secret=settings.session_secret.get_secret_value(),
        client_id=settings.back_office_client_id,
        console_workflow_url=console if settings.console_url else "",
    )


async def _healthy(_: Request) -> Response:
    return PlainTextResponse("ok\n")


def listening(settings: ApiSettings) -> socket.socket:
    """A socket that listens where the settings say: uvicorn's own refusal would be a log line and exit code 1."""
    host, port = settings.api_host, settings.api_port
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        listener = socket.create_server(address, family=family)
        # Those who come in inherit it. Without it an answer's second half waits 40 ms for word that the first one came:
        # asyncio sets it only for sockets that name their protocol, and this one does not.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listener
    except OSError as refusal:
        reason = os.strerror(refusal.errno) if refusal.errno and refusal.errno > 0 else refusal.strerror
        raise InvalidConfiguration(
            f"Nobody can listen at ONCEWARD_API_HOST and ONCEWARD_API_PORT ({host}:{port}): {reason}."
        ) from None


async def main() -> None:
    """Serve until told to end."""
    settings = read(ApiSettings)
    process.set_up_logs(settings.log_format)
    dsn, closing = settings.postgres_dsn.get_secret_value(), Closing()
    database = Database(dsn, application_name="onceward-api", pool_size=settings.connections, answering=True)
    news = PostgresNews(database, dsn, application_name="onceward-api-news")
    async with process.temporal(settings) as client, httpx2.AsyncClient(timeout=5.0) as web:
        config = uvicorn.Config(
            guarded(application(settings, database, client, web, closing, news), settings),
            # Nobody's word about who is behind them counts, but for the proxies that the settings name.
            proxy_headers=bool(settings.trusted_proxies),
            forwarded_allow_ips=list(settings.trusted_proxies),
            log_level="warning",
            server_header=False,
            timeout_graceful_shutdown=LONGEST_FAREWELL,
        )
        try:
            await database.require()
            with listening(settings) as listener:
                process.say_ready(settings.ready_file)
                async with news.running():
                    await Server(config, closing, news).serve([listener])
        finally:
            await database.close()


if __name__ == "__main__":
    usage.parser("worker.api", __doc__, ApiSettings).parse_args()
    process.run(main, ends_itself=True)
