"""Who is signed in: a signed cookie that no script can read, for at most eight hours."""

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from itsdangerous import BadData, URLSafeSerializer
from starlette.requests import Request
from starlette.responses import Response

from workflows.domain.principal import Principal

LIFETIME = timedelta(hours=8)
"""Counted from the sign-in and never prolonged."""

Clock = Callable[[], datetime]


class SignInNeeded(Exception):
    """Nobody is signed in. `returning` is the page to come back to."""

    def __init__(self, returning: str = "") -> None:
        self.returning = returning


@dataclass(frozen=True)
class Session:
    """One sign-in of one person. `csrf` stands in each of their forms.

    `locale` ("ko-KR") and `zone` ("Asia/Seoul") are what the issuer says of them, empty when it says nothing.
    """

    viewer: Principal
    csrf: str
    ends_at: datetime
    locale: str = ""
    zone: str = ""


class SignedCookie:
    """One cookie with a JSON value that only this server can have written and that ends at a fixed time."""

    def __init__(self, name: str, secret: str, *, secure: bool, lifetime: timedelta, clock: Clock) -> None:
        # Browsers take the prefix as: https only, this host only, whole site.
        self.name = f"__Host-{name}" if secure else name
        self._secure, self._lifetime, self._clock = secure, lifetime, clock
        signing = {"digest_method": hashlib.sha256, "key_derivation": "hmac"}
        self._serializer = URLSafeSerializer(secret, salt=f"onceward.{name}", signer_kwargs=signing)

    def write(self, response: Response, value: dict[str, Any]) -> None:
        """Set the cookie."""
        ends = (self._clock() + self._lifetime).timestamp()
        signed = self._serializer.dumps({**value, "ends": ends})
        age = int(self._lifetime.total_seconds())
        response.set_cookie(
            self.name, str(signed), max_age=age, path="/", secure=self._secure, httponly=True, samesite="lax"
        )

    def read(self, request: Request) -> dict[str, Any] | None:
        """The value, None when there is no cookie, it was not written here, or it has ended."""
        try:
            value = self._serializer.loads(request.cookies.get(self.name, ""))
        except BadData:
            return None
        return value if value["ends"] > self._clock().timestamp() else None

    def clear(self, response: Response) -> None:
        """Take the cookie away."""
        response.delete_cookie(self.name, path="/", secure=self._secure, httponly=True, samesite="lax")


class Sessions:
    """Sign-ins of this server."""

    def __init__(self, secret: str, *, secure: bool, clock: Clock) -> None:
        self._cookie = SignedCookie("onceward_session", secret, secure=secure, lifetime=LIFETIME, clock=clock)
        self._clock = clock

    def start(self, response: Response, viewer: Principal, locale: str = "", zone: str = "") -> None:
        """Begin a new session: whatever cookie the browser had before is worth nothing afterwards in this browser."""
        self._cookie.write(
            response,
            {
                "tenant": viewer.tenant,
                "subject": viewer.subject,
                "roles": sorted(viewer.roles),
                "name": viewer.name,
                "csrf": secrets.token_urlsafe(32),
                "locale": locale,
                "zone": zone,
            },
        )

    def require(self, request: Request) -> Session:
        """The session of this request.

        Raises:
            SignInNeeded: there is none, or it has ended.
        """
        session = self.find(request)
        if session is None:
            raise SignInNeeded(request.url.path)
        return session

    def find(self, request: Request) -> Session | None:
        """The session of this request, None when nobody is signed in."""
        value = self._cookie.read(request)
        return None if value is None else _session(value)

    def end(self, response: Response) -> None:
        """Sign out in this browser."""
        self._cookie.clear(response)


def _session(value: dict[str, Any]) -> Session:
    viewer = Principal(
        tenant=value["tenant"], subject=value["subject"], roles=frozenset(value["roles"]), name=value["name"]
    )
    ends_at = datetime.fromtimestamp(value["ends"], UTC)
    # A cookie of an earlier release has neither.
    return Session(viewer, value["csrf"], ends_at, value.get("locale", ""), value.get("zone", ""))
