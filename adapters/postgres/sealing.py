"""The audit log's chain: lines that are committed are sealed, a few hundred at a time, by whichever relay is first.

Nobody waits for it: who tells a line takes no lock. A line that is committed late is sealed late; none is passed over.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import func, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from adapters.postgres.audit_lines import LINES, line_of
from adapters.postgres.engine import Database
from adapters.postgres.rows import NOW
from adapters.postgres.tables import audit_heads, events
from workflows.domain.audit import AuditLine, Head, chained

MOST_LINES = 500
"""Lines sealed in one transaction."""

NAME = "onceward.audit"
"""Of the lock that one relay at a time holds."""

SEAL: Final = """
UPDATE events
SET place = sealed.place, previous_hash = sealed.previous_hash, hash = sealed.hash
FROM unnest(
    CAST(:event_ids AS bigint[]), CAST(:places AS bigint[]), CAST(:previous AS text[]), CAST(:hashes AS text[])
) AS sealed (event_id, place, previous_hash, hash)
WHERE events.event_id = sealed.event_id
"""


class PostgresSealing:
    """The relay's side of the audit log; any number of relays may seal at once."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def seal(self, most: int = MOST_LINES) -> int:
        """Seal the oldest lines that are not sealed; returns how many, 0 also while another relay does it."""
        async with self._database.transaction() as connection:
            if not await _first_here(connection):
                return 0
            lines = await _unsealed(connection, most)
            sealed, heads = chained(lines, await _heads(connection, {line.tenant for line in lines}))
            if sealed:
                await _seal(connection, sealed)
                await _move(connection, heads)
            return len(sealed)


async def _first_here(connection: AsyncConnection) -> bool:
    free = select(func.pg_try_advisory_xact_lock(func.hashtextextended(NAME, 0)))
    return bool((await connection.execute(free)).scalar_one())


async def _unsealed(connection: AsyncConnection, most: int) -> list[AuditLine]:
    oldest = LINES.where(events.c.place.is_(None)).order_by(events.c.event_id).limit(most)
    return [line_of(row) for row in await connection.execute(oldest)]


async def _heads(connection: AsyncConnection, tenants: Collection[str]) -> dict[str, Head]:
    # Locked although only one relay is here: whoever else would move a head must see ours first.
    wanted = select(audit_heads).where(audit_heads.c.tenant.in_(tenants)).with_for_update()
    return {row.tenant: Head(row.place, row.hash) for row in await connection.execute(wanted)}


async def _seal(connection: AsyncConnection, sealed: Sequence[AuditLine]) -> None:
    values: dict[str, list[Any]] = {
        "event_ids": [line.event_id for line in sealed],
        "places": [line.place for line in sealed],
        "previous": [line.previous_hash for line in sealed],
        "hashes": [line.hash for line in sealed],
    }
    await connection.execute(text(SEAL), values)


async def _move(connection: AsyncConnection, heads: Mapping[str, Head]) -> None:
    statement = insert(audit_heads)
    moved = {"place": statement.excluded.place, "hash": statement.excluded.hash, "sealed_at": NOW}
    await connection.execute(
        statement.on_conflict_do_update(index_elements=["tenant"], set_=moved),
        [{"tenant": tenant, "place": head.place, "hash": head.hash} for tenant, head in heads.items()],
    )
