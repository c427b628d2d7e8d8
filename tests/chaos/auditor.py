"""Looks into the databases and into Temporal from outside; waits out their restarts."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from temporalio.client import Client
from temporalio.service import RPCError

from adapters.postgres.engine import Database
from workflows.contracts import NUDGE
from workflows.domain.errors import StoreUnavailable

PATIENCE_SECONDS = 90.0
PAUSE_SECONDS = 0.3

OURS = ("operations", "calls", "claims", "approvals", "decisions", "verdicts", "handler_calls", "resolutions")
REASONS = "SELECT operation_id, detail ->> 'why' AS why FROM events WHERE what = 'manual_review' ORDER BY event_id"

LEDGER = ("ledger_entries", "ledger_accounts")
PROVIDERS = ("orders", "payments", "refunds", "posts")

OPEN = """
SELECT operation_id, tool, state, writes FROM operations
WHERE state NOT IN ('succeeded', 'failed_terminal', 'failed_retryable')
ORDER BY created_at
"""

QUESTIONS = """
SELECT approvals.approval_id, approvals.operation_id, approvals.tenant, operations.tool,
    calls.request_id, calls.call_id
FROM approvals JOIN operations USING (operation_id) JOIN calls USING (operation_id)
WHERE approvals.state = 'pending' AND NOT calls.attached
ORDER BY approvals.asked_at
"""

SENDS = "SELECT count(*) AS number FROM claims WHERE uncertain AND lease_until > now()"

ITEMS = "SELECT count(*) AS number FROM claims WHERE item <> '' AND outcome IS NULL AND lease_until > now()"

OF_TURNS = """
SELECT count(*) AS number FROM claims JOIN operations USING (operation_id)
WHERE operations.after IS NOT NULL AND claims.outcome IS NULL AND lease_until > now()
"""

TURNS_TO_BEGIN = "SELECT count(*) AS number FROM outbox WHERE kind = 'turn' AND sent_at IS NULL"

TURNS = """
SELECT payload ->> 'turn' AS turn, payload -> 'ref' -> 'writes' AS writes FROM outbox
WHERE kind = 'turn' ORDER BY message_id
"""

OF_A_CALL = """
SELECT operation_id, state, ended_at IS NOT NULL AS ended, EXISTS (
    SELECT FROM approvals WHERE approvals.operation_id = operations.operation_id AND approvals.state <> 'pending'
) AS decided
FROM calls JOIN operations USING (operation_id) WHERE request_id = :request_id AND call_id = :call_id
"""

REFUNDS = "SELECT refund_id FROM payments.refunds WHERE client_reference = :operation_id"

AGE = """
UPDATE claims SET first_sent_at = first_sent_at - interval '1 hour', last_sent_at = last_sent_at - interval '1 hour'
WHERE operation_id = :operation_id AND uncertain RETURNING operation_id
"""

ENDED = "SELECT count(*) AS number FROM operations WHERE ended_at IS NOT NULL"

Rows = list[dict[str, Any]]


class Auditor:
    """`books` is the provider's database, opened with the superuser's rights."""

    def __init__(self, owner: Database, books: Database, temporal: Client) -> None:
        self._owner, self._books, self._temporal = owner, books, temporal

    async def open_operations(self) -> Rows:
        """What has not ended."""
        return await _rows(self._owner, OPEN)

    async def questions(self) -> Rows:
        """What people are asked."""
        return await _rows(self._owner, QUESTIONS)

    async def sends_on_their_way(self) -> int:
        """Sends that somebody is making right now."""
        return int((await _rows(self._owner, SENDS))[0]["number"])

    async def items_on_their_way(self) -> int:
        """Items of batches that somebody is about to send or is sending right now."""
        return int((await _rows(self._owner, ITEMS))[0]["number"])

    async def writes_of_turns_on_their_way(self) -> int:
        """Writes of a response with several calls that somebody is about to send or is sending right now."""
        return int((await _rows(self._owner, OF_TURNS))[0]["number"])

    async def turns_to_begin(self) -> int:
        """Responses with several calls that were registered just now."""
        return int((await _rows(self._owner, TURNS_TO_BEGIN))[0]["number"])

    async def turns(self) -> Rows:
        """The workflow of each such response, with the id and the intent of each of its writes."""
        return await _rows(self._owner, TURNS)

    async def operation_of(self, request_id: str, call_id: str) -> dict[str, Any] | None:
        """Where the operation of a call stands; None while there is none."""
        return next(iter(await _rows(self._owner, OF_A_CALL, request_id=request_id, call_id=call_id)), None)

    async def receipts_of(self, operation_id: str) -> list[str]:
        """What the provider's books have under that operation's id."""
        return [row["refund_id"] for row in await _rows(self._books, REFUNDS, operation_id=operation_id)]

    async def has_aged(self, operation_id: str) -> bool:
        """Move the first send of an uncertain operation into the past; whether there was one."""
        return bool(await _rows(self._owner, AGE, operation_id=operation_id))

    async def ended(self) -> int:
        """How many operations have ended."""
        return int((await _rows(self._owner, ENDED))[0]["number"])

    async def tables(self) -> dict[str, Rows]:
        """Every table that the checker reads, as it is."""
        ours = {name: await _rows(self._owner, f"SELECT * FROM {name}") for name in (*OURS, *LEDGER)}
        theirs = {name: await _rows(self._books, f"SELECT * FROM payments.{name}") for name in PROVIDERS}
        return ours | theirs | {"reasons": await _rows(self._owner, REASONS), "turns": await self.turns()}

    async def have_looked_again(self, operation_ids: Iterable[str]) -> None:
        """Signal these workflows to look at the database; those that are not there need not."""
        for operation_id in operation_ids:
            with suppress(RPCError):
                await self._temporal.get_workflow_handle(operation_id).signal(NUDGE)

    async def workflows(self) -> dict[str, list[str]]:
        """The status of each run, the oldest first, by the workflow's id."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                listed = [each async for each in self._temporal.list_workflows()]
            except RPCError:
                if time.monotonic() > deadline:
                    raise
                await asyncio.sleep(PAUSE_SECONDS)
            else:
                break
        found: dict[str, list[str]] = defaultdict(list)
        for each in sorted(listed, key=lambda one: one.start_time):
            found[each.id].append(each.status.name if each.status else "UNKNOWN")
        return dict(found)


async def _rows(database: Database, statement: str, **values: str) -> Rows:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            async with database.transaction() as connection:
                return [dict(row) for row in (await connection.execute(text(statement), values)).mappings()]
        except (StoreUnavailable, SQLAlchemyError):
            if time.monotonic() > deadline:
                raise
            await asyncio.sleep(PAUSE_SECONDS)
