"""What befalls single operations once people are about to say yes: look-ups that fail for good, accounts that close."""

import asyncio
import time
from collections import Counter

from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection

from adapters.postgres.engine import Database
from tests.chaos.acts import Act
from tests.chaos.provider import Provider
from workflows.domain.errors import StoreUnavailable

HELD_SECONDS, HELD_TIMES = 3.0, 20
"""How long an account is held at once, which is shorter than the ledger waits for it, and how often until it closes."""

LOOK_SECONDS = 0.02

CLOSES = "an account closes behind its batch"
HIDDEN = "a refund cannot be looked up"

HOLD = text("SELECT 1 FROM ledger_accounts WHERE account_id = :account FOR UPDATE")
GIVEN = text("SELECT count(*) FROM ledger_entries WHERE operation_id = :operation_id")
CLOSE = text("UPDATE ledger_accounts SET closed = true, version = version + 1 WHERE account_id = :account")


class Setbacks:
    """Each befalls its operation once; `done` counts them. `owner` is of the ledger's tables, with its own connections.

    The account of a batch that is to close is held from before the approval on, so nothing can be sent to it before.
    """

    def __init__(self, provider: Provider, owner: Database) -> None:
        self.done: Counter[str] = Counter()
        self._provider, self._owner = provider, owner
        self._befallen: set[str] = set()
        self._closings: set[asyncio.Task[None]] = set()

    async def close(self) -> None:
        """Return when no account is held any more."""
        await asyncio.gather(*self._closings, return_exceptions=True)

    async def befall(self, operation_id: str, act: Act) -> None:
        """Return when whatever is to hit this act will hit it."""
        if operation_id in self._befallen:
            return
        self._befallen.add(operation_id)
        if act.review:
            await self._provider.hide(operation_id, act.fault)
            self.done[HIDDEN] += 1
        if act.closes:
            held = asyncio.Event()
            self._closings.add(asyncio.create_task(self._hold_and_close(operation_id, act, held)))
            await held.wait()

    async def _hold_and_close(self, operation_id: str, act: Act, held: asyncio.Event) -> None:
        for _ in range(HELD_TIMES):
            try:
                if await self._closed(operation_id, act, held):
                    self.done[CLOSES] += 1
                    return
            except (StoreUnavailable, SQLAlchemyError):
                # The database was killed meanwhile.
                await asyncio.sleep(1.0)
            finally:
                held.set()

    async def _closed(self, operation_id: str, act: Act, held: asyncio.Event) -> bool:
        """Hold it for a while and close it, if the batch has begun by then."""
        async with self._owner.transaction() as connection:
            await connection.execute(HOLD, {"account": act.target})
            held.set()
            if not await _given(connection, operation_id, act.closes):
                return False
            await connection.execute(CLOSE, {"account": act.target})
            return True


async def _given(connection: AsyncConnection, operation_id: str, number: int) -> int:
    """Wait for so many credits of the batch; how many there are by then."""
    deadline = time.monotonic() + HELD_SECONDS
    while True:
        given = (await connection.execute(GIVEN, {"operation_id": operation_id})).scalar_one()
        if given >= number or time.monotonic() > deadline:
            return int(given)
        await asyncio.sleep(LOOK_SECONDS)
