"""What must hold over everything that was ever done, measured on the rows themselves.

Effects are counted where they happen, at the downstream; these are the numbers that our own tables can give.
"""

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from adapters.postgres.engine import Database
from adapters.postgres.invariant_queries import EACH_ONE, NONE, NONE_ELSEWHERE
from adapters.postgres.snapshot import snapshot
from workflows.domain.effect import ABANDONED
from workflows.domain.errors import Canceled
from workflows.domain.lifecycle import ENDS, State

NAMES: Final = (*EACH_ONE, *NONE, *NONE_ELSEWHERE)
"""In the order in which they are told. They are stable: labels of a metric bear them."""

NUMBERS = """
SELECT coalesce(min(number), 0), coalesce(max(number), 0), count(*), count(*) FILTER (WHERE number <> 1),
    (array_agg(about) FILTER (WHERE number <> 1))[1:3]
FROM ({}) AS each_group
"""

VIOLATIONS = "SELECT count(*), (array_agg(about))[1:3] FROM ({}) AS violation"

OPEN_OPERATIONS: Final = "SELECT count(*) FROM operations WHERE state <> ALL(:ends)"
"""Operations that have not ended yet."""

VALUES: Final = {
    "ends": sorted(state.value for state in ENDS),
    "proposed": State.PROPOSED.value,
    "succeeded": State.SUCCEEDED.value,
    "abandoned": ABANDONED,
    "canceled": Canceled.code,
}


class Spread(NamedTuple):
    """The least and the most of a number over all groups; both 0 when there are none."""

    least: int
    most: int


@dataclass(frozen=True)
class Measured:
    """One invariant as it was found.

    `spread` is that of the groups which must all count to one, and `groups` their number; None and 0 for an invariant
    that nothing may be found of. `broken` counts the groups or the rows that break it, `examples` names operations of
    the first few; where others have broken it, who did and what.
    """

    name: str
    broken: int
    examples: tuple[str, ...] = ()
    spread: Spread | None = None
    groups: int = 0

    @property
    def holds(self) -> bool:
        """Whether nothing breaks it."""
        return self.broken == 0

    @property
    def elsewhere(self) -> bool:
        """Whether it is for others to keep: our rows only tell that they have not."""
        return self.name in NONE_ELSEWHERE


class PostgresInvariants:
    """Measures; judges nothing but whether a number is as it must be. Each is one query over all tenants."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def all(self) -> tuple[Measured, ...]:
        """Every invariant, at one moment; takes as long as reading the tables does. Raises as `snapshot` does."""
        async with snapshot(self._database) as connection:
            return tuple([await _measured(connection, name) for name in NAMES])

    async def terminal_results_per_operation(self) -> Spread:
        """Over operations that have ended; both must be 1."""
        return await self._spread("terminal_results_per_operation")

    async def intent_hashes_per_key(self) -> Spread:
        """Over idempotency keys; both must be 1."""
        return await self._spread("intent_hashes_per_key")

    async def operations_per_receipt(self) -> Spread:
        """Over receipts; both must be 1."""
        return await self._spread("operations_per_receipt")

    async def handler_calls_after_refusal(self) -> int:
        """Must be 0."""
        async with snapshot(self._database) as connection:
            return (await _measured(connection, "handler_calls_after_refusal")).broken

    async def open_operations(self) -> int:
        """How many are still under way; any number is sound."""
        async with snapshot(self._database) as connection:
            return int((await _row(connection, OPEN_OPERATIONS))[0])

    async def _spread(self, name: str) -> Spread:
        async with snapshot(self._database) as connection:
            return (await _measured(connection, name)).spread or Spread(0, 0)


async def _measured(connection: AsyncConnection, name: str) -> Measured:
    if name not in EACH_ONE:
        broken, examples = await _row(connection, VIOLATIONS.format(NONE.get(name) or NONE_ELSEWHERE[name]))
        return Measured(name, broken, tuple(examples or ()))
    least, most, groups, broken, examples = await _row(connection, NUMBERS.format(EACH_ONE[name]))
    return Measured(name, broken, tuple(examples or ()), Spread(int(least), int(most)), groups)


async def _row(connection: AsyncConnection, query: str) -> Any:
    # A query that does not name a value is not given it.
    named = {name: value for name, value in VALUES.items() if f":{name}" in query}
    return (await connection.execute(text(query), named)).one()
