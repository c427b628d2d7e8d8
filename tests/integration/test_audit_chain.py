"""The audit log in PostgreSQL: sealed without holding anybody up, guarded, and whatever is done to it is found."""

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from psycopg.errors import InsufficientPrivilege, RestrictViolation
from sqlalchemy import func, insert, select, text
from sqlalchemy.exc import IntegrityError, ProgrammingError
from sqlalchemy.ext.asyncio import AsyncConnection

from adapters.postgres import rows
from adapters.postgres.audit_chain import PART, PostgresAuditChain
from adapters.postgres.engine import Database
from adapters.postgres.sealing import PostgresSealing
from adapters.postgres.tables import audit_heads, events
from tests.support.acts import proposed
from tests.support.benches import PostgresBench
from tests.support.books import unguarded, without_guards
from tests.support.proposals import fresh
from workflows.domain.audit import AuditLine, Break, Checked, Fault, chained


@dataclass
class Log:
    """One tenant's log, with the rights of whoever tells, seals, looks and owns."""

    tenant: str
    door: Database
    worker: Database
    relay: Database
    owner: Database

    async def tell(self, number: int, database: Database | None = None) -> None:
        for place in range(number):
            async with (database or self.door).transaction() as connection:
                await rows.note(connection, self.tenant, "user-17", "proposal.refused", code="unknown_tool", at=place)

    async def seal(self) -> None:
        while await PostgresSealing(self.relay).seal():
            pass

    async def check(self) -> Checked:
        return await PostgresAuditChain(self.worker).check(self.tenant)

    async def places(self) -> list[int | None]:
        statement = select(events.c.place).where(events.c.tenant == self.tenant).order_by(events.c.event_id)
        async with self.owner.transaction() as connection:
            return list((await connection.execute(statement)).scalars())

    async def forge(self, statement: str) -> None:
        """As the tables' owner who has taken the guards away."""
        async with self.owner.transaction() as connection:
            await unguarded(connection, statement.format(mine=f"tenant = '{self.tenant}'", tenant=self.tenant))


@pytest.fixture
def log(door_database: Database, worker_database: Database, relay_database: Database, owner_database: Database) -> Log:
    return Log(fresh("tenant"), door_database, worker_database, relay_database, owner_database)


@pytest.fixture
async def sealed(log: Log) -> Log:
    """Five lines in a chain."""
    await log.tell(5)
    await log.seal()
    return log


# -- sealing


async def test_what_was_told_is_sealed_in_its_order(sealed: Log) -> None:
    assert await sealed.places() == [1, 2, 3, 4, 5]
    found = await sealed.check()
    assert (found.lines, found.head.place, found.broken) == (5, 5, None)


async def test_the_chain_goes_on_with_what_is_told_later(sealed: Log) -> None:
    head = (await sealed.check()).head
    await sealed.tell(2)
    await sealed.seal()
    found = await sealed.check()
    assert (found.head.place, found.broken) == (7, None)
    assert head != found.head


async def test_what_waits_to_be_sealed_is_counted_and_breaks_nothing(sealed: Log) -> None:
    before = await PostgresAuditChain(sealed.worker).unsealed()
    await sealed.tell(3)
    waiting = await PostgresAuditChain(sealed.worker).unsealed()
    assert waiting.number == before.number + 3
    found = await sealed.check()
    assert (found.lines, found.broken) == (5, None)


async def written(connection: AsyncConnection) -> None:
    """A line goes out with its transaction's next statement; this is one."""
    await connection.execute(text("SELECT 1"))


async def test_a_line_whose_transaction_ends_late_is_sealed_late_and_not_passed_over(log: Log) -> None:
    async with log.door.transaction() as slow:
        await rows.note(slow, log.tenant, "user-17", "proposal.refused", code="unknown_tool")
        await written(slow)
        await log.tell(2, log.worker)
        await log.seal()
        assert await log.places() == [1, 2]
    await log.seal()
    assert await log.places() == [3, 1, 2]
    assert (await log.check()).broken is None


async def test_a_line_that_was_taken_back_leaves_no_hole(log: Log) -> None:
    await log.tell(1)
    async with log.door.transaction() as connection:
        await rows.note(connection, log.tenant, "user-17", "proposal.refused", code="unknown_tool")
        await written(connection)
        await connection.rollback()
    await log.tell(1)
    await log.seal()
    found = await log.check()
    assert (found.lines, found.head.place, found.broken) == (2, 2, None)


async def test_many_who_tell_and_two_who_seal_leave_one_unbroken_chain(log: Log) -> None:
    told = asyncio.Event()

    async def seal() -> None:
        while not told.is_set():
            await PostgresSealing(log.relay).seal(7)

    sealing = [asyncio.create_task(seal()) for _ in range(2)]
    await asyncio.gather(*(log.tell(10, database) for database in (log.door, log.worker) for _ in range(5)))
    told.set()
    await asyncio.gather(*sealing)
    await log.seal()
    found = await log.check()
    assert (found.lines, found.broken) == (100, None)
    assert sorted(place or 0 for place in await log.places()) == list(range(1, 101))


async def test_whoever_tells_waits_for_nobody_who_seals(log: Log) -> None:
    await log.tell(1)
    async with log.relay.transaction() as sealing:
        await sealing.execute(text("SELECT pg_advisory_xact_lock(hashtextextended('onceward.audit', 0))"))
        await sealing.execute(select(audit_heads).with_for_update())
        await log.tell(1)
        assert await PostgresSealing(log.relay).seal() == 0
    await log.seal()
    assert await log.places() == [1, 2]


async def test_a_line_about_an_operation_says_of_which_tool_and_which_resource(
    log: Log, postgres_bench: PostgresBench
) -> None:
    operation = await proposed(postgres_bench)
    mine = select(events).where(events.c.operation_id == operation.operation_id)
    (line,) = await postgres_bench.rows(mine)
    assert (line.what, line.tool, line.resource) == ("proposed", operation.tool, operation.resource)
    assert line.written_by == "onceward_door"


async def test_lines_from_before_the_chain_are_sealed_as_they_stand(log: Log) -> None:
    """Whoever wrote them the database does not know, and they name neither tool nor resource."""
    statement = insert(events).values(tenant=log.tenant, actor="executor", what="succeeded", written_by=None)
    async with log.owner.transaction() as connection, without_guards(connection, "events"):
        await connection.execute(statement)
    await log.seal()
    assert (await log.check()).broken is None


# -- what is found


FORGERIES = [
    ("UPDATE events SET actor = 'somebody' WHERE {mine} AND place = 3", 3, Fault.CHANGED),
    ("UPDATE events SET at = at + interval '1 microsecond' WHERE {mine} AND place = 3", 3, Fault.CHANGED),
    ("""UPDATE events SET detail = detail || '{{"code": "x"}}' WHERE {mine} AND place = 3""", 3, Fault.CHANGED),
    ("UPDATE events SET written_by = NULL WHERE {mine} AND place = 3", 3, Fault.CHANGED),
    ("DELETE FROM events WHERE {mine} AND place = 3", 3, Fault.MISSING),
    ("DELETE FROM events WHERE {mine} AND place >= 4", 4, Fault.CUT),
    ("DELETE FROM events WHERE {mine}", 1, Fault.CUT),
    ("DELETE FROM audit_heads WHERE {mine}", 1, Fault.HEADLESS),
    ("UPDATE audit_heads SET place = 4 WHERE {mine}", 4, Fault.REPLACED),
    ("UPDATE audit_heads SET place = 9 WHERE {mine}", 6, Fault.CUT),
    ("UPDATE audit_heads SET hash = 'x' WHERE {mine}", 5, Fault.REPLACED),
    (
        "UPDATE events SET place = NULL WHERE {mine} AND place = 3;"
        "UPDATE events SET place = 3 WHERE {mine} AND place = 4;"
        "UPDATE events SET place = 4 WHERE {mine} AND place IS NULL",
        3,
        Fault.UNLINKED,
    ),
    (
        "INSERT INTO events (tenant, actor, what, place, previous_hash, hash)"
        " SELECT tenant, 'somebody', 'decision.approve', 6, hash, 'x' FROM events WHERE {mine} AND place = 5",
        6,
        Fault.CHANGED,
    ),
]


@pytest.mark.parametrize(("statement", "place", "fault"), FORGERIES, ids=[each[0][:60] for each in FORGERIES])
async def test_what_the_owner_does_to_the_log_is_found_at_its_first_place(
    sealed: Log, statement: str, place: int, fault: Fault
) -> None:
    for each in statement.split(";"):
        await sealed.forge(each)
    assert (await sealed.check()).broken == Break(place, fault)


async def test_a_rewritten_end_with_a_new_head_is_found_by_a_head_that_was_kept(sealed: Log) -> None:
    kept = (await sealed.check()).head.hash
    await sealed.forge("DELETE FROM events WHERE {mine} AND place = 5")
    await sealed.forge(
        "UPDATE audit_heads SET place = 4, hash = (SELECT hash FROM events WHERE {mine} AND place = 4) WHERE {mine}"
    )
    hashes: set[str | None] = set()
    found = await PostgresAuditChain(sealed.worker).check(
        sealed.tenant, lambda part: hashes.update(line.hash for line in part)
    )
    assert found.broken is None
    assert kept not in hashes


# -- who may do what


GUARDED = [
    "UPDATE events SET actor = 'somebody' WHERE {mine}",
    "UPDATE events SET hash = 'x' WHERE {mine}",
    "UPDATE events SET place = NULL WHERE {mine}",
    "DELETE FROM events WHERE {mine}",
    "TRUNCATE events",
    "DELETE FROM audit_heads WHERE {mine}",
    "UPDATE audit_heads SET hash = 'x' WHERE {mine}",
    "UPDATE audit_heads SET place = place - 1 WHERE {mine}",
    "TRUNCATE audit_heads",
]


@pytest.mark.parametrize("statement", GUARDED)
async def test_even_the_owner_is_refused_by_the_guards(sealed: Log, statement: str) -> None:
    with pytest.raises(IntegrityError) as refused:
        async with sealed.owner.transaction() as connection:
            await connection.execute(text(statement.format(mine=f"tenant = '{sealed.tenant}'")))
    assert isinstance(refused.value.orig, RestrictViolation)
    assert (await sealed.check()).broken is None


@pytest.mark.parametrize("statement", GUARDED)
@pytest.mark.parametrize("role", ["door", "worker", "relay"])
async def test_no_process_changes_or_removes_a_sealed_line(sealed: Log, role: str, statement: str) -> None:
    database: Database = getattr(sealed, role)
    with pytest.raises((ProgrammingError, IntegrityError)) as refused:
        async with database.transaction() as connection:
            await connection.execute(text(statement.format(mine=f"tenant = '{sealed.tenant}'")))
    assert isinstance(refused.value.orig, InsufficientPrivilege | RestrictViolation)


async def test_who_seals_can_say_nothing_else_of_a_line(log: Log) -> None:
    await log.tell(1)
    values = {"mine": log.tenant}
    async with log.owner.transaction() as connection:
        with pytest.raises(IntegrityError):
            await connection.execute(
                text("UPDATE events SET place = 1, hash = 'x', actor = 'somebody' WHERE tenant = :mine"), values
            )
        await connection.rollback()


async def test_what_a_process_adds_bears_its_own_name_and_the_time_of_the_database(log: Log) -> None:
    await log.tell(1, log.worker)
    statement = select(events.c.written_by, func.now() - events.c.at).where(events.c.tenant == log.tenant)
    async with log.owner.transaction() as connection:
        ((writer, age),) = await connection.execute(statement)
    assert writer == "onceward_worker"
    assert 0 <= age.total_seconds() < 60


async def test_even_what_the_owner_adds_bears_their_name_and_the_time_of_the_database(log: Log) -> None:
    forged = insert(events).values(tenant=log.tenant, actor="user-17", what="proposed", written_by="onceward_door")
    statement = select(events.c.written_by, events.c.at == func.now()).where(events.c.tenant == log.tenant)
    async with log.owner.transaction() as connection:
        await connection.execute(forged.values(at=func.now() - timedelta(days=9)))
        assert [tuple(row) for row in await connection.execute(statement)] == [("onceward_owner", True)]


# -- much of it


async def test_many_thousand_lines_are_checked_a_thousand_at_a_time(log: Log) -> None:
    await many(log, 10_000)
    sizes: list[int] = []
    found = await PostgresAuditChain(log.worker).check(log.tenant, lambda part: sizes.append(len(part)))
    assert (found.lines, found.broken) == (10_000, None)
    assert max(sizes) == PART
    assert sum(sizes) == 10_000


async def many(log: Log, number: int) -> None:
    """Lines with their chain, written at once: what this is about is reading them."""
    async with log.owner.transaction() as connection:
        last, at = (await connection.execute(select(func.max(events.c.event_id), func.now()))).one()
        # Far from the numbers that the database gives to others meanwhile.
        begin = (last or 0) + 1_000_000
        lines = (AuditLine(log.tenant, begin + each, at, "executor", "started") for each in range(number))
        sealed, heads = chained(lines, {})
        async with without_guards(connection, "events"):
            await connection.execute(events.insert(), list(map(values, sealed)))
        head = heads[log.tenant]
        await connection.execute(audit_heads.insert().values(tenant=log.tenant, place=head.place, hash=head.hash))


def values(line: AuditLine) -> dict[str, Any]:
    names = ("tenant", "event_id", "at", "actor", "what", "written_by", "place", "previous_hash", "hash")
    return {name: getattr(line, name) for name in names}
