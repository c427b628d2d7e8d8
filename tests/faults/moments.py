"""The moments around an effect, each held open with a lock or a stopped process so that the worker dies just there."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

from sqlalchemy import text

from tests.faults.refunds import Refund
from tests.support.locks import locked
from tests.support.onceward import Onceward
from tests.support.waiting import until

Moment = Callable[[Onceward, Refund], AbstractAsyncContextManager[None]]
"""Entered before the approval; the block runs at the moment, and what was held is let go after it."""

HELD_BACK = {"on": "refund", "do": "commit-then-hang", "seconds": 30}
"""Longer than anybody waits for the reply, which comes when the switches are cleared."""


@asynccontextmanager
async def claimed_and_not_sent(onceward: Onceward, refund: Refund) -> AsyncIterator[None]:
    """The claim is taken; the handler's entry cannot be written."""
    async with locked(onceward.owner, "LOCK TABLE handler_calls IN EXCLUSIVE MODE"):
        await refund.approve()
        await refund.until_sends(0)
        yield


@asynccontextmanager
async def sent_and_never_taken(onceward: Onceward, refund: Refund) -> AsyncIterator[None]:
    """The request has left; when the provider wakes up to take it, whoever sent it is gone, and it drops it."""
    async with locked(onceward.owner, "LOCK TABLE handler_calls IN EXCLUSIVE MODE"):
        await refund.approve()
        await refund.until_sends(0)
        # Only now: the gate looks at the provider too.
        onceward.stack.pause("provider")
    try:
        port = urlsplit(onceward.stack.url("provider")).port
        await until(lambda: _bytes_that_wait(port or 0), lambda waiting: waiting > 0)
        yield
    finally:
        onceward.stack.resume("provider")


@asynccontextmanager
async def made_and_not_answered(onceward: Onceward, refund: Refund) -> AsyncIterator[None]:
    """The provider has committed and holds its reply."""
    async with onceward.provider.switched(HELD_BACK):
        await refund.approve()
        await refund.until_effects(1)
        yield


@asynccontextmanager
async def answered_and_not_recorded(onceward: Onceward, refund: Refund) -> AsyncIterator[None]:
    """The reply is there; its outcome cannot be written."""
    held = f"SELECT 1 FROM operations WHERE operation_id = '{refund.operation_id}' FOR UPDATE"
    async with onceward.provider.switched(HELD_BACK):
        await refund.approve()
        await refund.until_effects(1)
        async with locked(onceward.owner, held):
            await onceward.provider.clear()
            await until_waiting_for_a_lock(onceward)
            yield


@asynccontextmanager
async def recorded_and_not_settled(onceward: Onceward, refund: Refund) -> AsyncIterator[None]:
    """The outcome is on record; the terminal result cannot be written."""
    async with onceward.provider.switched(HELD_BACK):
        await refund.approve()
        await refund.until_effects(1)
        async with locked(onceward.owner, "LOCK TABLE outbox IN EXCLUSIVE MODE"):
            await onceward.provider.clear()
            await until_waiting_for_a_lock(onceward)
            yield


async def until_waiting_for_a_lock(onceward: Onceward) -> None:
    """Wait until a step of the worker waits for a row that somebody holds."""
    waiting = text(
        "SELECT count(*) AS number FROM pg_locks JOIN pg_stat_activity USING (pid) "
        "WHERE usename = 'onceward_worker' AND NOT granted"
    )
    await until(lambda: onceward.rows(waiting), lambda rows: rows[0].number > 0)


async def _bytes_that_wait(port: int) -> int:
    """What has been sent to a local port and not been read there, as Linux counts it."""
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]  # noqa: ASYNC240 - memory, not a disk
    return sum(int(line[4].split(":")[1], 16) for line in lines if int(line[1].split(":")[1], 16) == port)


MOMENTS: dict[str, Moment] = {
    "claimed and not sent": claimed_and_not_sent,
    "sent and never taken": sent_and_never_taken,
    "made and not answered": made_and_not_answered,
    "answered and not recorded": answered_and_not_recorded,
    "recorded and not settled": recorded_and_not_settled,
}
