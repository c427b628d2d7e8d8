"""How often somebody may try. Each process counts for itself: so many doors allow so many times as much.

Agents' turns are not counted here: what they may do is said by policies and budgets.
"""

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import IPv6Address, ip_address

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from adapters.http.problems import Problem
from workflows.domain.principal import Principal

MINUTE = 60.0

MOST_KEYS = 50_000
"""Somebodies that one limiter remembers; of more, those who came longest ago are forgotten."""

IPV6_SITE = 64
"""Bits of an address that one customer of a network has to themselves, with all addresses below."""


class Limiter:
    """Lets each key pass so many times a minute: all at once, or evenly, as they please."""

    def __init__(self, per_minute: int, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._pause, self._now = MINUTE / per_minute, monotonic
        # For each key the moment at which it would have used up nothing any more.
        self._empty_at: OrderedDict[str, float] = OrderedDict()

    def wait(self, key: str) -> int:
        """Count one more try; the whole seconds until the next may come, 0 when this one may pass."""
        now = self._now()
        empty_at = max(self._empty_at.pop(key, now), now) + self._pause
        over = empty_at - now - MINUTE
        # What is turned away is not counted: whoever goes on trying is let in again as soon as anybody else.
        self._empty_at[key] = empty_at - self._pause if over > 1e-6 else empty_at
        self._forget(now)
        return math.ceil(over) if over > 1e-6 else 0

    def _forget(self, now: float) -> None:
        while self._empty_at:
            key, empty_at = next(iter(self._empty_at.items()))
            if empty_at > now and len(self._empty_at) <= MOST_KEYS:
                return
            del self._empty_at[key]


@dataclass(frozen=True)
class Limits:
    """Sign-ins of an address, words (decisions, resolutions and other forms) of a person, pages of a session.

    A form that is not known to be the person's own counts as `forged` of the session that it claims, never as a word:
    else whoever makes a browser send forms would keep the person from deciding.
    """

    sign_ins: Limiter = field(default_factory=lambda: Limiter(60))
    words: Limiter = field(default_factory=lambda: Limiter(60))
    pages: Limiter = field(default_factory=lambda: Limiter(300))
    forged: Limiter = field(default_factory=lambda: Limiter(60))


class TooManyRequests(Problem):
    """The caller has tried too often; nothing was done."""

    def __init__(self, seconds: int) -> None:
        super().__init__(
            429,
            "too_many_requests",
            "There were too many requests of this kind.",
            "Nothing was done. Send the request again after the time that Retry-After names.",
            headers={"Retry-After": str(seconds)},
        )


def speaker_of(caller: Principal) -> str:
    """To whom words are counted: a person in all their sessions, and software apart from whomever it acts for."""
    return f"{caller.tenant}\0\0{caller.agent}" if caller.agent else f"{caller.tenant}\0{caller.subject}"


def address_of(scope: Scope) -> str:
    """Whom a request is counted to when nobody is known: its address, or the network of one customer."""
    client = scope.get("client")
    host = str(client[0]) if client else ""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if isinstance(address, IPv6Address):
        return str(address.ipv4_mapped or int(address) >> (128 - IPV6_SITE))
    return host


class FailedCredentials:
    """ASGI wrapper: an address whose credentials fail too often is told to wait, whatever it sends that fails.

    A good credential always passes, so that one caller who is set up badly shuts out nobody behind the same address.
    """

    def __init__(self, app: ASGIApp, limiter: Limiter) -> None:
        self._app, self._limiter = app, limiter

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve; an answer 401 too many becomes 429."""
        replaced = False

        async def send_or_replace(message: Message) -> None:
            nonlocal replaced
            if message["type"] == "http.response.start" and message["status"] == 401:
                seconds = self._limiter.wait(address_of(scope))
                if seconds:
                    replaced = True
                    await TooManyRequests(seconds).response()(scope, receive, send)
            if not replaced:
                await send(message)

        await self._app(scope, receive, send_or_replace)
