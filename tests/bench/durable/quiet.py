"""Between two contestants: what one has left to be done is done, and counted as its own, before the next one begins."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sqlalchemy import func, select, text

from adapters.postgres.engine import Database
from adapters.postgres.tables import outbox
from tests.support.waiting import until

PATIENCE_SECONDS = 180.0
PAUSE_SECONDS = 0.1
STRIKE_SECONDS = 0.5
"""Less than the relay leaves a start to its caller."""

STRIKE_OFF = text("UPDATE outbox SET sent_at = now() WHERE kind = 'start' AND sent_at IS NULL")
DUE_NOW = text("UPDATE outbox SET due_at = now() WHERE sent_at IS NULL AND due_at > now()")


@asynccontextmanager
async def without_starts(owner: Database) -> AsyncIterator[None]:
    """Whoever carries out what is registered meanwhile is another one: the relay shall start nothing of it."""
    striking = asyncio.create_task(_strike_for_ever(owner))
    try:
        yield
    finally:
        striking.cancel()
        await asyncio.gather(striking, return_exceptions=True)
        await _do(owner, STRIKE_OFF)


async def settled(owner: Database) -> None:
    """Return when the relay has carried out everything, without the grace that it leaves to callers."""
    await _do(owner, DUE_NOW)
    await until(lambda: _open(owner), lambda left: left == 0, PATIENCE_SECONDS)


async def _strike_for_ever(owner: Database) -> None:
    while True:
        await _do(owner, STRIKE_OFF)
        await asyncio.sleep(STRIKE_SECONDS)


async def _do(owner: Database, statement: object) -> None:
    async with owner.transaction() as connection:
        await connection.execute(statement)  # type: ignore[call-overload]


async def _open(owner: Database) -> int:
    # Whoever asks all the time is work for the server, which would be told as the contestant's.
    await asyncio.sleep(PAUSE_SECONDS)
    waiting = (
        select(func.count()).select_from(outbox).where(outbox.c.sent_at.is_(None), outbox.c.set_aside_at.is_(None))
    )
    async with owner.transaction() as connection:
        return int((await connection.execute(waiting)).scalar_one())
