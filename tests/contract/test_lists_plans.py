"""What people look for is found by an index: with 100,000 operations no list reads them all."""

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from adapters.http.back_office.lists import OperationQuery, PendingQuery
from adapters.http.back_office.ports import BackOfficeStore
from adapters.postgres.back_office import PostgresBackOffice
from adapters.postgres.engine import Database
from adapters.postgres.operations import PostgresOperations
from adapters.postgres.spendings import PostgresSpendings
from tests.support.benches import nobody_is_woken
from tests.support.crowd import OPERATIONS, crowd
from tests.support.plans import rows_read, statements_of
from tests.support.proposals import fresh
from workflows.domain.impact import Money
from workflows.domain.lifecycle import State
from workflows.domain.principal import Principal

LARGE = frozenset({"operations", "calls"})
"""Tables that grow with every call and are never emptied."""

Look = Callable[[BackOfficeStore, Principal], Awaitable[object]]


@pytest.fixture(scope="module")
async def viewer(owner_database: Database) -> AsyncIterator[Principal]:
    tenant = fresh("tenant")
    async with crowd(owner_database, tenant):
        yield Principal(tenant, "approver-1", frozenset({"approver:refunds", "operator"}))


def inbox(**narrowed: Any) -> Look:
    return lambda store, viewer: store.pending(viewer, PendingQuery(**narrowed))


def search(**narrowed: Any) -> Look:
    return lambda store, viewer: store.operations(viewer, OperationQuery(**narrowed))


def after(number: int, **narrowed: Any) -> Look:
    return lambda store, viewer: store.operations(
        viewer, OperationQuery(after=f"{viewer.tenant}-op-{number}", **narrowed)
    )


LOOKS: dict[str, Look] = {
    "the inbox": inbox(),
    "my part of the inbox": inbox(mine=True),
    "the inbox by amount": inbox(currency="KRW", at_least=1000),
    "the newest operations": search(),
    "operations deep in the list": after(90_000),
    "operations in a rare state": search(state=State.MANUAL_REVIEW),
    "operations in no state of these": search(state=State.FAILED_RETRYABLE),
    "operations in a state, deep in the list": after(90_000, state=State.SUCCEEDED),
    "operations of a rare tool": search(tool="issue_store_credit"),
    "operations of no tool": search(tool="other"),
    "operations that one person asked for": search(requester="support-77"),
    "operations that nobody asked for": search(requester="nobody"),
    "operations on an object": search(resource="O-777"),
    "operations on an object of a kind": search(resource="order O-777"),
    "an operation by an id": search(id="anything"),
    "operations of a day": search(since=datetime.now(UTC) - timedelta(days=30), until=datetime.now(UTC)),
    "operations of a person, a tool and a state": search(
        requester="support-0", tool="issue_store_credit", state=State.SUCCEEDED
    ),
    "stuck work": lambda store, viewer: store.stuck(viewer),
    "one operation": lambda store, viewer: store.operation(viewer, f"{viewer.tenant}-op-1"),
    "one question": lambda store, viewer: store.approval(viewer, f"ap-{viewer.tenant}-op-1"),
}


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
async def test_no_look_reads_all_operations(look: Look, viewer: Principal, door_database: Database) -> None:
    store = PostgresBackOffice(door_database, nobody_is_woken)
    asked = await statements_of(door_database, lambda: look(store, viewer))
    assert asked
    assert sum([await rows_read(door_database, *each, of=LARGE) for each in asked]) < OPERATIONS / 20


async def test_the_totals_of_a_day_are_counted_without_a_look_at_the_operations(
    viewer: Principal, worker_database: Database
) -> None:
    spendings = PostgresSpendings(worker_database)
    operation = await PostgresOperations(worker_database).load(f"{viewer.tenant}-op-1")
    asked = await statements_of(worker_database, lambda: spendings.reserve(operation, Money(1, "KRW"), 0.0))
    counting = [each for each in asked if "sum(spendings" in each[0]]
    assert len(counting) == 1
    assert [await rows_read(worker_database, *each, of=LARGE) for each in counting] == [0.0]
