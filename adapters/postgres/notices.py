"""Notices: what each receiver is to be told of an event, until it has taken it or is given up."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import BigInteger, func, select, tuple_, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from adapters.postgres.engine import Database
from adapters.postgres.rows import NOW
from adapters.postgres.tables import notices, outbox

PAUSES_SECONDS: Final = (5, 30, 120, 600, 1800, 3600, 7200, 14400, 28800, 28800)
"""After each failed delivery, about a day together: a receiver may be down for a night and misses nothing."""

JITTER = 0.2
"""A pause may be that much longer, by chance: what failed together must not all come again together."""

GIVEN_UP_AFTER = timedelta(days=3)
"""How long a notice may be due without being taken by a relay: none knows its receiver any more."""

Addressed = Callable[[str], Sequence[str]]
"""The names of the receivers that want to be told of an event of that name."""


def nobody(_: str) -> Sequence[str]:
    """No receiver wants to be told of anything."""
    return ()


@dataclass(frozen=True)
class Notice:
    """One event for one receiver, taken for delivery number `attempts`. `data` is what is told of it, JSON values."""

    message_id: int
    receiver: str
    operation_id: str
    what: str
    data: dict[str, Any]
    at: datetime
    attempts: int

    @property
    def event_id(self) -> str:
        """By which a receiver knows an event again, whoever delivers it and however often."""
        return f"evt_{self.operation_id.removeprefix('op_')}_{self.message_id}"


async def address(connection: AsyncConnection, told: Sequence[tuple[int, str]]) -> None:
    """Write a notice for each pair of an event and a receiver, in the transaction that strikes the events off."""
    if told:
        rows = [{"message_id": message_id, "receiver": receiver} for message_id, receiver in told]
        await connection.execute(insert(notices).on_conflict_do_nothing(), rows)


class PostgresNotices:
    """The relay's side of the notices; any number of relays may deliver at once.

    Nothing is held while a receiver takes its time: a notice is taken for a while, and comes up again when whoever took
    it does not say in time what became of it. Only who took it last may say so.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def take(self, receiver: str, number: int, seconds: float) -> list[Notice]:
        """Up to `number` notices that are due, the longest due first, for nobody else to take within `seconds`."""
        due = (
            select(notices.c.message_id, notices.c.receiver)
            .where(notices.c.receiver == receiver, *_OPEN, notices.c.due_at <= NOW)
            # What ends every relay that delivers it is left to be given up.
            .where(notices.c.attempts <= len(PAUSES_SECONDS))
            .order_by(notices.c.due_at)
            .limit(number)
            .with_for_update(skip_locked=True)
        )
        statement = (
            update(notices)
            .where(
                tuple_(notices.c.message_id, notices.c.receiver).in_(due), notices.c.message_id == outbox.c.message_id
            )
            .values(attempts=notices.c.attempts + 1, due_at=NOW + timedelta(seconds=seconds))
            .returning(notices.c.attempts, notices.c.receiver, *_EVENT)
        )
        async with self._database.transaction() as connection:
            return sorted(map(_notice, await connection.execute(statement)), key=lambda notice: notice.message_id)

    async def delivered(self, notice: Notice) -> None:
        """The receiver has taken it."""
        await self._conclude(notice, sent_at=NOW)

    async def failed(self, notice: Notice, failure: str, not_before_seconds: float = 0.0) -> None:
        """It comes again after a pause, at least that long; after the last one it is set aside."""
        if notice.attempts > len(PAUSES_SECONDS):
            await self.refused(notice, failure)
            return
        pause = PAUSES_SECONDS[notice.attempts - 1] * (1 + JITTER * func.random())
        due_at = NOW + func.greatest(pause, not_before_seconds) * timedelta(seconds=1)
        await self._conclude(notice, failure=failure, due_at=due_at)

    async def refused(self, notice: Notice, failure: str) -> None:
        """It is never tried again."""
        await self._conclude(notice, failure=failure, set_aside_at=NOW)

    async def give_up(self, known: Collection[str] = ()) -> int:
        """Set aside what no relay has taken for too long; returns how many.

        What is for a `known` receiver is still to be tried, however long no relay has run, unless it ends every relay.
        """
        nobody_takes_it = notices.c.receiver.not_in(known) | (notices.c.attempts > len(PAUSES_SECONDS))
        statement = (
            update(notices)
            .where(*_OPEN, notices.c.due_at < NOW - GIVEN_UP_AFTER, nobody_takes_it)
            .values(set_aside_at=NOW, failure=func.coalesce(notices.c.failure, "never tried"))
            .returning(notices.c.message_id)
        )
        async with self._database.transaction() as connection:
            return len(list(await connection.execute(statement)))

    async def retell(self, receiver: str) -> int:
        """Put back what was set aside for a receiver, as if it were new, and tell the audit log; returns how many."""
        statement = select(func.retell_notices(receiver, type_=BigInteger))
        async with self._database.transaction() as connection:
            number: int = (await connection.execute(statement)).scalar_one()
            return number

    async def _conclude(self, notice: Notice, **values: Any) -> None:
        mine = (
            notices.c.message_id == notice.message_id,
            notices.c.receiver == notice.receiver,
            notices.c.attempts == notice.attempts,
        )
        async with self._database.transaction() as connection:
            await connection.execute(update(notices).where(*mine, *_OPEN).values(**values))


_OPEN = (notices.c.sent_at.is_(None), notices.c.set_aside_at.is_(None))

_EVENT = (outbox.c.message_id, outbox.c.operation_id, outbox.c.payload, outbox.c.created_at)


def _notice(row: Any) -> Notice:
    return Notice(
        message_id=row.message_id,
        receiver=row.receiver,
        operation_id=row.operation_id,
        what=row.payload["what"],
        data=row.payload["data"],
        at=row.created_at,
        attempts=row.attempts,
    )
