"""What must go out, handed to the relay: at least once, in order for each operation, poison set aside.

Each operation has two lines of messages. What wakes its workflow goes to Temporal, what tells of it to whoever wants to
be told; each line keeps its order, and neither waits for the other: nobody is told late because Temporal is away.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from sqlalchemy import case, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from adapters.postgres.engine import Database
from adapters.postgres.notices import Addressed, address, nobody
from adapters.postgres.rows import NOW
from adapters.postgres.tables import operations, outbox

SLOWEST_RETRY_SECONDS = 60.0

AT_ONCE: Final = 16
"""Messages that one drain delivers side by side, each of another operation."""

EVENTS_AT_ONCE: Final = 500
"""Events that are struck off by one statement: most are for nobody."""

EVENT: Final = "event"

OF_ITSELF: Final = frozenset({"start", "read", "nudge"})
"""What wakes one operation and no other: once that has ended there is nobody to be woken, and Temporal is not asked.

Most have by the time that their message is due, for the door has started or woken them itself.
"""

UNDELIVERABLE: Final = "undeliverable"


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
    """The relay's side of the outbox; any number of drains of any number of relays may be at it at once."""

    def __init__(self, database: Database, addressed: Addressed = nobody) -> None:
        """`addressed` says who is told of an event: a notice for each is written as it is struck off."""
        self._database, self._addressed = database, addressed

    async def drain(self, deliver: Deliver) -> int:
        """Deliver what is due and wakes somebody, up to `AT_ONCE` messages; returns how many were tried.

        The rows stay locked while they are delivered, and nobody else takes them; a relay that dies gives them back.
        """
        async with self._database.transaction() as connection:
            due = (await connection.execute(_next_due())).all()
            fates = await asyncio.gather(*(_fate(deliver, _message(row), over=row.over) for row in due))
            await _sent(connection, fates)
            for fate in filter(lambda fate: fate.failure, fates):
                await _not_sent(connection, fate)
            return len(due)

    async def tell(self) -> Sequence[Message]:
        """Strike off the events that are due, up to `EVENTS_AT_ONCE`, with a notice for each of their receivers."""
        async with self._database.transaction() as connection:
            events = sorted(map(_message, await connection.execute(_struck_off())), key=lambda each: each.message_id)
            await address(connection, [(each.message_id, name) for each in events for name in self._receivers(each)])
            return events

    def _receivers(self, event: Message) -> Sequence[str]:
        # An older release wrote events that tell nothing; nobody is told of those.
        return self._addressed(event.payload["what"]) if {"what", "data"} <= event.payload.keys() else ()


@dataclass(frozen=True)
class _Fate:
    """What became of a message: `failure` is empty when it was delivered, `final` when no try will ever help."""

    message: Message
    failure: str = ""
    final: bool = False


async def _fate(deliver: Deliver, message: Message, *, over: bool) -> _Fate:
    if over and message.kind in OF_ITSELF:
        return _Fate(message)
    try:
        await deliver(message)
    except Undeliverable:
        return _Fate(message, UNDELIVERABLE, final=True)
    except Exception as error:
        return _Fate(message, type(error).__name__)
    return _Fate(message)


def _message(row: Any) -> Message:
    return Message(row.message_id, row.operation_id, row.kind, row.payload, row.attempts)


def _due() -> Any:
    return (outbox.c.sent_at.is_(None), outbox.c.set_aside_at.is_(None), outbox.c.due_at <= func.now())


def _next_due() -> Any:
    earlier = outbox.alias("earlier")
    waits_for_an_earlier_one = (
        select(earlier.c.message_id)
        .where(
            earlier.c.operation_id == outbox.c.operation_id,
            earlier.c.kind != EVENT,
            earlier.c.message_id < outbox.c.message_id,
            earlier.c.sent_at.is_(None),
            earlier.c.set_aside_at.is_(None),
        )
        .exists()
    )
    over = select(operations.c.ended_at).where(operations.c.operation_id == outbox.c.operation_id).scalar_subquery()
    return (
        select(outbox, over.is_not(None).label("over"))
        .where(outbox.c.kind != EVENT, *_due(), ~waits_for_an_earlier_one)
        .order_by(outbox.c.due_at)
        .limit(AT_ONCE)
        .with_for_update(skip_locked=True)
    )


def _struck_off() -> Any:
    due = (
        select(outbox.c.message_id)
        .where(outbox.c.kind == EVENT, *_due())
        .order_by(outbox.c.due_at)
        .limit(EVENTS_AT_ONCE)
        .with_for_update(skip_locked=True)
    )
    tells = outbox.c.payload.has_key("what")
    return (
        update(outbox)
        .where(outbox.c.message_id.in_(due))
        .values(
            sent_at=case((tells, NOW)),
            set_aside_at=case((~tells, NOW)),
            failure=case((~tells, UNDELIVERABLE), else_=outbox.c.failure),
            attempts=outbox.c.attempts + case((tells, 0), else_=1),
        )
        .returning(outbox)
    )


async def _sent(connection: AsyncConnection, fates: Sequence[_Fate]) -> None:
    delivered = [fate.message.message_id for fate in fates if not fate.failure]
    if delivered:
        await connection.execute(update(outbox).where(outbox.c.message_id.in_(delivered)).values(sent_at=NOW))


async def _not_sent(connection: AsyncConnection, fate: _Fate) -> None:
    attempts = fate.message.attempts + 1
    values: dict[str, Any] = {"attempts": attempts, "failure": fate.failure}
    if fate.final:
        values["set_aside_at"] = NOW
    else:
        values["due_at"] = NOW + timedelta(seconds=min(SLOWEST_RETRY_SECONDS, 0.5 * 2 ** min(attempts, 10)))
    await connection.execute(update(outbox).where(outbox.c.message_id == fate.message.message_id).values(**values))
