"""People's sessions at the back office: who is signed in, until when, and by which secret's fingerprint."""

import secrets
from datetime import timedelta
from typing import Any

from sqlalchemy import and_, delete, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from adapters.http.back_office.session_store import (
    BELIEVED_FOR,
    GRACE,
    KEPT_FOR,
    LIFETIME,
    Arrival,
    KeptSession,
    SessionRules,
)
from adapters.postgres import rows
from adapters.postgres.engine import Database
from adapters.postgres.rows import NOW
from adapters.postgres.tables import sessions
from workflows.domain.principal import Principal

NOTED_EVERY = timedelta(minutes=1)
"""How exactly it is known when a session was last used: a page is read more often than it is worth a write."""


class PostgresSessions:
    """Fits `adapters.http.back_office.session_store.SessionStore`."""

    def __init__(self, database: Database, rules: SessionRules) -> None:
        self._database, self._rules = database, rules

    async def begin(self, arrival: Arrival, fingerprint: str) -> KeptSession:
        """Keep a new session; the person's oldest and everybody's forgotten ones go."""
        viewer = arrival.viewer
        async with self._database.transaction() as connection:
            # Two sign-ins of one person at once are counted one after the other.
            await rows.hold(connection, f"sessions of {viewer.tenant}/{viewer.subject}")
            begun = sessions.insert().values(
                session_id=f"se_{secrets.token_hex(12)}",
                fingerprint=fingerprint,
                tenant=viewer.tenant,
                subject=viewer.subject,
                ends_at=NOW + LIFETIME,
                **_said(arrival),
            )
            row = (await connection.execute(begun.returning(*_WANTED))).one()
            await rows.note(connection, viewer.tenant, viewer.subject, "session.begun", session=row.session_id)
            await self._end_the_oldest(connection, viewer)
            await connection.execute(delete(sessions).where(sessions.c.ends_at < NOW - KEPT_FOR))
        return _kept(row)

    async def find(self, fingerprint: str) -> KeptSession | None:
        """The session of this secret, if it counts."""
        async with self._database.transaction() as connection:
            found = select(*_WANTED, sessions.c.seen_at < NOW - NOTED_EVERY).where(_of(fingerprint), *self._alive())
            row = (await connection.execute(found)).one_or_none()
            if row is None:
                return None
            if row[-1]:
                await connection.execute(
                    update(sessions).where(sessions.c.session_id == row.session_id).values(seen_at=NOW)
                )
        return _kept(row)

    async def renew(self, session_id: str, arrival: Arrival, fingerprint: str) -> KeptSession | None:
        """Replace the secret of a session that counts; of two at once both find it, and the later secret stays."""
        viewer = arrival.viewer
        statement = (
            update(sessions)
            .where(sessions.c.session_id == session_id, *self._alive())
            .where(sessions.c.tenant == viewer.tenant, sessions.c.subject == viewer.subject)
            .values(
                earlier_fingerprint=sessions.c.fingerprint,
                fingerprint=fingerprint,
                checked_at=NOW,
                seen_at=NOW,
                **_said(arrival),
            )
            .returning(*_WANTED)
        )
        async with self._database.transaction() as connection:
            row = (await connection.execute(statement)).one_or_none()
        return None if row is None else _kept(row)

    async def end(self, session_id: str) -> None:
        """End one."""
        statement = (
            update(sessions)
            .where(sessions.c.session_id == session_id, sessions.c.ended_at.is_(None))
            .values(ended_at=NOW)
            .returning(sessions.c.tenant, sessions.c.subject)
        )
        async with self._database.transaction() as connection:
            ended = (await connection.execute(statement)).one_or_none()
            if ended is not None:
                await rows.note(connection, ended.tenant, ended.subject, "session.ended", session=session_id)

    async def end_all(self, viewer: Principal) -> int:
        """End every one of the person's."""
        statement = update(sessions).where(*_of_person(viewer)).values(ended_at=NOW).returning(sessions.c.session_id)
        async with self._database.transaction() as connection:
            ended = (await connection.execute(statement)).scalars().all()
            for session_id in ended:
                await rows.note(connection, viewer.tenant, viewer.subject, "session.ended", session=session_id)
            return len(ended)

    async def _end_the_oldest(self, connection: AsyncConnection, viewer: Principal) -> None:
        kept = (
            select(sessions.c.session_id)
            .where(*_of_person(viewer), sessions.c.ends_at > NOW)
            .order_by(sessions.c.created_at.desc())
            .limit(self._rules.most)
        )
        await connection.execute(
            update(sessions)
            .where(*_of_person(viewer), sessions.c.session_id.not_in(kept.scalar_subquery()))
            .values(ended_at=NOW)
        )

    def _alive(self) -> tuple[Any, ...]:
        return (
            sessions.c.ended_at.is_(None),
            sessions.c.ends_at > NOW,
            sessions.c.seen_at > NOW - self._rules.idle,
            sessions.c.checked_at > NOW - BELIEVED_FOR,
        )


_WANTED = (
    sessions.c.session_id,
    sessions.c.tenant,
    sessions.c.subject,
    sessions.c.name,
    sessions.c.roles,
    sessions.c.locale,
    sessions.c.zone,
    sessions.c.ends_at,
    (NOW - sessions.c.checked_at).label("unchecked"),
)


def _of(fingerprint: str) -> Any:
    fresh = sessions.c.checked_at > NOW - GRACE
    return or_(sessions.c.fingerprint == fingerprint, and_(sessions.c.earlier_fingerprint == fingerprint, fresh))


def _of_person(viewer: Principal) -> tuple[Any, ...]:
    return sessions.c.tenant == viewer.tenant, sessions.c.subject == viewer.subject, sessions.c.ended_at.is_(None)


def _said(arrival: Arrival) -> dict[str, Any]:
    viewer = arrival.viewer
    return {"name": viewer.name, "roles": sorted(viewer.roles), "locale": arrival.locale, "zone": arrival.zone}


def _kept(row: Any) -> KeptSession:
    viewer = Principal(tenant=row.tenant, subject=row.subject, roles=frozenset(row.roles), name=row.name)
    return KeptSession(row.session_id, Arrival(viewer, row.locale, row.zone), row.ends_at, row.unchecked)
