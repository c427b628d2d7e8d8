"""The dashboard over PostgreSQL: every invariant planted broken, and what looking costs where there is much."""

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import event, text

from adapters.http.back_office.dashboard_ports import Overview, Span
from adapters.postgres.dashboard import PostgresDashboard
from adapters.postgres.engine import Database
from adapters.postgres.invariants import NAMES, PostgresInvariants
from tests.integration.test_verify import PLANTED, Plant
from tests.support.books import OPERATION, Books
from worker.dev.stack import Stack
from workflows.domain.principal import Principal

ROUTINE = 6000
"""Operations of another tenant, all in good order."""

MUCH = f"""
INSERT INTO operations (operation_id, tenant, subject, roles, scopes, tool, tool_version, contract_hash, writes,
    intent_hash, act_hash, arguments, resource, state, ended_at)
SELECT 'many_' || n, 'many', 'x', '{{}}', '{{}}', 'refund_payment', 'x', 'x', true,
    'x', 'x', 'x', 'x', 'succeeded', now()
FROM generate_series(1, {ROUTINE}) AS n;
INSERT INTO events (tenant, operation_id, actor, what)
SELECT 'many', 'many_' || n, 'executor', what
FROM generate_series(1, {ROUTINE}) AS n, unnest(ARRAY['proposed', 'effect.applied', 'succeeded']) AS what;
INSERT INTO verdicts (tenant, operation_id, layer, code, at)
SELECT 'many', 'many_' || n, 'business', code, now() - seconds * interval '1 second'
FROM generate_series(1, {ROUTINE}) AS n, (VALUES ('quote_changed', 4), (NULL, 3)) AS judged (code, seconds);
INSERT INTO claims (operation_id, intent_hash, idempotency_key, owner, generation, lease_until, sends, outcome)
SELECT 'many_' || n, 'x', 'many_' || n, 'x', 1, now(), 1, 'applied' FROM generate_series(1, {ROUTINE}) AS n;
INSERT INTO handler_calls (operation_id, tool, generation, began_at, ended_at)
SELECT 'many_' || n, 'x', 1, now() - interval '2 seconds', now() FROM generate_series(1, {ROUTINE}) AS n;
INSERT INTO approvals (approval_id, operation_id, tenant, revision, state, intent_hash, resource_version,
    policy_version, approver_role, quorum, impact, why, expires_at)
SELECT 'many_' || n, 'many_' || n, 'many', 1, 'consumed', 'x', 'x', 'x', 'x', 1, '{{}}', 'x', now()
FROM generate_series(1, {ROUTINE}) AS n;
INSERT INTO decisions (approval_id, approver, approver_name, choice, reason)
SELECT 'many_' || n, 'x', 'x', 'approve', 'x' FROM generate_series(1, {ROUTINE}) AS n;
INSERT INTO calls (tenant, delivery_key, request_id, call_id, position, surface, lineage, tool, proposal_hash, refusal)
SELECT 'many', n, 'x', 'x', 0, 'x', 'x', 'x', 'x', '{{"code": "invalid_arguments"}}'
FROM generate_series(1, {ROUTINE}) AS n;
INSERT INTO outbox (operation_id, kind, payload, sent_at)
SELECT 'many_' || n, 'nudge', '{{}}', now() FROM generate_series(1, {ROUTINE}) AS n;
"""

BIG = {"operations", "events", "verdicts", "claims", "handler_calls", "approvals", "decisions", "calls", "outbox"}


@pytest.fixture(scope="module")
async def stack(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stack]:
    """Tables that no other test writes in: they are emptied, and filled with much."""
    folder = tmp_path_factory.mktemp("dashboard")
    async with Stack(folder, only={"postgres", "migrate"}, restart=False) as stack:
        yield stack


@pytest.fixture(scope="module")
async def owner(stack: Stack) -> AsyncIterator[Database]:
    database = Database(stack.dsn("onceward_owner"), application_name="tests")
    yield database
    await database.close()


@pytest.fixture(scope="module")
async def door(stack: Stack) -> AsyncIterator[Database]:
    """With the rights of the process that serves the page."""
    database = Database(stack.dsn("onceward_door"), application_name="tests")
    yield database
    await database.close()


@pytest.fixture
async def books(owner: Database) -> Books:
    """The rows of tenant `t`."""
    books = Books(owner)
    await books.begin_anew()
    return books


async def look(door: Database, tenant: str = "t") -> Overview:
    return await PostgresDashboard(door).overview(Principal(tenant, "viewer-1", frozenset({"viewer"})), Span.WEEK)


def broken(seen: Overview) -> dict[str, tuple[str, ...]]:
    return {each.name: each.operations or each.theirs for each in seen.invariants if not each.holds}


@pytest.mark.parametrize(("name", "plant"), PLANTED, ids=[plant.__name__ for _, plant in PLANTED])
async def test_what_is_broken_is_shown_with_its_operation_to_its_own_tenant_alone(
    books: Books, door: Database, name: str, plant: Plant
) -> None:
    await books.refund()
    await plant(books)
    found = broken(await look(door))
    assert found.keys() == {name}
    assert {about.split()[-1] for about in found[name]} <= {OPERATION, "op_2", "hosted_call_not_approved"}
    assert found[name]
    assert broken(await look(door, "another")) == {}


async def test_the_page_tells_of_the_same_invariants_in_the_same_order_as_the_command(
    books: Books, door: Database
) -> None:
    await books.refund()
    assert tuple(each.name for each in (await look(door)).invariants) == NAMES
    assert [each.name for each in await PostgresInvariants(door).all()] == list(NAMES)


async def test_looking_takes_the_same_statements_however_much_there_is(books: Books, door: Database) -> None:
    with statements(door) as for_nothing:
        await look(door)
    await books.refund()
    await books.change(MUCH)
    with statements(door) as for_much:
        assert broken(await look(door, "many")) == {}
    assert [statement for statement, _ in for_much] == [statement for statement, _ in for_nothing]


async def test_no_statement_reads_through_a_table_that_grows_for_ever(
    books: Books, door: Database, owner: Database
) -> None:
    await books.refund()
    await books.change(MUCH)
    await books.change("ANALYZE")
    with statements(door) as asked:
        await look(door)
    read_through = [
        (statement, relation)
        for statement, values in asked
        if not statement.startswith("SET ")
        for relation in await scanned(owner, statement, values)
        if relation in BIG
    ]
    assert read_through == []


@contextmanager
def statements(database: Database) -> Iterator[list[tuple[str, Any]]]:
    """What this database is asked meanwhile, with the values."""
    asked: list[tuple[str, Any]] = []

    def note(_: Any, __: Any, statement: str, values: Any, *___: Any) -> None:
        asked.append((statement, values))

    event.listen(database.engine.sync_engine, "before_cursor_execute", note)
    try:
        yield asked
    finally:
        event.remove(database.engine.sync_engine, "before_cursor_execute", note)


async def scanned(database: Database, statement: str, values: Any) -> list[str]:
    """The tables that PostgreSQL would read from beginning to end for this."""
    async with database.transaction() as connection:
        await connection.execute(text("SET LOCAL jit = off"))
        explained = await connection.exec_driver_sql(f"EXPLAIN (FORMAT JSON) {statement}", values)
        ((plan,),) = [row[0] for row in explained]
    return list(sequential(plan["Plan"]))


def sequential(plan: dict[str, Any]) -> Iterator[str]:
    if plan["Node Type"] == "Seq Scan":
        yield plan["Relation Name"]
    for part in plan.get("Plans", ()):
        yield from sequential(part)
