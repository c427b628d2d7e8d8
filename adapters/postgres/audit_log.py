"""The audit log as people search it."""

from collections.abc import Iterator

from sqlalchemy import ColumnElement, func, or_, select

from adapters.http.back_office.audit_ports import PAGE, RECENT, AuditList, AuditQuery, AuditStanding
from adapters.postgres import rows
from adapters.postgres.audit_chain import PostgresAuditChain
from adapters.postgres.audit_lines import LINES, line_of
from adapters.postgres.audit_notes import actor_of, subject_of
from adapters.postgres.engine import Database
from adapters.postgres.tables import events
from workflows.domain.principal import Principal


class PostgresAuditLog:
    """Fits `adapters.http.back_office.audit_ports.AuditLog`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def search(self, viewer: Principal, query: AuditQuery, most: int = PAGE) -> AuditList:
        """Lines of the viewer's tenant, the newest first."""
        wanted = LINES.where(*_meant(viewer, query)).order_by(events.c.event_id.desc()).limit(most + 1)
        async with self._database.transaction() as connection:
            lines = [line_of(row) for row in await connection.execute(wanted)]
        return AuditList(tuple(lines[:most]), lines[most - 1].event_id if len(lines) > most else 0)

    async def standing(self, viewer: Principal) -> AuditStanding:
        """The newest lines of the chain, checked, and how many wait to be sealed."""
        recent = await PostgresAuditChain(self._database).check_recent(viewer.tenant, RECENT)
        waiting = select(func.count()).where(events.c.tenant == viewer.tenant, events.c.place.is_(None))
        async with self._database.transaction() as connection:
            return AuditStanding(recent, (await connection.execute(waiting)).scalar_one())

    async def tell(self, who: Principal, what: str, **detail: str) -> None:
        """Write a line that belongs to no operation."""
        async with self._database.transaction() as connection:
            await rows.note(connection, who.tenant, actor_of(who), what, **detail, **subject_of(who))


def _meant(viewer: Principal, query: AuditQuery) -> Iterator[ColumnElement[bool]]:
    yield events.c.tenant == viewer.tenant
    if query.actor:
        yield events.c.actor == query.actor
    if query.operation_id:
        yield events.c.operation_id == query.operation_id
    if query.what:
        yield or_(events.c.what == query.what, events.c.what.startswith(f"{query.what}.", autoescape=True))
    if query.about:
        yield _about(query.about)
    if query.since is not None:
        yield events.c.at >= query.since
    if query.until is not None:
        yield events.c.at < query.until
    if query.before:
        yield events.c.event_id < query.before


def _about(name: str) -> ColumnElement[bool]:
    bare = func.substr(events.c.resource, func.strpos(events.c.resource, ":") + 1)
    return or_(events.c.tool == name, events.c.resource == name, bare == name)
