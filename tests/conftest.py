"""What tests share: one PostgreSQL of their own, and one whole stack, each started when first asked for."""

import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from hypothesis import settings

from adapters.postgres.engine import Database
from tests.support.benches import Bench, MemoryBench, PostgresBench
from tests.support.onceward import Onceward
from tests.support.proposals import THIS_TEST, fresh
from worker.dev.stack import Stack

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
# How long an example takes depends on the machine and on what else runs there.

TESTS = Path(__file__).parent

AT_ONCE = 20
"""Connections of each role: as many as the simultaneous callers of any test, so that all of them really race."""


LONGEST_FIRST = ("faults", "browser", "integration", "workflows", "contract", "replay", "unit")
"""Folders by what one file of theirs may take: whoever gets the last file keeps nobody waiting for long."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files go out in this order to those who run them at the same time."""
    items.sort(key=lambda item: LONGEST_FIRST.index(item.path.relative_to(TESTS).parts[0]))


gc.disable()
# What is imported now stays to the end: to look through all of it again and again is a third of the time to begin.


def pytest_collection_finish() -> None:
    """From here on there is garbage, and it is looked for in what is made from here on."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True)
def order_of_this_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test refunds an order of its own, unless it names one."""
    monkeypatch.setattr(THIS_TEST, "order_id", fresh("O"))


@pytest.fixture(scope="session")
async def postgres(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stack]:
    """A PostgreSQL with its roles and, migrated by their owner, our tables. No other process of ours uses it."""
    async with Stack(tmp_path_factory.mktemp("postgres"), only={"postgres", "migrate"}, restart=False) as stack:
        yield stack


@pytest.fixture(scope="session")
def payments_dsn(postgres: Stack) -> str:
    """An empty database for the payments provider; the role may create others and see what all sessions do."""
    return postgres.dsn("postgres", "payments")


@pytest.fixture(scope="session")
async def owner_database(postgres: Stack) -> AsyncIterator[Database]:
    """The tables' owner, to look behind the ports and to move stored moments."""
    async with _connected(postgres, "onceward_owner") as database:
        yield database


@pytest.fixture(scope="session")
async def door_database(postgres: Stack) -> AsyncIterator[Database]:
    """With the rights of the doors and the back office."""
    async with _connected(postgres, "onceward_door") as database:
        yield database


@pytest.fixture(scope="session")
async def worker_database(postgres: Stack) -> AsyncIterator[Database]:
    """With the rights of the worker."""
    async with _connected(postgres, "onceward_worker") as database:
        yield database


@pytest.fixture(scope="session")
async def relay_database(postgres: Stack) -> AsyncIterator[Database]:
    """With the rights of the relay."""
    async with _connected(postgres, "onceward_relay") as database:
        yield database


@pytest.fixture(scope="session")
def postgres_bench(door_database: Database, worker_database: Database, owner_database: Database) -> PostgresBench:
    """The real ports."""
    return PostgresBench(door=door_database, worker=worker_database, owner=owner_database)


@pytest.fixture(params=["memory", "postgres"])
def bench(request: pytest.FixtureRequest) -> Bench:
    """Every test that asks for it runs twice: against the fakes and against the real ports."""
    if request.param == "memory":
        return MemoryBench()
    real: PostgresBench = request.getfixturevalue("postgres_bench")
    return real


@pytest.fixture(scope="session")
async def onceward(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Onceward]:
    """The whole stack, running; see `tests.support.onceward.Onceward` for what can be done with it."""
    async with (
        Stack(tmp_path_factory.mktemp("onceward"), restart=False) as stack,
        Onceward.connected(stack) as running,
    ):
        yield running


@asynccontextmanager
async def _connected(stack: Stack, role: str) -> AsyncIterator[Database]:
    database = Database(stack.dsn(role), application_name="tests", pool_size=AT_ONCE)
    try:
        yield database
    finally:
        await database.close()
