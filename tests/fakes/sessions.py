"""People's sessions in memory."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime

from adapters.http.back_office.session_store import (
    BELIEVED_FOR,
    GRACE,
    LIFETIME,
    Arrival,
    KeptSession,
    SessionRules,
)
from workflows.domain.principal import Principal


@dataclass
class Sitting:
    """One session with its moments."""

    session_id: str
    arrival: Arrival
    fingerprint: str
    ends_at: datetime
    seen_at: datetime
    checked_at: datetime
    earlier: str | None = None
    ended: bool = False


@dataclass
class MemorySessions:
    """Keeps sessions in a list, the oldest first."""

    clock: Callable[[], datetime]
    rules: SessionRules = field(default_factory=SessionRules)
    sittings: list[Sitting] = field(default_factory=list)

    async def begin(self, arrival: Arrival, fingerprint: str) -> KeptSession:
        now = self.clock()
        sitting = Sitting(secrets.token_hex(12), arrival, fingerprint, now + LIFETIME, now, now)
        self.sittings.append(sitting)
        for surplus in self._of(arrival.viewer)[: -self.rules.most]:
            surplus.ended = True
        return self._kept(sitting)

    async def find(self, fingerprint: str) -> KeptSession | None:
        now = self.clock()
        for sitting in filter(self._counts, self.sittings):
            replaced = sitting.earlier == fingerprint and now - sitting.checked_at < GRACE
            if sitting.fingerprint == fingerprint or replaced:
                sitting.seen_at = now
                return self._kept(sitting)
        return None

    async def renew(self, session_id: str, arrival: Arrival, fingerprint: str) -> KeptSession | None:
        for sitting in filter(self._counts, self.sittings):
            if sitting.session_id == session_id and _person(sitting.arrival.viewer) == _person(arrival.viewer):
                sitting.earlier, sitting.fingerprint = sitting.fingerprint, fingerprint
                sitting.arrival, sitting.checked_at = arrival, self.clock()
                return self._kept(sitting)
        return None

    async def end(self, session_id: str) -> None:
        for sitting in self.sittings:
            sitting.ended |= sitting.session_id == session_id

    async def end_all(self, viewer: Principal) -> int:
        theirs = self._of(viewer)
        for sitting in theirs:
            sitting.ended = True
        return len(theirs)

    def _of(self, viewer: Principal) -> list[Sitting]:
        return [each for each in self.sittings if not each.ended and _person(each.arrival.viewer) == _person(viewer)]

    def _counts(self, sitting: Sitting) -> bool:
        now = self.clock()
        rests = now - sitting.seen_at >= self.rules.idle
        return not sitting.ended and now < sitting.ends_at and not rests and now - sitting.checked_at < BELIEVED_FOR

    def _kept(self, sitting: Sitting) -> KeptSession:
        unchecked = self.clock() - sitting.checked_at
        viewer = replace(sitting.arrival.viewer, scopes=frozenset(), agent="", agents_before=())
        return KeptSession(sitting.session_id, replace(sitting.arrival, viewer=viewer), sitting.ends_at, unchecked)


def _person(viewer: Principal) -> tuple[str, str]:
    return viewer.tenant, viewer.subject
