"""The pages as one application, with its routes and what it says of errors.

    mount(app, store=…, sessions=…, audit=…, dashboard=…, verifier=…, issuer=…, settings=BackOfficeSettings(…))

Everything works without JavaScript. The pages know the stores only as `ports.BackOfficeStore`,
`session_store.SessionStore` and `dashboard_ports.Dashboard`.
"""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from adapters.http.back_office.admission import Doorkeeper
from adapters.http.back_office.approvals import ApprovalPages
from adapters.http.back_office.audit_pages import AuditPages
from adapters.http.back_office.audit_ports import AuditLog
from adapters.http.back_office.code_flow import CodeFlow
from adapters.http.back_office.cookies import SignedCookie
from adapters.http.back_office.dashboard import DashboardPages
from adapters.http.back_office.dashboard_ports import Dashboard
from adapters.http.back_office.inbox import InboxPages
from adapters.http.back_office.language_choice import LanguageChoice
from adapters.http.back_office.languages import N_
from adapters.http.back_office.operations import OperationPages
from adapters.http.back_office.pages import Pages
from adapters.http.back_office.ports import BackOfficeStore
from adapters.http.back_office.refusal import PageRefused
from adapters.http.back_office.resolutions import ResolutionPages
from adapters.http.back_office.search import SearchPages
from adapters.http.back_office.security import SecurityHeaders
from adapters.http.back_office.session import Clock, Recognition, RenewalNeeded, Sessions, SignInNeeded
from adapters.http.back_office.session_store import SessionStore
from adapters.http.back_office.settings import PREFIX, BackOfficeSettings
from adapters.http.back_office.sign_in import ATTEMPT_LIFETIME, SignIn
from adapters.http.back_office.stuck import StuckPages
from adapters.http.back_office.throttle import Throttle
from adapters.http.identity import TokenVerifier
from adapters.http.issuer import Issuer, IssuerUnavailable
from adapters.http.limits import Limits
from workflows.domain.errors import StoreUnavailable

ASSETS = Path(__file__).parent / "assets"

Handler = Callable[[Request, Any], Awaitable[Response]]


def wall_clock() -> datetime:
    """The time now, in UTC."""
    return datetime.now(UTC)


def mount(
    app: Starlette,
    *,
    store: BackOfficeStore,
    sessions: SessionStore,
    audit: AuditLog,
    dashboard: Dashboard,
    verifier: TokenVerifier,
    issuer: Issuer,
    settings: BackOfficeSettings,
    clock: Clock = wall_clock,
    limits: Limits | None = None,
) -> None:
    """Add the back office to `app`, and lead the root address there."""
    pages = back_office(store, sessions, audit, dashboard, verifier, issuer, settings, clock, limits or Limits())
    app.mount(PREFIX, pages)
    for address in ("/", PREFIX):
        app.add_route(address, _to_back_office, include_in_schema=False)


def back_office(
    store: BackOfficeStore,
    kept: SessionStore,
    audit: AuditLog,
    dashboard: Dashboard,
    verifier: TokenVerifier,
    issuer: Issuer,
    settings: BackOfficeSettings,
    clock: Clock,
    limits: Limits,
) -> ASGIApp:
    """The pages as an ASGI application that is to be mounted at `PREFIX`."""
    pages = Pages(clock)
    sessions = Sessions(kept, settings.session_secret, issuer.url, secure=settings.secure, clock=clock)
    attempts = SignedCookie(
        "onceward_sign_in", settings.session_secret, secure=settings.secure, lifetime=ATTEMPT_LIFETIME, clock=clock
    )
    flow = CodeFlow(issuer, verifier, settings)
    operations = OperationPages(store, pages, sessions, settings)
    resolutions = ResolutionPages(store, operations, sessions, settings.origin)
    routes = [
        *_list_routes(InboxPages(store, pages, sessions), SearchPages(store, pages, sessions)),
        *_stuck_routes(StuckPages(store, pages, sessions, settings.origin)),
        *_approval_routes(ApprovalPages(store, pages, sessions, settings.origin, clock)),
        *_operation_routes(operations),
        *_audit_routes(AuditPages(audit, pages, sessions)),
        Route("/operations/{id}/resolution", resolutions.resolve, methods=["POST"]),
        *_sign_in_routes(SignIn(flow, Doorkeeper(audit), pages, sessions, attempts, settings.origin)),
        Route("/invariants", DashboardPages(dashboard, pages, sessions).show),
        Route("/language", LanguageChoice(sessions, settings).choose, methods=["POST"]),
        Mount("/assets", StaticFiles(directory=ASSETS)),
    ]
    app = Starlette(
        routes=routes,
        middleware=[
            Middleware(Recognition, sessions=sessions),
            Middleware(Throttle, sessions=sessions, limits=limits, page=_refusals(pages, sessions)),
        ],
        exception_handlers=_handlers(pages, sessions, audit),
    )
    # A redirect to the address without its slash would be built from the Host header.
    app.router.redirect_slashes = False
    return SecurityHeaders(app, settings.secure)


def _list_routes(inbox: InboxPages, search: SearchPages) -> list[Route]:
    return [Route("/", inbox.index), Route("/operations", search.index)]


def _stuck_routes(stuck: StuckPages) -> list[Route]:
    return [
        Route("/stuck", stuck.index),
        Route("/stuck/messages/{id}/requeue", stuck.requeue, methods=["POST"]),
        Route("/stuck/notices/{id}/retell", stuck.retell, methods=["POST"]),
    ]


def _approval_routes(approvals: ApprovalPages) -> list[Route]:
    return [
        Route("/approvals/{id}", approvals.show),
        Route("/approvals/{id}/decision", approvals.decide, methods=["POST"]),
    ]


def _operation_routes(operations: OperationPages) -> list[Route]:
    return [
        Route("/operations/{id}", operations.show),
        Route("/operations/{id}/approval", operations.approval),
    ]


def _audit_routes(audit: AuditPages) -> list[Route]:
    return [Route("/audit", audit.index), Route("/audit/download/{format}", audit.download)]


def _sign_in_routes(sign_in: SignIn) -> list[Route]:
    return [
        Route("/sign-in", sign_in.page),
        Route("/sign-in/start", sign_in.start),
        Route("/sign-in/renewal", sign_in.renew),
        Route("/sign-in/callback", sign_in.callback),
        Route("/sign-out", sign_in.sign_out, methods=["POST"]),
    ]


def _refusals(pages: Pages, sessions: Sessions) -> Callable[[Request, PageRefused], Response]:
    def page(request: Request, refusal: PageRefused) -> Response:
        answer = pages.answer(request, "refused.html", sessions.known(request), refusal.status, refusal=refusal)
        if refusal.retry_after:
            answer.headers["Retry-After"] = str(refusal.retry_after)
        return answer

    return page


def _handlers(pages: Pages, sessions: Sessions, audit: AuditLog) -> dict[type[Exception], Handler]:
    page = _refusals(pages, sessions)

    async def refused(request: Request, error: PageRefused) -> Response:
        session = sessions.known(request)
        if error.form_fault and session is not None:
            # Bounded: each such form was counted before it was refused, and of too many none comes as far as this.
            form = request.url.path.rpartition("/")[2]
            try:
                await audit.tell(session.viewer, "form.refused", code=error.form_fault, form=form)
            except StoreUnavailable:
                return await outage(request, error)
        return page(request, error)

    async def unrouted(request: Request, error: HTTPException) -> Response:
        response = page(request, _plain_refusal(error.status_code))
        response.headers.update(error.headers or {})
        return response

    async def unavailable(request: Request, _: Exception) -> Response:
        sentence = N_("The sign-in service does not answer. Please try again in a moment.")
        return page(request, PageRefused(503, N_("You cannot sign in just now"), sentence))

    async def outage(request: Request, _: Exception) -> Response:
        return page(request, PageRefused.outage())

    async def surprised(request: Request, _: Exception) -> Response:
        return page(request, _plain_refusal(500))

    return {
        PageRefused: refused,
        SignInNeeded: _to_sign_in,
        RenewalNeeded: _to_renewal,
        HTTPException: unrouted,
        IssuerUnavailable: unavailable,
        StoreUnavailable: outage,
        Exception: surprised,
    }


def _plain_refusal(status: int) -> PageRefused:
    if status == 404:
        return PageRefused.absent()
    if status == 405:
        return PageRefused(405, N_("That is not how this page is used"), N_("Nothing was changed."))
    return PageRefused(
        status, N_("Something went wrong here"), N_("If you were deciding, open the page again to see what counted.")
    )


async def _to_sign_in(_: Request, needed: SignInNeeded) -> Response:
    return RedirectResponse(f"{PREFIX}/sign-in?{urlencode({'next': needed.returning})}", 303)


async def _to_renewal(_: Request, needed: RenewalNeeded) -> Response:
    return RedirectResponse(f"{PREFIX}/sign-in/renewal?{urlencode({'next': needed.returning})}", 303)


async def _to_back_office(_: Request) -> Response:
    return RedirectResponse(f"{PREFIX}/", 307)
