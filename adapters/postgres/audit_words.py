"""People's words, compared with the digests that the audit log has of them.

The log has no words: why somebody denied, and on which evidence an operator resolved, stays in tables of its own. There
only the tables' owner could change them, and the digest would tell. Words from before there were any are passed over.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, Final

from sqlalchemy import text

from adapters.postgres.engine import Database
from adapters.postgres.snapshot import snapshot
from workflows.domain.intent import digest

PART = 1000
"""Words that are read at once."""

DECISIONS: Final = """
SELECT decision_id AS id, events.tenant, operation_id, detail ->> 'said' AS said,
    approval_id, approver, choice, reason
FROM decisions
JOIN approvals USING (approval_id)
JOIN events USING (operation_id)
WHERE decision_id > :after AND what IN ('decision.approve', 'decision.deny') AND detail ->> 'approval' = approval_id
    AND actor = approver AND detail ? 'said'
ORDER BY decision_id
LIMIT :part
"""
"""Each decision beside the line that told it."""

RESOLUTIONS: Final = """
SELECT resolution_id AS id, tenant, operation_id, detail ->> 'said' AS said,
    item, generation, operator, finding, evidence, reference
FROM resolutions
JOIN events USING (operation_id)
WHERE resolution_id > :after AND what IN ('resolution.happened', 'resolution.did_not_happen', 'resolution.abandoned')
    AND actor = operator AND detail ->> 'generation' = generation::text
    AND coalesce(detail ->> 'item', '') = item AND detail ? 'said'
ORDER BY resolution_id
LIMIT :part
"""
"""Each word of an operator beside the line that told it."""


def of_decision(row: Any) -> str:
    """The digest of a decision."""
    return digest([row.approval_id, row.approver, row.choice, row.reason])


def of_resolution(row: Any) -> str:
    """The digest of an operator's word."""
    named = [row.operation_id, row.item, row.generation, row.operator, row.finding, row.evidence, row.reference]
    return digest(named)


class PostgresAuditWords:
    """Looks; changes nothing. Raises as `snapshot` does."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def altered(self, tenant: str | None = None) -> tuple[str, ...]:
        """The operations on which somebody's words are no longer those that the log has; of all tenants, or of one."""
        found = [each async for each in self._differing(DECISIONS, of_decision)]
        found += [each async for each in self._differing(RESOLUTIONS, of_resolution)]
        return tuple(sorted({row.operation_id for row in found if tenant in (None, row.tenant)}))

    async def _differing(self, query: str, said: Callable[[Any], str]) -> AsyncIterator[Any]:
        async for part in self._parts(query):
            for row in part:
                if row.said != said(row):
                    yield row

    async def _parts(self, query: str) -> AsyncIterator[Sequence[Any]]:
        after = 0
        while True:
            async with snapshot(self._database) as connection:
                part = list(await connection.execute(text(query), {"after": after, "part": PART}))
            if part:
                yield part
            if len(part) < PART:
                return
            after = part[-1].id
