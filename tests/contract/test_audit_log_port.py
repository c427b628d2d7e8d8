"""The audit log as people search it: their own tenant's lines, the newest first, and whether the chain holds."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Protocol

import pytest

from adapters.http.back_office.audit_ports import AuditLog, AuditQuery, may_read
from adapters.postgres.audit_log import PostgresAuditLog
from adapters.postgres.engine import Database
from adapters.postgres.sealing import PostgresSealing
from adapters.postgres.tables import events
from tests.fakes.audit_log import MemoryAuditLog
from tests.support.books import unguarded, without_guards
from tests.support.proposals import fresh
from tests.unit.memory_back_office import StandingClock
from workflows.domain.audit import AuditLine, Break, Fault
from workflows.domain.principal import Principal

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


class Archive(Protocol):
    """A log with a tenant of its own, and what a test can do behind it."""

    tenant: str

    @property
    def log(self) -> AuditLog: ...

    async def add(self, *lines: AuditLine) -> None: ...

    async def seal(self) -> None: ...

    async def forge(self, place: int) -> None:
        """Another actor for a sealed line, as only the owner of the tables could."""


@dataclass
class MemoryArchive:
    log: MemoryAuditLog
    tenant: str

    async def add(self, *lines: AuditLine) -> None:
        for line in lines:
            self.log.add(line)

    async def seal(self) -> None:
        self.log.seal()

    async def forge(self, place: int) -> None:
        self.log.lines = [
            AuditLine(**{**vars(line), "actor": "somebody"}) if line.place == place else line for line in self.log.lines
        ]


@dataclass
class PostgresArchive:
    log: PostgresAuditLog
    owner: Database
    relay: Database
    tenant: str

    async def add(self, *lines: AuditLine) -> None:
        names = ("tenant", "at", "actor", "what", "tool", "resource")
        async with self.owner.transaction() as connection, without_guards(connection, "events"):
            for line in lines:
                await connection.execute(events.insert().values({name: getattr(line, name) for name in names}))

    async def seal(self) -> None:
        while await PostgresSealing(self.relay).seal():
            pass

    async def forge(self, place: int) -> None:
        mine = f"tenant = '{self.tenant}' AND place = {place}"
        async with self.owner.transaction() as connection:
            await unguarded(connection, f"UPDATE events SET actor = 'somebody' WHERE {mine}")


@pytest.fixture
def postgres_archive(door_database: Database, owner_database: Database, relay_database: Database) -> PostgresArchive:
    return PostgresArchive(PostgresAuditLog(door_database), owner_database, relay_database, fresh("tenant"))


@pytest.fixture(params=["memory", "postgres"])
def archive(request: pytest.FixtureRequest) -> Archive:
    if request.param == "memory":
        return MemoryArchive(MemoryAuditLog(StandingClock()), fresh("tenant"))
    real: PostgresArchive = request.getfixturevalue("postgres_archive")
    return real


def auditor(archive: Archive) -> Principal:
    return Principal(archive.tenant, "auditor-1", frozenset({"auditor"}))


def lines_of(archive: Archive) -> list[AuditLine]:
    """One line an hour."""
    drawn = [
        ("support-agent", "proposed", "refund_payment", "order:O-17"),
        ("support-agent", "proposal.refused", "drop_tables", None),
        ("approver-1", "decision.refused", "refund_payment", "order:O-17"),
        ("approver-2", "decision.approve", "refund_payment", "order:O-17"),
        ("executor", "decisionless", "get_order", "order:O-18"),
    ]
    return [
        AuditLine(archive.tenant, 0, NOON + timedelta(hours=hour), actor, what, tool=tool, resource=resource)
        for hour, (actor, what, tool, resource) in enumerate(drawn)
    ]


def whats(lines: Sequence[AuditLine]) -> list[str]:
    return [line.what for line in lines]


async def test_the_newest_line_comes_first(archive: Archive) -> None:
    await archive.add(*lines_of(archive))
    found = await archive.log.search(auditor(archive), AuditQuery())
    assert whats(found.lines) == [line.what for line in reversed(lines_of(archive))]
    assert found.following == 0


QUERIES = {
    "an actor": (AuditQuery(actor="support-agent"), ["proposal.refused", "proposed"]),
    "an event": (AuditQuery(what="decision.approve"), ["decision.approve"]),
    "a family of events": (AuditQuery(what="decision"), ["decision.approve", "decision.refused"]),
    "a pattern, which is none": (AuditQuery(what="%"), []),
    "a tool": (AuditQuery(about="drop_tables"), ["proposal.refused"]),
    "a resource": (AuditQuery(about="order:O-18"), ["decisionless"]),
    "a resource without its kind": (AuditQuery(about="O-18"), ["decisionless"]),
    "a period": (
        AuditQuery(since=NOON + timedelta(hours=1), until=NOON + timedelta(hours=3)),
        ["decision.refused", "proposal.refused"],
    ),
    "two at once": (AuditQuery(actor="approver-1", about="O-17"), ["decision.refused"]),
    "an operation that there is not": (AuditQuery(operation_id="op_none"), []),
}


@pytest.mark.parametrize(("query", "found"), QUERIES.values(), ids=QUERIES)
async def test_a_search_finds_what_is_meant(archive: Archive, query: AuditQuery, found: list[str]) -> None:
    await archive.add(*lines_of(archive))
    assert whats((await archive.log.search(auditor(archive), query)).lines) == found


async def test_pages_hold_every_line_once(archive: Archive) -> None:
    await archive.add(*lines_of(archive))
    seen, before = [], 0
    for _ in range(3):
        page = await archive.log.search(auditor(archive), AuditQuery(before=before), most=2)
        seen += whats(page.lines)
        before = page.following
    assert seen == [line.what for line in reversed(lines_of(archive))]
    assert before == 0


async def test_another_tenants_lines_are_not_there(archive: Archive) -> None:
    await archive.add(*lines_of(archive))
    stranger = Principal(fresh("tenant"), "auditor-1", frozenset({"auditor"}))
    assert (await archive.log.search(stranger, AuditQuery())).lines == ()
    assert (await archive.log.standing(stranger)).recent.lines == 0


async def test_the_standing_tells_the_head_and_what_waits(archive: Archive) -> None:
    first, *others = lines_of(archive)
    await archive.add(*others)
    await archive.seal()
    await archive.add(first)
    standing = await archive.log.standing(auditor(archive))
    assert (standing.recent.lines, standing.recent.head.place, standing.recent.broken) == (4, 4, None)
    assert standing.unsealed == 1


async def test_a_forged_line_breaks_the_standing(archive: Archive) -> None:
    await archive.add(*lines_of(archive))
    await archive.seal()
    await archive.forge(3)
    assert (await archive.log.standing(auditor(archive))).recent.broken == Break(3, Fault.CHANGED)


async def test_what_is_told_is_found(archive: Archive) -> None:
    await archive.log.tell(auditor(archive), "session.begun", session="se_1")
    (line,) = (await archive.log.search(auditor(archive), AuditQuery())).lines
    assert (line.actor, line.what, line.operation_id) == ("auditor-1", "session.begun", None)
    assert json.loads(line.detail) == {"session": "se_1"}


async def test_of_an_agent_it_is_told_for_whom_it_acts(archive: Archive) -> None:
    await archive.log.tell(replace(auditor(archive), agent="support-agent"), "session.refused", code="acting_agent")
    (line,) = (await archive.log.search(auditor(archive), AuditQuery())).lines
    assert line.actor == "support-agent"
    assert json.loads(line.detail) == {"code": "acting_agent", "subject": "auditor-1"}


@pytest.mark.parametrize(
    ("roles", "agent", "may"),
    [
        ({"auditor"}, "", True),
        ({"operator"}, "", True),
        ({"viewer"}, "", False),
        ({"approver:refunds"}, "", False),
        ({"auditor"}, "some-agent", False),
    ],
)
def test_auditors_and_operators_may_read_it_and_nobody_else(roles: set[str], agent: str, may: bool) -> None:
    assert may_read(Principal("tenant-a", "somebody", frozenset(roles), agent=agent)) is may
