"""Every call of a handler, counted before it is made."""

from sqlalchemy import bindparam, func, update

from adapters.postgres import rows
from adapters.postgres.engine import Database
from adapters.postgres.standing import locked, step
from adapters.postgres.tables import handler_calls
from workflows.domain.errors import AlreadyEnded
from workflows.domain.lifecycle import ENDS, State
from workflows.domain.operation import Operation

_BEGUN = handler_calls.insert().returning(handler_calls.c.entry)
_KNOWN = update(handler_calls).where(handler_calls.c.entry == bindparam("named"))
_CLOSED = _KNOWN.values(ended_at=func.clock_timestamp())


class PostgresJournal:
    """Fits `activities.ports.Journal`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def began(self, operation: Operation, generation: int) -> int:
        """Write the entry; a read, which needs no claim, steps to started here. Raises `AlreadyEnded`."""
        async with self._database.transaction() as connection:
            row = await locked(connection, operation.operation_id)
            if State(row.state) in ENDS:
                raise AlreadyEnded
            if State(row.state) is State.PROPOSED:
                await step(connection, row.tenant, operation.operation_id, State.PROPOSED, State.STARTED)
            values = {"operation_id": operation.operation_id, "tool": operation.tool, "generation": generation}
            entry: int = (await rows.last(connection, _BEGUN, values)).scalar_one()
            return entry

    async def sent(self, entry: int, request_id: str, task_id: str) -> None:
        """Note what the request is known by on the other side."""
        await self._database.changed(_KNOWN, {"named": entry, "request_id": request_id, "task_id": task_id or None})

    async def ended(self, entry: int, outcome: str) -> None:
        """Close the entry."""
        await self._database.changed(_CLOSED, {"named": entry, "outcome": outcome})
