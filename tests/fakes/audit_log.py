"""The audit log in memory: the same lines, sealed when a test says so."""

import json
from dataclasses import dataclass, field, replace

from adapters.http.back_office.audit_ports import PAGE, RECENT, AuditList, AuditQuery, AuditStanding
from tests.unit.memory_back_office import StandingClock
from workflows.domain.audit import AuditLine, ChainCheck, Head, chained
from workflows.domain.principal import Principal


@dataclass
class MemoryAuditLog:
    """Keeps the lines of all tenants in the order in which they were told."""

    clock: StandingClock
    lines: list[AuditLine] = field(default_factory=list)
    heads: dict[str, Head] = field(default_factory=dict)

    def add(self, line: AuditLine) -> None:
        self.lines.append(replace(line, event_id=len(self.lines) + 1))

    def seal(self) -> None:
        sealed, self.heads = chained([line for line in self.lines if line.place is None], self.heads)
        anew = {line.event_id: line for line in sealed}
        self.lines = [anew.get(line.event_id, line) for line in self.lines]

    async def search(self, viewer: Principal, query: AuditQuery, most: int = PAGE) -> AuditList:
        found = [line for line in reversed(self._of(viewer)) if _is_meant(line, query)]
        return AuditList(tuple(found[:most]), found[most - 1].event_id if len(found) > most else 0)

    async def standing(self, viewer: Principal) -> AuditStanding:
        sealed = [line for line in self._of(viewer) if line.place is not None]
        check = ChainCheck(viewer.tenant, self.heads.get(viewer.tenant), whole=len(sealed) <= RECENT)
        for line in sealed[-RECENT:]:
            check.take(line)
        return AuditStanding(check.found(), len(self._of(viewer)) - len(sealed))

    async def tell(self, who: Principal, what: str, **detail: str) -> None:
        of_agent = {"subject": who.subject} if who.agent else {}
        told = json.dumps({**detail, **of_agent})
        self.add(AuditLine(who.tenant, 0, self.clock(), who.agent or who.subject, what, detail=told))

    def _of(self, viewer: Principal) -> list[AuditLine]:
        return [line for line in self.lines if line.tenant == viewer.tenant]


def _is_meant(line: AuditLine, query: AuditQuery) -> bool:
    resource = line.resource or ""
    return all(
        (
            query.actor in ("", line.actor),
            query.operation_id in ("", line.operation_id),
            not query.what or f"{line.what}.".startswith(f"{query.what}."),
            query.about in ("", line.tool, resource, resource.partition(":")[2]),
            query.since is None or line.at >= query.since,
            query.until is None or line.at < query.until,
            not query.before or line.event_id < query.before,
        )
    )
