"""The back office's store, over sheets in memory and over PostgreSQL."""

import pytest

from adapters.postgres.back_office import PostgresBackOffice
from adapters.postgres.engine import Database
from tests.support.benches import PostgresBench, nobody_is_woken
from tests.support.offices import MemoryOffice, Office
from tests.support.postgres_offices import PostgresOffice
from tests.support.proposals import fresh
from tests.unit.memory_back_office import MemoryBackOffice, StandingClock


@pytest.fixture
def postgres_office(postgres_bench: PostgresBench, door_database: Database, owner_database: Database) -> PostgresOffice:
    store = PostgresBackOffice(door_database, nobody_is_woken)
    return PostgresOffice(store, postgres_bench, owner_database, fresh("tenant"), {})


@pytest.fixture(params=["memory", "postgres"])
def office(request: pytest.FixtureRequest) -> Office:
    if request.param == "memory":
        clock = StandingClock()
        return MemoryOffice(MemoryBackOffice(clock), clock, fresh("tenant"))
    real: PostgresOffice = request.getfixturevalue("postgres_office")
    return real
