"""Connections to PostgreSQL: what is put off belongs to its transaction, and what has died is replaced."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import insert, select, text
from sqlalchemy.exc import IntegrityError

from adapters.postgres import rows, stale
from adapters.postgres.engine import Database
from adapters.postgres.tables import discoveries
from tests.support.proposals import fresh
from tests.support.traffic import listened_to
from worker.dev.stack import Stack
from workflows.domain.errors import StoreUnavailable

PID = text("SELECT pg_backend_pid()")


class BrokenOff(Exception):
    """By the test."""


@pytest.fixture
async def store(postgres: Stack) -> AsyncIterator[Database]:
    database = Database(postgres.dsn("onceward_door"), application_name="tests", pool_size=1, answering=True)
    yield database
    await database.close()


def found(lineage: str, tool: str = "get_order") -> dict[str, str]:
    return {"lineage": lineage, "tool": tool}


async def kept(store: Database, lineage: str, *tools: str, sent: bool, broken_off: bool = False) -> None:
    """Put off a row for each tool, send them or not, and break off or not."""
    async with store.transaction() as connection:
        for tool in tools:
            await rows.later(connection, insert(discoveries), found(lineage, tool))
        if sent:
            await connection.execute(PID)
        if broken_off:
            raise BrokenOff


async def impatiently_held(store: Database, name: str) -> None:
    async with store.transaction() as connection:
        await rows.later(connection, text("SET LOCAL lock_timeout = '50ms'"))
        await rows.hold(connection, name)
        await connection.execute(PID)


async def stored(store: Database, lineage: str) -> list[str]:
    return [row.tool for row in await store.rows(select(discoveries).where(discoveries.c.lineage == lineage))]


async def test_what_was_put_off_is_done_with_the_commit(store: Database) -> None:
    lineage = fresh("lineage")
    async with store.transaction() as connection:
        await rows.later(connection, insert(discoveries), found(lineage))
    assert await stored(store, lineage) == ["get_order"]


async def test_a_statement_finds_what_was_put_off_before_it(store: Database) -> None:
    lineage = fresh("lineage")
    async with store.transaction() as connection:
        await rows.later(connection, insert(discoveries), found(lineage))
        mine = await connection.execute(select(discoveries).where(discoveries.c.lineage == lineage))
        assert len(mine.all()) == 1


@pytest.mark.parametrize("sent", [True, False])
async def test_a_transaction_that_fails_leaves_nothing_of_what_was_put_off(store: Database, sent: bool) -> None:
    lineage = fresh("lineage")
    with pytest.raises(BrokenOff):
        await kept(store, lineage, "get_order", sent=sent, broken_off=True)
    assert await stored(store, lineage) == []


@pytest.mark.parametrize("sent", [True, False])
async def test_the_error_of_what_was_put_off_is_raised_and_undoes_everything(store: Database, sent: bool) -> None:
    lineage = fresh("lineage")
    before = await store.rows(PID)
    with pytest.raises(IntegrityError):
        await kept(store, lineage, "get_order", "get_quote", "get_order", sent=sent)
    assert await stored(store, lineage) == []
    assert await store.rows(PID) == before


async def test_a_last_statement_is_committed_with_its_answer(store: Database, owner_database: Database) -> None:
    lineage = fresh("lineage")
    async with store.transaction() as connection:
        await rows.later(connection, insert(discoveries), found(lineage))
        assert (await rows.last(connection, PID)).scalar_one() > 0
        async with owner_database.transaction() as other:
            mine = await other.execute(select(discoveries).where(discoveries.c.lineage == lineage))
            assert len(mine.all()) == 1


async def test_whoever_waits_too_long_for_a_lock_is_told_so_and_the_connection_goes_on(
    store: Database, owner_database: Database
) -> None:
    before = await store.rows(PID)
    async with owner_database.transaction() as other:
        await rows.hold(other, "a name")
        await other.execute(PID)
        with pytest.raises(StoreUnavailable):
            await impatiently_held(store, "a name")
    assert await store.rows(PID) == before


async def test_a_connection_that_the_server_has_ended_is_replaced_before_anybody_notices(
    store: Database, postgres: Stack
) -> None:
    (before,) = await store.rows(PID)
    superuser = Database(postgres.dsn("postgres", "onceward"), application_name="tests", pool_size=1)
    ended = await superuser.rows(text("SELECT pg_terminate_backend(:pid, 5000)").bindparams(pid=before[0]))
    await superuser.close()
    assert ended[0][0]
    (after,) = await store.rows(PID)
    assert after != before


@pytest.mark.parametrize(("idle_seconds", "round_trips"), [(stale.IDLE_SECONDS, 1), (0.0, 2)])
async def test_only_a_connection_that_was_silent_for_a_while_is_asked_whether_it_still_lives(
    postgres: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, idle_seconds: float, round_trips: int
) -> None:
    monkeypatch.setattr(stale, "IDLE_SECONDS", idle_seconds)
    async with listened_to(postgres.dsn("onceward_door"), tmp_path / "notes") as (database, wire):
        await database.rows(PID)
        async with wire.counted() as traffic:
            await database.rows(PID)
    assert traffic.round_trips == round_trips
