"""How much was ever done, over all tenants. The numbers rise only, but for the operations by state."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from adapters.postgres.engine import Database
from adapters.postgres.snapshot import snapshot

OPERATIONS: Final = "SELECT state, tool, count(*) FROM operations GROUP BY state, tool"
"""Operations by where they stand."""

HANDLER_CALLS: Final = "SELECT tool, outcome, count(*) FROM handler_calls GROUP BY tool, outcome"
"""Calls of handlers; without an outcome those that go on, and those whose worker has died."""

EFFECTS: Final = """
SELECT tool, count(*)
FROM claims
JOIN operations USING (operation_id)
WHERE outcome = 'applied'
GROUP BY tool
"""
"""Effects on record."""

REFUSALS: Final = """
SELECT layer, count(*)
FROM verdicts
WHERE code <> 'approval_required'
GROUP BY layer
"""
"""Verdicts that refused, one for each time that the gate looked; that a person must be asked is none."""

DELIVERIES: Final = "SELECT coalesce(sum(deliveries - 1), 0), count(*) FILTER (WHERE attached) FROM calls"
"""Deliveries of calls that were known already, and calls that were answered with an open operation of another one."""


@dataclass(frozen=True)
class Totals:
    """Numbers by labels. A handler call that has not been seen to end has no outcome."""

    operations: Mapping[tuple[str, str], int]
    handler_calls: Mapping[tuple[str, str | None], int]
    effects: Mapping[str, int]
    refusals: Mapping[str, int]
    duplicate_deliveries: int
    reuses: int


class PostgresTotals:
    """Counts; changes nothing."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def operations(self) -> int:
        """How many there are. Raises as `snapshot` does."""
        async with snapshot(self._database) as connection:
            return int((await _rows(connection, "SELECT count(*) FROM operations"))[0][0])

    async def read(self) -> Totals:
        """All numbers, at one moment. Raises as `snapshot` does."""
        async with snapshot(self._database) as connection:
            ((duplicates, reuses),) = await _rows(connection, DELIVERIES)
            return Totals(
                operations={(state, tool): number for state, tool, number in await _rows(connection, OPERATIONS)},
                handler_calls={
                    (tool, outcome): number for tool, outcome, number in await _rows(connection, HANDLER_CALLS)
                },
                effects=dict(await _rows(connection, EFFECTS)),
                refusals=dict(await _rows(connection, REFUSALS)),
                duplicate_deliveries=int(duplicates),
                reuses=reuses,
            )


async def _rows(connection: AsyncConnection, query: str) -> list[Any]:
    return list(await connection.execute(text(query)))
