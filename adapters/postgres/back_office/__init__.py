"""What the back office reads, and the people's words that it writes."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from types import MappingProxyType

from sqlalchemy.ext.asyncio import AsyncConnection

from adapters.http.back_office.lists import (
    EVERY_OPERATION,
    EVERY_QUESTION,
    ApprovalList,
    OperationList,
    OperationQuery,
    PendingQuery,
    StuckWork,
)
from adapters.http.back_office.ports import ApprovalSheet, DecisionOutcome, OperationSheet
from adapters.postgres import audit_notes
from adapters.postgres.back_office import approvals, held, operation_lists, operation_sheets, stuck
from adapters.postgres.decisions import Nudge, PostgresDecisions
from adapters.postgres.engine import Database
from adapters.postgres.resolutions import PostgresResolutions
from workflows.domain.approval import Choice
from workflows.domain.errors import RequeueRefused
from workflows.domain.principal import Principal
from workflows.domain.resolution import Resolution

__all__ = ["PostgresBackOffice"]


class PostgresBackOffice:
    """Fits `adapters.http.back_office.ports.BackOfficeStore`."""

    def __init__(self, database: Database, nudge: Nudge, titles: Mapping[str, str] = MappingProxyType({})) -> None:
        """`titles` of tools, by name: what an operation is called while the server has not computed its impact."""
        self._database, self._titles = database, titles
        self._decisions, self._resolutions = PostgresDecisions(database), PostgresResolutions(database)
        self._nudge = nudge

    async def pending(self, viewer: Principal, query: PendingQuery = EVERY_QUESTION) -> ApprovalList:
        """Approvals of the viewer's tenant that wait, the nearest deadline first."""
        async with self._database.transaction() as connection:
            return await approvals.pending(connection, viewer, query)

    async def approval(self, viewer: Principal, approval_id: str) -> ApprovalSheet | None:
        """One question in full."""
        async with self._database.transaction() as connection:
            return await approvals.sheet(connection, viewer, approval_id)

    async def decide(
        self, viewer: Principal, approval_id: str, choice: Choice, reason: str, revision: int, intent_hash: str
    ) -> DecisionOutcome:
        """Count one person's word and wake the operation; a wake-up that is lost comes again from the outbox."""
        outcome, wake = await self._decisions.decide(viewer, approval_id, choice, reason, revision, intent_hash)
        await self._nudge(wake)
        return outcome

    async def resolve(self, viewer: Principal, operation_id: str, word: Resolution) -> None:
        """Keep an operator's word and wake the operation; a wake-up that is lost comes again from the outbox."""
        await self._nudge(await self._resolutions.resolve(viewer, operation_id, word))

    async def operations(self, viewer: Principal, query: OperationQuery = EVERY_OPERATION) -> OperationList:
        """Operations of the viewer's tenant, the newest first."""
        async with self._database.transaction() as connection:
            return await operation_lists.found(connection, viewer, query, self._titles)

    async def operation(self, viewer: Principal, operation_id: str) -> OperationSheet | None:
        """One operation in full."""
        async with self._database.transaction() as connection:
            return await operation_sheets.sheet(connection, viewer, operation_id, self._titles)

    async def stuck(self, viewer: Principal) -> StuckWork:
        """What does not go on, and for operators what was set aside undelivered."""
        async with self._database.transaction() as connection:
            return await stuck.work(connection, viewer, self._titles)

    async def stuck_number(self, viewer: Principal) -> int:
        """How much does not go on."""
        async with self._database.transaction() as connection:
            return await stuck.number(connection, viewer)

    async def requeue(self, viewer: Principal, message_id: int) -> None:
        """Have a message that was set aside delivered after all."""
        async with self._telling(viewer, "requeue.refused", message_id) as connection:
            await held.requeue(connection, viewer, message_id)

    async def retell(self, viewer: Principal, message_id: int, receiver: str) -> None:
        """Have a notice that was set aside delivered after all."""
        async with self._telling(viewer, "retell.refused", message_id) as connection:
            await held.retell(connection, viewer, message_id, receiver)

    @asynccontextmanager
    async def _telling(self, viewer: Principal, what: str, message_id: int) -> AsyncIterator[AsyncConnection]:
        """One transaction; a refusal in it is told in another, for the one that was refused has left nothing."""
        try:
            async with self._database.transaction() as connection:
                yield connection
        except RequeueRefused as refusal:
            async with self._database.transaction() as connection:
                await audit_notes.put_back_refused(connection, viewer, what, message_id, refusal.code)
            raise
