"""Who is signed in: a random secret in a cookie that no script can read, and a session kept on the server.

A request is recognized once, before anything else looks at it, by `Recognition`; whoever handles it asks `Sessions`.
"""

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from datetime import datetime

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from adapters.http.back_office.arrival import arrived
from adapters.http.back_office.cookies import Clock, Cookie
from adapters.http.back_office.session_store import Arrival, KeptSession, SessionStore, fingerprint_of
from adapters.http.back_office.settings import PREFIX
from workflows.domain.errors import StoreUnavailable
from workflows.domain.principal import Principal

__all__ = ["Clock", "Recognition", "RenewalNeeded", "Session", "Sessions", "SignInNeeded"]

FOUND = "onceward.session"
"""Where a request carries its session."""


class SignInNeeded(Exception):
    """Nobody is signed in. `returning` is the page to come back to."""

    def __init__(self, returning: str = "") -> None:
        self.returning = returning


class RenewalNeeded(SignInNeeded):
    """The issuer must be asked again who this is before the page `returning` is shown."""


@dataclass(frozen=True)
class Session:
    """One sign-in of one person. `csrf` stands in each of their forms, and outlives renewals as the session does.

    `locale` ("ko-KR") and `zone` ("Asia/Seoul") are what the issuer says of them, empty when it says nothing.
    """

    viewer: Principal
    csrf: str
    ends_at: datetime
    locale: str = ""
    zone: str = ""
    session_id: str = ""
    renewal_due: bool = False


class Sessions:
    """The sign-ins of this back office, as requests and answers carry them."""

    def __init__(self, store: SessionStore, secret: str, issuer: str, *, secure: bool, clock: Clock) -> None:
        self._store, self._secret, self._issuer, self._clock = store, secret.encode(), issuer, clock
        self._cookie = Cookie("onceward_session", secure=secure)

    def require(self, request: Request) -> Session:
        """The session of this request.

        Raises:
            SignInNeeded: there is none, or it has ended.
            RenewalNeeded: a page is asked for and the issuer was asked too long ago. A form is still taken: what was
                typed would be lost on the way.
        """
        session = self.find(request)
        if session is None:
            raise SignInNeeded(_address(request))
        if session.renewal_due and request.method in ("GET", "HEAD"):
            raise RenewalNeeded(_address(request))
        return session

    def find(self, request: Request) -> Session | None:
        """The session of this request, None when nobody is signed in; raises `StoreUnavailable`."""
        found: Session | StoreUnavailable | None = request.scope.get(FOUND)
        if isinstance(found, StoreUnavailable):
            raise found
        return found

    def known(self, request: Request) -> Session | None:
        """The same for a page that must be shown in any case: None when it cannot be found out."""
        found = request.scope.get(FOUND)
        return found if isinstance(found, Session) else None

    async def recognize(self, request: Request) -> Session | None:
        """Look the request's secret up; raises `StoreUnavailable`."""
        secret = self._cookie.read(request)
        kept = await self._store.find(self._fingerprint(secret)) if secret else None
        return None if kept is None else self._session(kept)

    async def start(self, request: Request, response: Response, arrival: Arrival) -> None:
        """Begin a session under a new secret. Whatever the browser had before has ended, everywhere."""
        earlier, secret = self.find(request), secrets.token_urlsafe(32)
        if earlier is not None:
            await self._store.end(earlier.session_id)
        self._hand_out(response, secret, await self._store.begin(arrival, self._fingerprint(secret)))

    async def renew(self, request: Request, response: Response, arrival: Arrival) -> bool:
        """Take a newer word of the issuer for the same session, under a new secret; False: it is not this person's."""
        session, secret = self.find(request), secrets.token_urlsafe(32)
        if session is None:
            return False
        kept = await self._store.renew(session.session_id, arrival, self._fingerprint(secret))
        if kept is not None:
            self._hand_out(response, secret, kept)
        return kept is not None

    async def end(self, request: Request, response: Response, *, everywhere: bool = False) -> None:
        """Sign out: this session, or all of this person's."""
        session = self.find(request)
        if session is not None:
            await (self._store.end_all(session.viewer) if everywhere else self._store.end(session.session_id))
        self._cookie.clear(response)

    def _hand_out(self, response: Response, secret: str, kept: KeptSession) -> None:
        self._cookie.write(response, secret, kept.ends_at - self._clock())

    def _session(self, kept: KeptSession) -> Session:
        arrival, csrf = kept.arrival, self._csrf(kept.session_id)
        return Session(
            arrival.viewer, csrf, kept.ends_at, arrival.locale, arrival.zone, kept.session_id, kept.renewal_due
        )

    def _fingerprint(self, secret: str) -> str:
        # Whom another issuer has named is somebody else, whatever they are called: no session outlives its issuer.
        return fingerprint_of(f"{self._issuer} {secret}")

    def _csrf(self, session_id: str) -> str:
        # Computed, not kept: nobody who reads the store can write a form.
        return hmac.new(self._secret, f"onceward.csrf.{session_id}".encode(), hashlib.sha256).hexdigest()


class Recognition:
    """ASGI wrapper: each request learns whose it is before anybody handles it, and once all of its form is here.

    Whoever sends a form slowly would otherwise be taken for who they were when they began: a cookie that was copied
    could begin any number of forms, to finish them after its session has ended.
    """

    def __init__(self, app: ASGIApp, sessions: Sessions) -> None:
        self._app, self._sessions = app, sessions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Look the session up and go on; what goes wrong is told by whoever asks for it."""
        if scope["type"] == "http" and not scope["path"].startswith(f"{PREFIX}/assets/"):
            if scope["method"] not in ("GET", "HEAD"):
                receive = await arrived(receive)
            try:
                scope[FOUND] = await self._sessions.recognize(Request(scope))
            except StoreUnavailable as outage:
                scope[FOUND] = outage
        await self._app(scope, receive, send)


def _address(request: Request) -> str:
    return request.url.path + (f"?{request.url.query}" if request.url.query else "")
