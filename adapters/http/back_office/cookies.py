"""The cookies of the pages: out of reach of scripts and of other sites, and of http where the address is https."""

import hashlib
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from itsdangerous import BadData, URLSafeSerializer
from starlette.requests import Request
from starlette.responses import Response

Clock = Callable[[], datetime]


class Cookie:
    """One cookie of the whole back office."""

    def __init__(self, name: str, *, secure: bool) -> None:
        # Browsers take the prefix as: https only, this host only, whole site.
        self.name = f"__Host-{name}" if secure else name
        self._secure = secure

    def write(self, response: Response, value: str, age: timedelta) -> None:
        """Set it for so long."""
        seconds = int(age.total_seconds())
        response.set_cookie(
            self.name, value, max_age=seconds, path="/", secure=self._secure, httponly=True, samesite="lax"
        )

    def read(self, request: Request) -> str:
        """The value as the browser sends it, empty when it sends none."""
        return request.cookies.get(self.name, "")

    def clear(self, response: Response) -> None:
        """Take it away."""
        response.delete_cookie(self.name, path="/", secure=self._secure, httponly=True, samesite="lax")


class SignedCookie:
    """One cookie with a JSON value that only this server can have written and that ends at a fixed time."""

    def __init__(self, name: str, secret: str, *, secure: bool, lifetime: timedelta, clock: Clock) -> None:
        self._cookie = Cookie(name, secure=secure)
        self._lifetime, self._clock = lifetime, clock
        signing = {"digest_method": hashlib.sha256, "key_derivation": "hmac"}
        self._serializer = URLSafeSerializer(secret, salt=f"onceward.{name}", signer_kwargs=signing)

    def write(self, response: Response, value: dict[str, Any]) -> None:
        """Set the cookie."""
        ends = (self._clock() + self._lifetime).timestamp()
        self._cookie.write(response, str(self._serializer.dumps({**value, "ends": ends})), self._lifetime)

    def read(self, request: Request) -> dict[str, Any] | None:
        """The value, None when there is no cookie, it was not written here, or it has ended."""
        try:
            value = self._serializer.loads(self._cookie.read(request))
        except BadData:
            return None
        return value if value["ends"] > self._clock().timestamp() else None

    def clear(self, response: Response) -> None:
        """Take the cookie away."""
        self._cookie.clear(response)
