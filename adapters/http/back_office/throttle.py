"""Whoever comes too often is asked to wait, in words."""

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from adapters.http.back_office.refusal import PageRefused, TooMany
from adapters.http.back_office.session import Session, Sessions
from adapters.http.back_office.settings import PREFIX
from adapters.http.limits import Limits, address_of, speaker_of

LIMITS = "onceward.limits"
"""Where a request carries the limits, for whoever finds out whose form it is."""


class Throttle:
    """ASGI wrapper: counts what comes in, and lets through what may pass. Whose it is has been recognized before.

    Forms are counted by whoever has read them: a cookie alone does not say that the person has sent it.
    """

    def __init__(
        self, app: ASGIApp, sessions: Sessions, limits: Limits, page: Callable[[Request, PageRefused], Response]
    ) -> None:
        self._app, self._sessions, self._limits, self._page = app, sessions, limits, page

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve, or answer that it was too much; nothing is looked at then."""
        if scope["type"] == "http":
            request = Request(scope)
            scope[LIMITS] = self._limits
            seconds = self._wait(request, self._sessions.known(request))
            if seconds:
                await self._page(request, TooMany(seconds))(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _wait(self, request: Request, session: Session | None) -> int:
        if request.url.path.startswith(f"{PREFIX}/sign-in/"):
            return self._limits.sign_ins.wait(address_of(request.scope))
        if session is None or request.method == "POST":
            # Without a session there is nothing to see but the way to sign in.
            return 0
        return self._limits.pages.wait(session.session_id)


def count_word(request: Request, session: Session) -> None:
    """Count a form that is this person's own; raises `PageRefused` when they have sent too many."""
    limits: Limits = request.scope[LIMITS]
    _pass_or_refuse(limits.words.wait(speaker_of(session.viewer)))


def count_forged(request: Request, session: Session) -> None:
    """Count a form that is not known to be; raises `PageRefused` when there were too many for this session."""
    limits: Limits = request.scope[LIMITS]
    _pass_or_refuse(limits.forged.wait(session.session_id))


def _pass_or_refuse(seconds: int) -> None:
    if seconds:
        raise TooMany(seconds)
