"""People's words, compared with what the audit log tells of them, from the log to the words and back.

The log has no words: why somebody denied, and on which evidence an operator resolved, stays in tables of its own. There
only the tables' owner could change them, and the log would tell: each line that counts somebody's word has one row that
was written in the same transaction and says the same, and each row has one such line. Lines from before there were
digests tell who, what and when, and are held to that.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import text

from adapters.postgres.engine import Database
from adapters.postgres.snapshot import snapshot
from workflows.domain.intent import digest

PART = 1000
"""Lines or words that are read at once."""

# Of one transaction, so the line and the row bear its one time, to the microsecond.
SAME_DECISION: Final = """
    detail ->> 'approval' = approval_id AND actor = approver AND what = 'decision.' || choice
    AND events.at = decisions.at AND events.operation_id = approvals.operation_id AND events.tenant = approvals.tenant
"""

SAME_RESOLUTION: Final = """
    events.operation_id = resolutions.operation_id AND actor = operator AND what = 'resolution.' || finding
    AND detail ->> 'generation' = generation::text AND events.at = resolutions.at
    AND (coalesce(detail ->> 'item', '') = item OR NOT detail ? 'said')
"""

TOLD_DECISIONS: Final = f"""
SELECT event_id AS id, events.operation_id, detail ->> 'said' AS said, detail ->> 'named' AS named,
    decision_id AS row_id, approval_id, approver, choice, reason, approver AS person, approver_name AS name
FROM events
LEFT JOIN (decisions JOIN approvals USING (approval_id)) ON {SAME_DECISION}
WHERE event_id > :after AND what IN ('decision.approve', 'decision.deny')
    AND (CAST(:tenant AS text) IS NULL OR events.tenant = :tenant)
ORDER BY event_id
LIMIT :part
"""  # noqa: S608 - put together from constants alone
"""Each line that counts a decision, beside the row that says the same."""

TOLD_RESOLUTIONS: Final = f"""
SELECT event_id AS id, events.operation_id, detail ->> 'said' AS said, detail ->> 'named' AS named,
    resolution_id AS row_id, item, generation, operator, finding, evidence, reference,
    operator AS person, operator_name AS name
FROM events
LEFT JOIN resolutions ON {SAME_RESOLUTION}
WHERE event_id > :after AND what IN ('resolution.happened', 'resolution.did_not_happen', 'resolution.abandoned')
    AND (CAST(:tenant AS text) IS NULL OR events.tenant = :tenant)
ORDER BY event_id
LIMIT :part
"""  # noqa: S608 - put together from constants alone
"""Each line that counts an operator's word, beside the row that says the same."""

DECISIONS: Final = f"""
SELECT decision_id AS id, approvals.operation_id, (
    SELECT count(*) FROM events WHERE {SAME_DECISION}
) AS lines, (
    SELECT count(*) FROM decisions AS twins
    WHERE twins.approval_id = decisions.approval_id AND twins.approver = decisions.approver
) AS twins
FROM decisions
JOIN approvals USING (approval_id)
WHERE decision_id > :after AND (CAST(:tenant AS text) IS NULL OR approvals.tenant = :tenant)
ORDER BY decision_id
LIMIT :part
"""  # noqa: S608 - put together from constants alone
"""Each decision, with how many lines tell it and how often it stands there."""

RESOLUTIONS: Final = f"""
SELECT resolution_id AS id, resolutions.operation_id, (
    SELECT count(*) FROM events WHERE {SAME_RESOLUTION}
) AS lines, (
    SELECT count(*) FROM resolutions AS twins
    WHERE (twins.operation_id, twins.item, twins.generation)
        = (resolutions.operation_id, resolutions.item, resolutions.generation)
) AS twins
FROM resolutions
JOIN operations USING (operation_id)
WHERE resolution_id > :after AND (CAST(:tenant AS text) IS NULL OR operations.tenant = :tenant)
ORDER BY resolution_id
LIMIT :part
"""  # noqa: S608 - put together from constants alone
"""Each word of an operator, with how many lines tell it and how often it stands there."""


class Unlike(StrEnum):
    """How the rows and the log differ, in words that follow the operation."""

    GONE = "no row says what a line tells"
    ALTERED = "the row has another reason, evidence or name than its line"
    UNTOLD = "a row says what no line tells, or says it twice"


@dataclass(frozen=True)
class Discrepancy:
    """The first difference on one operation."""

    operation_id: str
    how: Unlike


def of_decision(row: Any) -> str:
    """The digest of a decision."""
    return digest([row.approval_id, row.approver, row.choice, row.reason])


def of_resolution(row: Any) -> str:
    """The digest of an operator's word."""
    named = [row.operation_id, row.item, row.generation, row.operator, row.finding, row.evidence, row.reference]
    return digest(named)


def of_name(person: str, name: str) -> str:
    """The digest of what somebody was called when they gave their word."""
    return digest([person, name])


class PostgresAuditWords:
    """Looks; changes nothing. Raises as `snapshot` does."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def altered(self, tenant: str | None = None) -> tuple[Discrepancy, ...]:
        """The operations on which somebody's words are not those that the log has; of all tenants, or of one.

        What is found from the log comes first, in the log's order.
        """
        found: dict[str, Unlike] = {}
        for query, judged in JUDGED:
            async for row in self._rows(query, tenant):
                how = judged(row)
                if how is not None:
                    found.setdefault(row.operation_id, how)
        return tuple(Discrepancy(operation_id, how) for operation_id, how in found.items())

    async def _rows(self, query: str, tenant: str | None) -> AsyncIterator[Any]:
        async for part in self._parts(query, tenant):
            for row in part:
                yield row

    async def _parts(self, query: str, tenant: str | None) -> AsyncIterator[Sequence[Any]]:
        after = 0
        while True:
            asked = {"after": after, "part": PART, "tenant": tenant}
            async with snapshot(self._database) as connection:
                part = list(await connection.execute(text(query), asked))
            if part:
                yield part
            if len(part) < PART:
                return
            after = part[-1].id


def _told(said: Callable[[Any], str]) -> Callable[[Any], Unlike | None]:
    def judged(line: Any) -> Unlike | None:
        if line.row_id is None:
            return Unlike.GONE
        # A line from before there was such a digest has none, and says nothing of it.
        same_words = line.said in (None, said(line))
        same_name = line.named in (None, of_name(line.person, line.name))
        return None if same_words and same_name else Unlike.ALTERED

    return judged


def _kept(row: Any) -> Unlike | None:
    return None if (row.lines, row.twins) == (1, 1) else Unlike.UNTOLD


JUDGED: Final = (
    (TOLD_DECISIONS, _told(of_decision)),
    (TOLD_RESOLUTIONS, _told(of_resolution)),
    (DECISIONS, _kept),
    (RESOLUTIONS, _kept),
)
"""What is read, and what is wrong with a row of it."""
