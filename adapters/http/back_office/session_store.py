"""Where sign-ins are kept: on the server, so that signing out ends one wherever its cookie is.

A browser holds a random secret and the store its fingerprint, so that nobody who reads the store can come in with what
they read. The secret changes at each renewal; the one before it counts for a moment longer, for what the browser had
asked for meanwhile.
"""

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from workflows.domain.principal import Principal

LIFETIME = timedelta(hours=8)
"""Counted from the sign-in and never prolonged."""

RENEWED_AFTER = timedelta(minutes=15)
"""Older than this, the issuer is asked again who the person is and which roles they have, at the next page."""

BELIEVED_FOR = timedelta(hours=1)
"""How long what the issuer has said counts at most; only who never opens a page meanwhile comes so far."""

GRACE = timedelta(minutes=1)
"""How long the secret before the newest still counts."""

KEPT_FOR = timedelta(days=30)
"""How long a session that has ended stays on record."""


@dataclass(frozen=True)
class SessionRules:
    """What a deployment says about sessions: how long one may rest, and how many a person may have at once."""

    idle: timedelta = timedelta(minutes=45)
    most: int = 10


@dataclass(frozen=True)
class Arrival:
    """Who came in, as the issuer says. `locale` and `zone` are empty when it says nothing of them."""

    viewer: Principal
    locale: str = ""
    zone: str = ""


@dataclass(frozen=True)
class KeptSession:
    """One session that counts. `unchecked` is how long ago the issuer was asked, by the store's clock."""

    session_id: str
    arrival: Arrival
    ends_at: datetime
    unchecked: timedelta

    @property
    def renewal_due(self) -> bool:
        """Whether the issuer should be asked again before the next page."""
        return self.unchecked >= RENEWED_AFTER


class SessionStore(Protocol):
    """Sessions by the fingerprints of their secrets. Each method is one transaction; raises `StoreUnavailable`."""

    async def begin(self, arrival: Arrival, fingerprint: str) -> KeptSession:
        """A new session. The person's oldest end if they have more than the rules allow."""

    async def find(self, fingerprint: str) -> KeptSession | None:
        """The session of a secret, and note that it is used; None when it has ended, rests or was never there."""

    async def renew(self, session_id: str, arrival: Arrival, fingerprint: str) -> KeptSession | None:
        """Replace the secret, and what the issuer says of the same person; the end stays. None when it has ended."""

    async def end(self, session_id: str) -> None:
        """End it, wherever its cookie is."""

    async def end_all(self, viewer: Principal) -> int:
        """End every session of the person; returns how many."""


def fingerprint_of(secret: str) -> str:
    """What is kept of a secret. It has 256 random bits, so that a plain digest of it cannot be searched."""
    return hashlib.sha256(secret.encode()).hexdigest()
