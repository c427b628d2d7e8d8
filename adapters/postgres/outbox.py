"""What must go out, handed to the relay: at least once, in order for each operation, poison set aside."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from adapters.postgres.engine import Database
from adapters.postgres.notices import Addressed, address, nobody
from adapters.postgres.rows import NOW
from adapters.postgres.tables import outbox

SLOWEST_RETRY_SECONDS = 60.0


class Undeliverable(Exception):
    """No try will ever deliver this message; it is set aside for a person to look at."""


Deliver = Callable[["Message"], Awaitable[None]]


@dataclass(frozen=True)
class Message:
    """One message of the outbox. `kind` is start, read, turn, nudge or event."""

    message_id: int
    operation_id: str
    kind: str
    payload: dict[str, Any]
    attempts: int


class PostgresOutbox:
    """The relay's side of the outbox; any number of relays may drain it at once."""

    def __init__(self, database: Database, addressed: Addressed = nobody) -> None:
        """`addressed` says who is told of an event: a notice for each is written as it is struck off."""
        self._database, self._addressed = database, addressed

    async def drain(self, deliver: Deliver) -> bool:
        """Deliver one due message; False when there is none.

        The row stays locked while it is delivered, so that no second relay takes it; a relay that dies gives it back.
        """
        async with self._database.transaction() as connection:
            row = (await connection.execute(_next_due())).one_or_none()
            if row is None:
                return False
            message = Message(row.message_id, row.operation_id, row.kind, row.payload, row.attempts)
            try:
                await deliver(message)
            except Undeliverable:
                await _set_aside(connection, message)
            except Exception as error:
                await _failed(connection, message, type(error).__name__)
            else:
                await self._address(connection, message)
                await _sent(connection, message.message_id)
            return True

    async def _address(self, connection: AsyncConnection, message: Message) -> None:
        # An older release wrote events that tell nothing; nobody is told of those.
        if message.kind == "event" and "data" in message.payload:
            await address(connection, message.message_id, self._addressed(message.payload["what"]))


def _next_due() -> Any:
    earlier = outbox.alias("earlier")
    waits_for_an_earlier_one = (
        select(earlier.c.message_id)
        .where(
            earlier.c.operation_id == outbox.c.operation_id,
            earlier.c.message_id < outbox.c.message_id,
            earlier.c.sent_at.is_(None),
            earlier.c.set_aside_at.is_(None),
        )
        .exists()
    )
    return (
        select(outbox)
        .where(
            outbox.c.sent_at.is_(None),
            outbox.c.set_aside_at.is_(None),
            outbox.c.due_at <= func.now(),
            ~waits_for_an_earlier_one,
        )
        .order_by(outbox.c.due_at)
        .limit(1)
        .with_for_update(skip_locked=True)
    )


async def _sent(connection: AsyncConnection, message_id: int) -> None:
    await connection.execute(update(outbox).where(outbox.c.message_id == message_id).values(sent_at=NOW))


async def _failed(connection: AsyncConnection, message: Message, failure: str) -> None:
    attempts = message.attempts + 1
    pause = min(SLOWEST_RETRY_SECONDS, 0.5 * 2 ** min(attempts, 10))
    values: dict[str, Any] = {
        "attempts": attempts,
        "failure": failure,
        "due_at": NOW + timedelta(seconds=pause),
    }
    await connection.execute(update(outbox).where(outbox.c.message_id == message.message_id).values(**values))


async def _set_aside(connection: AsyncConnection, message: Message) -> None:
    values = {"attempts": message.attempts + 1, "failure": "undeliverable", "set_aside_at": NOW}
    await connection.execute(update(outbox).where(outbox.c.message_id == message.message_id).values(**values))
