"""The migrations make the tables as they are declared, and each process may do its own part and nothing else."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from psycopg.errors import InsufficientPrivilege
from sqlalchemy import MetaData, create_engine, text
from sqlalchemy.engine import Connection, make_url
from sqlalchemy.exc import DataError, ProgrammingError

from adapters.downstream import ledger_tables
from adapters.postgres import tables
from adapters.postgres.engine import Database
from adapters.postgres.migrations import upgrade
from worker.dev.stack import Stack


def declared(*parts: MetaData) -> MetaData:
    """All tables that are declared anywhere, together."""
    together = MetaData()
    for part in parts:
        for table in part.sorted_tables:
            table.to_metadata(together)
    return together


metadata = declared(tables.metadata, ledger_tables.metadata)

ROLES = ("door", "worker", "relay")
TABLES = sorted(metadata.tables)
LEDGER = {"ledger_accounts", "ledger_entries", "ledger_fences"}
COLUMNS = [(table, column.name) for table in TABLES for column in metadata.tables[table].columns]

INSERTS = {
    "door": {"operations", "calls", "verdicts", "decisions", "resolutions", "cancellations", "outbox", "events"}
    | {"hosted_calls", "discoveries", "sessions"},
    "worker": {"verdicts", "approvals", "claims", "spendings", "handler_calls", "outbox", "events"}
    | {"ledger_entries", "ledger_fences"},
    "relay": {"audit_heads", "notices"},
}
TOLD = ("tenant", "operation_id", "actor", "what", "detail", "tool", "resource")
"""What a line of the audit log is told with; its time, its writer and its place are the database's and the relay's."""

READS = {
    "door": set(TABLES) - LEDGER,
    "worker": set(TABLES) - {"sessions"},
    "relay": {"outbox", "notices", "events", "audit_heads"},
}

UPDATES: dict[str, set[tuple[str, str]]] = {
    "door": {
        ("calls", "operation_id"),
        ("calls", "attached"),
        ("calls", "deliveries"),
        ("approvals", "state"),
        ("approvals", "ended_at"),
        *(("sessions", name) for name in ("fingerprint", "earlier_fingerprint", "name", "roles", "locale", "zone")),
        *(("sessions", name) for name in ("seen_at", "checked_at", "ended_at")),
        *(
            (table, name)
            for table in ("outbox", "notices")
            for name in ("due_at", "attempts", "failure", "set_aside_at")
        ),
    },
    "worker": {
        *(("operations", name) for name in ("state", "code", "details", "result", "reference")),
        *(("operations", name) for name in ("clearance", "cleared_at", "updated_at", "ended_at")),
        *(("approvals", name) for name in ("state", "ended_at", "consumed_generation")),
        *(column for column in COLUMNS if column[0] in ("claims", "handler_calls")),
        *(("ledger_accounts", "balance"), ("ledger_accounts", "version"), ("ledger_fences", "generation")),
        ("spendings", "left_at"),
        ("spendings", "released_at"),
    },
    "relay": {
        *(
            (table, name)
            for table in ("outbox", "notices")
            for name in ("due_at", "attempts", "failure", "sent_at", "set_aside_at")
        ),
        ("operations", "swept_at"),
        *(("events", name) for name in ("place", "previous_hash", "hash")),
        *(("audit_heads", name) for name in ("place", "hash", "sealed_at")),
    },
}
"""Every column that each role may change; what an operation means, and whose it is, none of them may."""

DELETES = {"door": {"DELETE FROM sessions"}, "worker": set[str](), "relay": set[str]()}
"""Sessions that ended long ago are taken away at the next sign-in; nothing else ever is, but by `prune_content`."""


@pytest.fixture
async def role(request: pytest.FixtureRequest, postgres: Stack) -> AsyncIterator[Database]:
    database = Database(postgres.dsn(f"onceward_{request.param}"), application_name="tests", pool_size=1)
    yield database
    await database.close()


def differences(connection: Connection) -> list[Any]:
    options = {"compare_type": True, "compare_server_default": True}
    return list(compare_metadata(MigrationContext.configure(connection, opts=options), metadata))


def test_the_migrations_make_exactly_the_declared_tables(postgres: Stack) -> None:
    engine = create_engine(make_url(postgres.dsn("onceward_owner")).set(drivername="postgresql+psycopg"))
    try:
        with engine.connect() as connection:
            assert differences(connection) == []
    finally:
        engine.dispose()


def test_every_table_says_what_it_is() -> None:
    assert [name for name, table in metadata.tables.items() if not table.comment] == []


async def test_migrating_again_changes_nothing(postgres: Stack, owner_database: Database) -> None:
    before = await snapshot(owner_database)
    upgrade(postgres.dsn("onceward_owner"))
    await postgres.start("migrate")
    assert await snapshot(owner_database) == before


async def test_an_operation_and_its_claim_have_one_key_each(owner_database: Database) -> None:
    keys = {name: [column.name for column in table.primary_key] for name, table in metadata.tables.items()}
    assert keys["claims"] == ["operation_id", "item"]
    assert keys["calls"] == ["tenant", "delivery_key"]


@pytest.mark.parametrize("role", ROLES, indirect=True, ids=ROLES)
async def test_each_role_inserts_into_its_own_tables_only(role: Database, request: pytest.FixtureRequest) -> None:
    granted = {table for table in TABLES if await may_name_a_column(role, table)}
    assert granted == INSERTS[name_of(request)]


@pytest.mark.parametrize("role", ["door", "worker"], indirect=True)
async def test_whoever_tells_a_line_of_the_audit_log_says_neither_when_nor_where_it_stands(role: Database) -> None:
    statement = text("SELECT has_column_privilege(current_user, 'events', :column, 'INSERT')")
    async with role.transaction() as connection:
        columns = [column.name for column in metadata.tables["events"].columns]
        told = {name for name in columns if (await connection.execute(statement, {"column": name})).scalar_one()}
    assert told == set(TOLD)


@pytest.mark.parametrize("role", ROLES, indirect=True, ids=ROLES)
async def test_each_role_reads_what_it_needs(role: Database, request: pytest.FixtureRequest) -> None:
    assert {table for table in TABLES if await may(role, table, "SELECT")} == READS[name_of(request)]


@pytest.mark.parametrize("role", ROLES, indirect=True, ids=ROLES)
async def test_each_role_changes_its_own_columns_only(role: Database, request: pytest.FixtureRequest) -> None:
    statement = text("SELECT has_column_privilege(current_user, :table, :column, 'UPDATE')")
    async with role.transaction() as connection:
        changeable = {
            (table, column)
            for table, column in COLUMNS
            if (await connection.execute(statement, {"table": table, "column": column})).scalar_one()
        }
    assert changeable == UPDATES[name_of(request)]


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("role", ROLES, indirect=True, ids=ROLES)
async def test_nobody_but_the_owner_deletes(role: Database, table: str, request: pytest.FixtureRequest) -> None:
    for statement in (f"DELETE FROM {table}", f"TRUNCATE {table}", f"DROP TABLE {table}"):
        if statement not in DELETES[name_of(request)]:
            await assert_denied(role, statement)


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO claims (operation_id, intent_hash, idempotency_key, owner, generation, lease_until)"
        " VALUES ('op', 'hash', 'key', 'owner', 1, now())",
        "UPDATE operations SET state = 'succeeded'",
        "UPDATE operations SET arguments = '{}'",
        "UPDATE claims SET generation = generation + 1",
        "INSERT INTO approvals SELECT * FROM approvals",
        "UPDATE approvals SET intent_hash = 'other'",
        "UPDATE approvals SET expires_at = now() + interval '1 year'",
        "UPDATE decisions SET choice = 'approve'",
        "UPDATE outbox SET sent_at = now()",
        "UPDATE events SET what = 'nothing'",
        "UPDATE events SET place = 1",
        "INSERT INTO events (tenant, actor, what, at) VALUES ('tenant-a', 'user-17', 'proposed', '2026-01-01')",
        "INSERT INTO events (tenant, actor, what, written_by) VALUES ('tenant-a', 'user-17', 'proposed', 'other')",
        "CREATE TABLE mine (id integer)",
    ],
)
@pytest.mark.parametrize("role", ["door"], indirect=True)
async def test_the_door_can_neither_claim_nor_end_nor_rewrite(role: Database, statement: str) -> None:
    await assert_denied(role, statement)


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO operations (operation_id) VALUES ('op')",
        "INSERT INTO decisions (approval_id, approver, approver_name, choice, reason)"
        " VALUES ('ap', 'worker', 'Worker', 'approve', '')",
        "INSERT INTO calls (tenant) VALUES ('tenant-a')",
        "UPDATE operations SET arguments = '{}'",
        "UPDATE operations SET intent_hash = 'other'",
        "UPDATE operations SET tenant = 'tenant-b'",
        "UPDATE operations SET roles = ARRAY['admin']",
        "UPDATE approvals SET intent_hash = 'other'",
        "UPDATE decisions SET choice = 'approve'",
        "INSERT INTO ledger_accounts (account_id, tenant, customer, currency, credit_limit)"
        " VALUES ('CA-1', 'tenant-a', 'user-17', 'KRW', 1)",
        "UPDATE ledger_accounts SET credit_limit = credit_limit * 2",
        "UPDATE ledger_accounts SET tenant = 'tenant-b'",
        "UPDATE ledger_accounts SET closed = false",
        "UPDATE ledger_entries SET minor_units = 1",
        "UPDATE events SET what = 'nothing'",
        "UPDATE events SET hash = 'other'",
        "INSERT INTO events (tenant, actor, what, written_by) VALUES ('tenant-a', 'user-17', 'proposed', 'other')",
        "CREATE TABLE mine (id integer)",
    ],
)
@pytest.mark.parametrize("role", ["worker"], indirect=True)
async def test_the_worker_can_neither_register_nor_decide_nor_rewrite(role: Database, statement: str) -> None:
    await assert_denied(role, statement)


@pytest.mark.parametrize("table", [table for table in TABLES if table not in READS["relay"]])
@pytest.mark.parametrize("role", ["relay"], indirect=True)
async def test_the_relay_knows_the_outbox_its_notices_and_the_audit_log_alone(role: Database, table: str) -> None:
    await assert_denied(role, f"SELECT * FROM {table}")


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE outbox SET payload = '{}'",
        "UPDATE outbox SET operation_id = 'op'",
        "UPDATE events SET what = 'nothing'",
        "INSERT INTO events (tenant, actor, what) VALUES ('tenant-a', 'user-17', 'proposed')",
    ],
)
@pytest.mark.parametrize("role", ["relay"], indirect=True)
async def test_the_relay_rewrites_no_message_and_tells_no_line(role: Database, statement: str) -> None:
    await assert_denied(role, statement)


async def test_a_failed_statement_shows_none_of_its_values(door_database: Database) -> None:
    statement = text("SELECT :order_id, CAST(:amount AS integer) / 0")
    with pytest.raises(DataError) as refused:
        async with door_database.transaction() as connection:
            await connection.execute(statement, {"order_id": "O-17-of-somebody", "amount": 987_654})
    assert "O-17-of-somebody" not in str(refused.value)
    assert "987654" not in str(refused.value)


async def snapshot(database: Database) -> list[Any]:
    """Tables with their columns, indices and rights."""
    async with database.transaction() as connection:
        rights = text("SELECT relname, relacl::text FROM pg_class WHERE relnamespace = 'public'::regnamespace")
        columns = text(
            "SELECT table_name, column_name, data_type, column_default FROM information_schema.columns"
            " WHERE table_schema = 'public'"
        )
        found = [*await connection.execute(rights), *await connection.execute(columns)]
        return sorted(map(repr, found))


async def may_name_a_column(database: Database, table: str) -> bool:
    statement = text("SELECT has_any_column_privilege(current_user, :table, 'INSERT')")
    async with database.transaction() as connection:
        return bool((await connection.execute(statement, {"table": table})).scalar_one())


async def may(database: Database, table: str, what: str) -> bool:
    statement = text("SELECT has_table_privilege(current_user, :table, :what)")
    async with database.transaction() as connection:
        return bool((await connection.execute(statement, {"table": table, "what": what})).scalar_one())


async def assert_denied(database: Database, statement: str) -> None:
    with pytest.raises(ProgrammingError) as refused:
        async with database.transaction() as connection:
            await connection.execute(text(statement))
    assert isinstance(refused.value.orig, InsufficientPrivilege)


def name_of(request: pytest.FixtureRequest) -> str:
    return str(request.node.callspec.params["role"])
