"""A tenant who asks for much at once holds up nobody else."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import func, select

from adapters.postgres.tables import handler_calls, operations
from tests.support.onceward import Onceward
from tests.support.proposals import fresh
from tests.support.responses import Call, call
from tests.support.waiting import until

LOUD, QUIET = 120, 3
AT_ONCE = 8


def read() -> Call:
    """Of an order of its own, that nobody has."""
    return call("get_order", {"order_id": fresh("O")})


def write() -> Call:
    """The same of a refund."""
    quoted = {"quote_id": "qt-1", "quote_version": 1, "amount": 100, "currency": "KRW"}
    return call("refund_payment", {"order_id": fresh("O"), **quoted})


async def test_a_quiet_tenants_reads_are_not_behind_all_that_a_loud_one_has_asked(faulty: Onceward) -> None:
    loud, quiet = await asked_while_no_worker_runs(faulty, read)
    ended = await once_all_have_ended(faulty, loud, quiet)
    began = {row.operation_id: row.began_at for row in await faulty.rows(select(handler_calls))}
    require_soon(sorted(ended, key=lambda each: began[each.operation_id]), loud, quiet)


async def test_a_quiet_tenants_writes_are_not_behind_all_that_a_loud_one_has_asked(faulty: Onceward) -> None:
    loud, quiet = await asked_while_no_worker_runs(faulty, write)
    ended = await once_all_have_ended(faulty, loud, quiet)
    taken = {each.operation_id: await taken_at(faulty, each.operation_id) for each in ended}
    require_soon(sorted(ended, key=lambda each: taken[each.operation_id]), loud, quiet)


def require_soon(ended: Sequence[Any], loud: str, quiet: str) -> None:
    """The last that the quiet one asked came before half of what the loud one had asked before it."""
    order = [each.tenant for each in ended]
    last_of_quiet = max(place for place, tenant in enumerate(order) if tenant == quiet)
    assert order[:last_of_quiet].count(loud) < LOUD / 2


async def asked_while_no_worker_runs(faulty: Onceward, asked: Callable[[], Call]) -> tuple[str, str]:
    """First all that the loud tenant asks, then the little that the quiet one does; returns the two."""
    loud, quiet = fresh("tenant"), fresh("tenant")
    await faulty.stack.stop("worker")
    await asked_for(faulty, asked, loud, LOUD)
    await asked_for(faulty, asked, quiet, QUIET)
    await faulty.stack.start("worker")
    return loud, quiet


async def asked_for(faulty: Onceward, asked: Callable[[], Call], tenant: str, number: int) -> None:
    """So many turns of one call each, of which none has an answer yet."""
    token, gate = faulty.token(tenant=tenant), asyncio.Semaphore(AT_ONCE)

    async def one() -> None:
        async with gate:
            reply = await faulty.turn(asked(), token=token, wait_seconds=0)
        assert reply.code == "operation_in_progress"

    await asyncio.gather(*(one() for _ in range(number)))


async def once_all_have_ended(faulty: Onceward, *tenants: str) -> list[Any]:
    """The operations of these tenants."""
    theirs = operations.c.tenant.in_(tenants)
    still_open = select(func.count()).where(theirs, operations.c.ended_at.is_(None))
    await until(lambda: faulty.rows(still_open), lambda rows: rows[0][0] == 0)
    return await faulty.rows(select(operations).where(theirs))


async def taken_at(faulty: Onceward, operation_id: str) -> datetime:
    """When a worker first took the operation's workflow."""
    async for event in faulty.temporal.get_workflow_handle(operation_id).fetch_history_events():
        if event.HasField("workflow_task_started_event_attributes"):
            return event.event_time.ToDatetime()
    raise AssertionError("no worker has taken it")
