"""Rows written as the executor would write them, or as it never should."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from adapters.postgres import rows, tables
from adapters.postgres.audit_words import of_decision
from adapters.postgres.engine import Database

BEGIN = datetime(2026, 1, 5, 12, tzinfo=UTC)
OPERATION = "op_1"
# In the order in which a door locks them.
GUARDED = ("decisions", "resolutions", "events", "audit_heads")
ENDS = ("succeeded", "failed_terminal", "failed_retryable")


def moment(second: int) -> datetime:
    return BEGIN + timedelta(seconds=second)


@asynccontextmanager
async def without_guards(connection: AsyncConnection, *guarded: str) -> AsyncIterator[None]:
    """As the owner who has taken the guards away; they stand again before anybody else can look."""
    for table in guarded or GUARDED:
        await connection.execute(text(f"ALTER TABLE {table} DISABLE TRIGGER USER"))
    yield
    for table in guarded or GUARDED:
        await connection.execute(text(f"ALTER TABLE {table} ENABLE TRIGGER USER"))


async def unguarded(connection: AsyncConnection, statement: str) -> None:
    """Do as the owner what the guards of the audit log and of people's words refuse."""
    async with without_guards(connection):
        await connection.execute(text(statement))


class Books:
    """Of one database that nobody else writes in."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin_anew(self) -> None:
        async with self._database.transaction() as connection:
            await unguarded(connection, "TRUNCATE operations, hosted_calls, audit_heads CASCADE")

    async def refund(self, operation_id: str = OPERATION) -> None:
        """A refund in good order, from the question to the result."""
        await self.operation(operation_id)
        await self.event("proposed", 0, operation_id)
        await self.verdict("risk", 1, "approval_required", operation_id)
        await self.verdict("risk", 2, "approval_required", operation_id)
        await self.verdict("approval", 2, None, operation_id)
        await self.consumed_approval("meant", operation_id)
        await self.decision("approve", operation_id)
        await self.claim(operation_id, reference=f"rf-{operation_id}")
        await self.handler_call(3, operation_id, ended=True)
        await self.event("effect.applied", 4, operation_id)
        await self.event("succeeded", 5, operation_id)

    async def ended_well_told(self, operation_id: str) -> None:
        """The lines and the verdict that any operation has which has failed."""
        await self.event("proposed", 0, operation_id)
        await self.verdict("schema", 0, None, operation_id)
        await self.event("failed_terminal", 5, operation_id)

    async def operation(
        self, operation_id: str = OPERATION, state: str = "succeeded", *, writes: bool = True, **more: Any
    ) -> None:
        words = ("subject", "tool_version", "contract_hash", "act_hash", "arguments", "resource")
        values = dict.fromkeys(words, "x") | {"tool": "refund_payment", "intent_hash": "meant"}
        ended = {"ended_at": moment(5)} if state in ENDS else {}
        given = {"tenant": "t", "roles": [], "scopes": [], "writes": writes, "state": state, **ended, **values}
        await self._add("operations", operation_id, **(given | more))

    async def event(self, what: str, second: int, operation_id: str = OPERATION) -> None:
        line = {"tenant": "t", "actor": "executor", "what": what, "at": moment(second)}
        async with self._database.transaction() as connection, without_guards(connection, "events"):
            await connection.execute(tables.events.insert().values(operation_id=operation_id, **line))

    async def verdict(self, layer: str, second: int, code: str | None = None, operation_id: str = OPERATION) -> None:
        await self._add("verdicts", operation_id, tenant="t", layer=layer, code=code, at=moment(second))

    async def handler_call(
        self, second: int, operation_id: str = OPERATION, *, ended: bool = False, generation: int = 1
    ) -> None:
        closed = {"ended_at": moment(second), "outcome": "applied"} if ended else {}
        given = {"tool": "refund_payment", "generation": generation, "began_at": moment(second)}
        await self._add("handler_calls", operation_id, **given, **closed)

    async def claim(
        self, operation_id: str = OPERATION, *, intent: str = "meant", reference: str = "rf-1", **more: Any
    ) -> None:
        key = {"idempotency_key": operation_id, "owner": "o", "generation": 1, "lease_until": BEGIN, "sends": 1}
        given = {"intent_hash": intent, "outcome": "applied", "reference": reference, **key}
        await self._add("claims", operation_id, **(given | more))

    async def consumed_approval(self, intent: str, operation_id: str = OPERATION) -> None:
        await self.approval("consumed", operation_id, intent_hash=intent, consumed_generation=1)

    async def approval(self, state: str, operation_id: str = OPERATION, revision: int = 1, **more: Any) -> None:
        words = dict.fromkeys(("resource_version", "policy_version", "approver_role", "why"), "x") | {"tenant": "t"}
        bound = {"approval_id": f"ap_{operation_id}_{revision}", "revision": revision, "quorum": 1, "impact": {}}
        given = {"state": state, "intent_hash": "meant", "expires_at": BEGIN, **words, **bound}
        await self._add("approvals", operation_id, **(given | more))

    async def decision(self, choice: str, operation_id: str = OPERATION, revision: int = 1) -> None:
        person = {"approver": "approver-1", "approver_name": "Approver", "reason": "Seen."}
        values = {"approval_id": f"ap_{operation_id}_{revision}", "choice": choice, **person}
        async with self._database.transaction() as connection:
            kept = await connection.execute(tables.decisions.insert().values(**values).returning(tables.decisions))
            digests = {"approval": values["approval_id"], "said": of_decision(kept.one())}
            await rows.tell(connection, "t", operation_id, "approver-1", f"decision.{choice}", **digests)

    async def cancellation(self, operation_id: str = OPERATION) -> None:
        await self._add("cancellations", operation_id, actor="user-17")

    async def resolution(self, finding: str, operation_id: str = OPERATION, *, reference: str = "") -> None:
        words = {"operator": "operator-1", "operator_name": "Operator", "evidence": "Asked.", "reference": reference}
        await self._add("resolutions", operation_id, generation=1, finding=finding, **words)

    async def message(self, kind: str, operation_id: str = OPERATION, **more: Any) -> None:
        await self._add("outbox", operation_id, kind=kind, payload={}, **more)

    async def notice(self, what: str, receiver: str, operation_id: str = OPERATION, **more: Any) -> None:
        """An event that was struck off, and the notice of it for one receiver."""
        message = {"kind": "event", "payload": {"what": what, "data": {}}, "sent_at": BEGIN}
        posted = tables.outbox.insert().values(operation_id=operation_id, **message)
        async with self._database.transaction() as connection:
            message_id = (await connection.execute(posted.returning(tables.outbox.c.message_id))).scalar_one()
            notice = tables.notices.insert().values(message_id=message_id, receiver=receiver, **more)
            await connection.execute(notice)

    async def hosted_call(self, item_id: str, code: str | None) -> None:
        """One that a provider says it has run; `code` says what was wrong with it."""
        words = {"tenant": "t", "request_id": "r", "surface": "openai-responses", "kind": "mcp_call", "server": "wiki"}
        given = {"delivery_key": item_id, "item_id": item_id, "tool": "wiki.replace_page", "code": code, **words}
        async with self._database.transaction() as connection:
            await connection.execute(tables.hosted_calls.insert().values(**given))

    async def change(self, statement: str) -> None:
        """As the owner of the tables, whom nothing forbids anything."""
        async with self._database.transaction() as connection:
            await unguarded(connection, statement)

    async def _add(self, table: str, operation_id: str, **values: Any) -> None:
        async with self._database.transaction() as connection:
            insert = tables.metadata.tables[table].insert()
            await connection.execute(insert.values(operation_id=operation_id, **values))
