"""The audit log's chains, read a part at a time: a log of any length fits into the memory of a thousand lines."""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from sqlalchemy import func, select, text, union

from adapters.postgres.audit_lines import LINES, line_of
from adapters.postgres.engine import Database
from adapters.postgres.snapshot import snapshot
from adapters.postgres.tables import audit_heads, events
from workflows.domain.audit import AuditLine, Break, ChainCheck, Checked, Fault, Head

PART = 1000
"""Lines that are read at once."""

UNSEALED: Final = """
SELECT count(*), coalesce(max(extract(epoch FROM clock_timestamp() - at)), 0) FROM events WHERE place IS NULL
"""
"""Lines that no relay has sealed yet, and for how many seconds the oldest has waited."""

Watch = Callable[[Sequence[AuditLine]], None]


@dataclass(frozen=True)
class Unsealed:
    """How many lines wait to be sealed, and for how many seconds the oldest does."""

    number: int = 0
    oldest_seconds: float = 0.0


def nobody(_: Sequence[AuditLine]) -> None:
    """Watches nothing."""


class PostgresAuditChain:
    """Looks; changes nothing. Every method raises as `snapshot` does."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def tenants(self) -> list[str]:
        """Everybody who has a sealed line, or a head from when they had."""
        told = select(events.c.tenant).where(events.c.place.is_not(None))
        async with snapshot(self._database) as connection:
            return sorted((await connection.execute(union(told, select(audit_heads.c.tenant)))).scalars())

    async def unsealed(self) -> Unsealed:
        """What waits to be sealed, over all tenants."""
        async with snapshot(self._database) as connection:
            number, seconds = (await connection.execute(text(UNSEALED))).one()
            return Unsealed(number, max(0.0, float(seconds)))

    async def head(self, tenant: str) -> Head:
        """Where the relays say that the tenant's chain ends."""
        async with snapshot(self._database) as connection:
            wanted = select(audit_heads).where(audit_heads.c.tenant == tenant)
            row = (await connection.execute(wanted)).one_or_none()
            return Head() if row is None else Head(row.place, row.hash)

    async def first_place(self, tenant: str, since: datetime) -> int:
        """The place of the first sealed line that was told then or later; one behind the last when there is none."""
        later = select(func.min(events.c.place)).where(events.c.tenant == tenant, events.c.at >= since)
        async with snapshot(self._database) as connection:
            place: int | None = (await connection.execute(later)).scalar_one()
        return (await self.head(tenant)).place + 1 if place is None else place

    async def parts(self, tenant: str, first: int = 1) -> AsyncIterator[Sequence[AuditLine]]:
        """The tenant's sealed lines from this place on, in their order; each part is one short transaction."""
        condition: Any = events.c.place >= first
        while True:
            wanted = LINES.where(events.c.tenant == tenant, condition).order_by(events.c.place).limit(PART)
            async with snapshot(self._database) as connection:
                part = [line_of(row) for row in await connection.execute(wanted)]
            if part:
                yield part
            if len(part) < PART:
                return
            condition = events.c.place > part[-1].place

    async def check(self, tenant: str, watch: Watch = nobody) -> Checked:
        """Follow the tenant's whole chain, from its beginning to the head that was there when this began.

        What is sealed meanwhile may be looked at too; `watch` is shown every part.
        """
        return await self._check(tenant, await self.head(tenant), 1, watch)

    async def check_recent(self, tenant: str, number: int) -> Checked:
        """Follow the last `number` lines of the tenant's chain to its head."""
        head = await self.head(tenant)
        first = max(1, head.place - number + 1)
        found = await self._check(tenant, head, first, nobody)
        if found.broken is None and found.lines and found.first != first:
            return replace(found, broken=Break(first, Fault.MISSING))
        return found

    async def _check(self, tenant: str, head: Head, first: int, watch: Watch) -> Checked:
        check = ChainCheck(tenant, head, whole=first == 1)
        async for part in self.parts(tenant, first):
            for line in part:
                check.take(line)
            watch(part)
        return check.found(await self.head(tenant))
