"""Open operations, a few at a time and each in its turn, so that one whose workflow is gone is found."""

from datetime import timedelta
from typing import Any

from sqlalchemy import select, update

from adapters.postgres.decisions import Wake
from adapters.postgres.engine import Database
from adapters.postgres.rows import NOW, STATEMENT_TIME
from adapters.postgres.standing import EARLIER, OPEN_BEFORE
from adapters.postgres.tables import operations

GRACE = timedelta(seconds=30)
"""How long an operation is left alone after it was registered or last swept."""


class PostgresSweep:
    """The relay's look for operations that nobody carries any more."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def next(self, number: int) -> list[Wake]:
        """The open writes that have waited longest for a look; two relays at once get different ones."""
        due = (
            select(operations.c.operation_id)
            .where(operations.c.writes, operations.c.ended_at.is_(None), operations.c.swept_at < STATEMENT_TIME - GRACE)
            # Its time has not come: those before it are looked at instead.
            .where(~OPEN_BEFORE.where(EARLIER.c.writes).exists())
            .order_by(operations.c.swept_at)
            .limit(number)
            .with_for_update(skip_locked=True)
        )
        wanted = (operations.c.operation_id, operations.c.intent_hash, operations.c.tool, operations.c.tenant)
        statement = (
            update(operations)
            .where(operations.c.operation_id.in_(due.scalar_subquery()))
            .values(swept_at=NOW)
            .returning(*wanted)
        )
        async with self._database.transaction() as connection:
            return [_wake(row) for row in await connection.execute(statement)]


def _wake(row: Any) -> Wake:
    return Wake(row.operation_id, row.intent_hash, row.tool, row.tenant)
