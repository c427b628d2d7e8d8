"""Whoever waits for an operation learns of its move at once, and without asking again and again."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, asynccontextmanager

import pytest
from sqlalchemy import text

from adapters.intake.ports import Standing
from adapters.intake.watch import Watch
from adapters.postgres import news as news_module
from adapters.postgres.engine import Database
from adapters.postgres.news import PostgresNews
from adapters.postgres.progress import PostgresProgress
from tests.integration.test_outbox import end_sessions
from tests.support.acts import proposed
from tests.support.benches import PostgresBench
from tests.support.waiting import until
from worker.dev.stack import Stack
from workflows.domain.lifecycle import ENDS, State
from workflows.domain.operation import Operation, Settlement
from workflows.domain.principal import Principal

NOBODY = "postgresql://nobody:nothing@127.0.0.1:1/nowhere"
PATIENCE = 30.0


class Looks(PostgresProgress):
    """Counts how often somebody looks."""

    number = 0

    async def standings(self, principal: Principal, operation_ids: Sequence[str]) -> dict[str, Standing]:
        self.number += 1
        return await super().standings(principal, operation_ids)


@asynccontextmanager
async def listening(stack: Stack, database: Database, name: str) -> AsyncIterator[PostgresNews]:
    """News of the doors, once their connection listens."""
    news = PostgresNews(database, stack.dsn("onceward_door"), application_name=name)
    async with news.running():
        await until_listening(database, name)
        yield news


async def until_listening(database: Database, name: str) -> None:
    async def listeners() -> int:
        named = text("SELECT count(*) FROM pg_stat_activity WHERE application_name = :name AND query LIKE 'LISTEN%'")
        async with database.transaction() as connection:
            return int((await connection.execute(named, {"name": name})).scalar_one())

    await until(listeners, lambda number: number == 1)


async def ended(bench: PostgresBench, operation: Operation) -> None:
    """Give it its end, as a worker does."""
    await bench.operations.settle(operation.operation_id, Settlement(State.FAILED_TERMINAL, "not_found"))


def has_ended(standing: Standing) -> bool:
    return standing.state in ENDS


async def waited_for(progress: Looks, news: PostgresNews, operation: Operation) -> State:
    """Where it stands once it has ended, or patience has."""
    watch, name = Watch(progress, time.monotonic, news=news), operation.operation_id
    return (await watch.until(has_ended, operation.principal, [name], PATIENCE))[name].state


async def require_told(bench: PostgresBench, progress: Looks, news: PostgresNews, operation: Operation) -> None:
    """Whoever waits learns of the end, by one look before it and one after."""
    waiting = asyncio.create_task(waited_for(progress, news, operation))
    await until(lambda: looked(progress), lambda number: number == 1)
    await ended(bench, operation)
    assert await waiting in ENDS
    assert progress.number == 2


async def test_whoever_waits_looks_when_they_come_and_when_it_has_moved_and_never_between(
    postgres: Stack, postgres_bench: PostgresBench, door_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(news_module, "LOOK_SECONDS", PATIENCE)
    operation, progress = await proposed(postgres_bench), Looks(door_database)
    async with listening(postgres, door_database, "told") as news:
        await require_told(postgres_bench, progress, news, operation)


async def test_a_move_that_was_not_heard_is_found_by_a_look(
    postgres_bench: PostgresBench, door_database: Database
) -> None:
    operation, progress = await proposed(postgres_bench), Looks(door_database)
    deaf = PostgresNews(door_database, NOBODY, application_name="deaf")
    async with deaf.running():
        await require_told(postgres_bench, progress, deaf, operation)


async def test_one_look_finds_all_that_have_moved_and_wakes_nobody_else(
    postgres_bench: PostgresBench, door_database: Database
) -> None:
    moved, still = await proposed(postgres_bench), await proposed(postgres_bench)
    news = PostgresNews(door_database, NOBODY, application_name="deaf")
    whose = (moved, moved, still)
    with ExitStack() as stack:
        ears = [stack.enter_context(news.about([operation.operation_id])) for operation in whose]
        for ear, operation in zip(ears, whose, strict=True):
            ear.seen = {operation.operation_id: State.PROPOSED}
        await ended(postgres_bench, moved)
        await news.look()
        assert [ear.heard.is_set() for ear in ears] == [True, True, False]


async def test_once_its_connection_was_lost_it_listens_again(
    postgres: Stack, postgres_bench: PostgresBench, door_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(news_module, "LOOK_SECONDS", PATIENCE)
    operation, progress = await proposed(postgres_bench), Looks(door_database)
    async with listening(postgres, door_database, "lost") as news:
        await end_sessions(postgres, "lost")
        await until_listening(door_database, "lost")
        await require_told(postgres_bench, progress, news, operation)


async def test_nothing_is_kept_of_those_who_wait_no_more(door_database: Database) -> None:
    news = PostgresNews(door_database, NOBODY, application_name="deaf")
    with news.about(["op_1", "op_2"]), news.about(["op_1"]):
        assert set(news._ears) == {"op_1", "op_2"}
    assert not news._ears


async def test_a_door_that_ends_answers_those_who_wait(postgres_bench: PostgresBench, door_database: Database) -> None:
    operation, progress, closing = await proposed(postgres_bench), Looks(door_database), asyncio.Event()
    news = PostgresNews(door_database, NOBODY, application_name="deaf")
    watch, name = Watch(progress, time.monotonic, closing.is_set, news), operation.operation_id
    waiting = asyncio.create_task(watch.until(has_ended, operation.principal, [name], PATIENCE))
    await until(lambda: looked(progress), lambda number: number == 1)
    closing.set()
    news.wake_all()
    assert (await waiting)[name].state is State.PROPOSED


async def looked(progress: Looks) -> int:
    return progress.number
