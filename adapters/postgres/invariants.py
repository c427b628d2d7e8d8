"""What must hold over everything that was ever done, measured on the rows themselves.

Effects are counted where they happen, at the downstream; these are the numbers that our own tables can give.
"""

from typing import Any, Final, NamedTuple

from sqlalchemy import text

from adapters.postgres.engine import Database
from workflows.domain.lifecycle import ENDS, State

TERMINAL_RESULTS: Final = """
SELECT coalesce(min(results), 0), coalesce(max(results), 0)
FROM (
    SELECT count(ending.event_id) AS results
    FROM operations
    LEFT JOIN events AS ending
        ON ending.operation_id = operations.operation_id
        AND ending.what = ANY(:ends)
        AND ending.event_id > (
            SELECT max(event_id) FROM events AS proposed
            WHERE proposed.operation_id = operations.operation_id AND proposed.what = :proposed
        )
    WHERE operations.state = ANY(:ends)
    GROUP BY operations.operation_id
) AS each_operation
"""
"""How often each ended operation was given a result since it was (last) proposed. A resumed one is proposed anew."""

INTENT_HASHES: Final = """
SELECT coalesce(min(hashes), 0), coalesce(max(hashes), 0)
FROM (
    SELECT count(DISTINCT meant.hash) AS hashes
    FROM claims
    JOIN operations USING (operation_id)
    LEFT JOIN approvals ON approvals.operation_id = claims.operation_id AND approvals.consumed_generation IS NOT NULL
    CROSS JOIN LATERAL (
        VALUES (claims.intent_hash), (operations.intent_hash), (approvals.intent_hash)
    ) AS meant (hash)
    GROUP BY claims.idempotency_key
) AS each_key
"""
"""How many meanings stand behind each key that a downstream was given: registered, approved and claimed."""

HANDLER_CALLS_AFTER_REFUSAL: Final = """
SELECT count(*)
FROM handler_calls
WHERE EXISTS (
    SELECT FROM verdicts
    WHERE verdicts.operation_id = handler_calls.operation_id
    AND verdicts.code IS NOT NULL
    AND verdicts.at = (
        SELECT max(latest.at) FROM verdicts AS latest
        WHERE latest.operation_id = handler_calls.operation_id AND latest.at <= handler_calls.began_at
    )
    AND NOT (verdicts.code = 'approval_required' AND EXISTS (
        SELECT FROM verdicts AS people
        WHERE people.operation_id = verdicts.operation_id AND people.at = verdicts.at
        AND people.layer = 'approval' AND people.code IS NULL
    ))
)
OR EXISTS (
    SELECT FROM events AS ending
    WHERE ending.operation_id = handler_calls.operation_id
    AND ending.what = ANY(:ends)
    AND ending.at <= handler_calls.began_at
    AND NOT EXISTS (
        SELECT FROM events AS proposed
        WHERE proposed.operation_id = ending.operation_id
        AND proposed.what = :proposed
        AND proposed.event_id > ending.event_id
        AND proposed.at <= handler_calls.began_at
    )
)
"""
"""Handlers called although the gate's last judgement before had refused, or the operation had ended.

The verdicts of one judgement are written in one transaction and share its time. That a person must be asked is no
refusal once the same judgement has found that person's word.
"""

OPERATIONS_PER_RECEIPT: Final = """
SELECT coalesce(min(sharing), 0), coalesce(max(sharing), 0)
FROM (
    SELECT count(DISTINCT claims.operation_id) AS sharing
    FROM claims
    JOIN operations USING (operation_id)
    WHERE claims.outcome = 'applied' AND claims.reference IS NOT NULL
    GROUP BY operations.tool, claims.reference
) AS each_receipt
"""
"""How many operations call one receipt of a downstream their own."""

OPEN_OPERATIONS: Final = "SELECT count(*) FROM operations WHERE state <> ALL(:ends)"
"""Operations that have not ended yet."""


class Spread(NamedTuple):
    """The least and the most of a number over all groups; both 0 when there are none."""

    least: int
    most: int


class PostgresInvariants:
    """Measures; judges nothing. Each number is one query over all tenants."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def terminal_results_per_operation(self) -> Spread:
        """Over operations that have ended; both must be 1."""
        return Spread(*await self._row(TERMINAL_RESULTS))

    async def intent_hashes_per_key(self) -> Spread:
        """Over idempotency keys; both must be 1."""
        return Spread(*await self._row(INTENT_HASHES))

    async def handler_calls_after_refusal(self) -> int:
        """Must be 0."""
        return int((await self._row(HANDLER_CALLS_AFTER_REFUSAL))[0])

    async def operations_per_receipt(self) -> Spread:
        """Over receipts; both must be 1."""
        return Spread(*await self._row(OPERATIONS_PER_RECEIPT))

    async def open_operations(self) -> int:
        """How many are still under way; any number is sound."""
        return int((await self._row(OPEN_OPERATIONS))[0])

    async def _row(self, query: str) -> Any:
        statement = text(query)
        values = {"ends": sorted(state.value for state in ENDS), "proposed": State.PROPOSED.value}
        # A query that does not name a value is not given it.
        named = {name: value for name, value in values.items() if f":{name}" in query}
        async with self._database.transaction() as connection:
            return (await connection.execute(statement, named)).one()
