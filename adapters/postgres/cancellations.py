"""Callers' wishes that an operation stop. Keeping a wish decides nothing: the claim says whether it came in time."""

from typing import Any

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from adapters.postgres import audit_notes, rows
from adapters.postgres.audit_notes import actor_of
from adapters.postgres.decisions import Nudge, Wake
from adapters.postgres.engine import Database
from adapters.postgres.tables import cancellations, operations
from workflows.domain.principal import Principal


class PostgresCancellations:
    """Fits `adapters.intake.ports.Cancellations`."""

    def __init__(self, database: Database, nudge: Nudge) -> None:
        self._database, self._nudge = database, nudge

    async def want(self, principal: Principal, operation_id: str) -> bool:
        """Keep the wish once and wake the operation; see the port."""
        async with self._database.transaction() as connection:
            row = (await connection.execute(_owned(principal, operation_id))).one_or_none()
            if row is None:
                await audit_notes.cancel_refused(connection, principal, operation_id)
                return False
            wake = Wake(operation_id, row.intent_hash, row.tool, row.tenant)
            if row.ended_at is None:
                await _keep(connection, wake, actor_of(principal))
            else:
                await rows.tell(connection, wake.tenant, operation_id, actor_of(principal), "cancel.late")
        if row.writes and row.ended_at is None:
            await self._nudge(wake)
        return True


async def _keep(connection: AsyncConnection, wake: Wake, actor: str) -> None:
    """Write the wish with its wake-up, unless there is one already."""
    wish = insert(cancellations).values(operation_id=wake.operation_id, actor=actor).on_conflict_do_nothing()
    if (await connection.execute(wish.returning(cancellations.c.operation_id))).one_or_none() is not None:
        await rows.tell(connection, wake.tenant, wake.operation_id, actor, "cancel.wanted")
        await rows.post(connection, wake.operation_id, "nudge", **wake.named())
    else:
        await rows.tell(connection, wake.tenant, wake.operation_id, actor, "cancel.again")


def _owned(principal: Principal, operation_id: str) -> Any:
    return select(operations).where(
        operations.c.operation_id == operation_id,
        operations.c.tenant == principal.tenant,
        operations.c.subject == principal.subject,
    )
