"""Whoever comes too often is asked to wait, in words."""

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from adapters.http.back_office.refusal import PageRefused, TooMany
from adapters.http.back_office.session import Session, Sessions
from adapters.http.back_office.settings import PREFIX
from adapters.http.limits import Limits, address_of


class Throttle:
    """ASGI wrapper: counts what comes in, and lets through what may pass. Whose it is has been recognized before."""

    def __init__(
        self, app: ASGIApp, sessions: Sessions, limits: Limits, page: Callable[[Request, PageRefused], Response]
    ) -> None:
        self._app, self._sessions, self._limits, self._page = app, sessions, limits, page

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve, or answer that it was too much; nothing is looked at then."""
        if scope["type"] == "http":
            request = Request(scope)
            seconds = self._wait(request, self._sessions.known(request))
            if seconds:
                response = self._page(request, TooMany(seconds))
                response.headers["Retry-After"] = str(seconds)
                await response(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _wait(self, request: Request, session: Session | None) -> int:
        if request.url.path.startswith(f"{PREFIX}/sign-in/"):
            return self._limits.sign_ins.wait(address_of(request.scope))
        if session is None:
            # There is nothing to see but the way to sign in.
            return 0
        if request.method == "POST":
            return self._limits.words.wait(f"{session.viewer.tenant}\0{session.viewer.subject}")
        return self._limits.pages.wait(session.session_id)
