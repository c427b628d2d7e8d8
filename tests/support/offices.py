"""A back office's store with a tenant of its own, and what a test can do behind it: in memory, and over PostgreSQL."""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Protocol

from sqlalchemy import insert, select, update

from adapters.http.back_office.lists import HeldMessage
from adapters.http.back_office.ports import BackOfficeStore
from adapters.http.back_office.revisions import ApprovalEvent
from adapters.postgres.back_office import PostgresBackOffice
from adapters.postgres.engine import Database
from adapters.postgres.rows import NOW
from adapters.postgres.tables import calls, decisions, operations, outbox
from tests.support.acts import IMPACT, LEASE_SECONDS, PLEA, binding_of
from tests.support.benches import PostgresBench
from tests.support.proposals import CALLER, fresh, lookup, refund, turn_of
from tests.unit.back_office_sheets import approval_sheet, of_tenant, operation_sheet
from tests.unit.memory_back_office import MemoryBackOffice, StandingClock
from workflows.domain.approval import ApprovalState, Clearance
from workflows.domain.contract import ApprovalRule
from workflows.domain.gate import Layer, Verdict
from workflows.domain.impact import Impact, Money
from workflows.domain.lifecycle import ENDS, State
from workflows.domain.operation import Operation
from workflows.domain.principal import Principal

DAY_SECONDS = 24 * 3600.0

ROLE = "approver:refunds"

AMOUNT = Money(12_000, "KRW")


class Office(Protocol):
    """A store with a tenant of its own, and what a test can do behind it."""

    tenant: str

    @property
    def store(self) -> BackOfficeStore: ...

    async def ask(
        self, quorum: int = 1, days: float = 3.0, money: Money | None = AMOUNT, role: str = ROLE, who: str = "support-7"
    ) -> str:
        """A new question that stands for so many days; returns its id."""

    async def pass_time(self, approval_id: str, seconds: float) -> None: ...

    async def end(self, approval_id: str, state: ApprovalState) -> None:
        """The executor closes the question: void, or consumed after a grant."""

    async def ask_anew(self, approval_id: str, money: Money) -> str:
        """What it asked about has changed: the question is void, and another one is open; returns its id."""

    async def votes(self, approval_id: str) -> int:
        """How many decisions are stored."""

    async def propose(self, number: int) -> list[str]:
        """So many operations, by their ids."""

    async def stand(self, state: State, seconds: float = 0.0, who: str = "support-7") -> str:
        """A write about `AMOUNT` that has stood where it stands for so long; returns its id."""

    async def names(self, operation_id: str) -> tuple[str, str, str]:
        """The call that became an operation, the response that it came with, and its object's name."""

    async def set_aside(self, operation_id: str) -> int:
        """A message about an operation that nobody will deliver; returns its number."""


@dataclass
class MemoryOffice:
    store: MemoryBackOffice
    clock: StandingClock
    tenant: str

    async def ask(
        self, quorum: int = 1, days: float = 3.0, money: Money | None = AMOUNT, role: str = ROLE, who: str = "support-7"
    ) -> str:
        sheet = approval_sheet(fresh("approval"), quorum=quorum)
        approval = replace(
            sheet.approval,
            operation_id=fresh("op"),
            expires_at=self.clock() + timedelta(days=days),
            approver_role=role,
        )
        sheet = replace(
            sheet,
            approval=approval,
            impact=replace(sheet.impact, money=money),
            requester=replace(sheet.requester, subject=who),
            asked_at=self.clock(),
            history=(ApprovalEvent(self.clock(), "executor", "approval.asked", 1),),
        )
        self.store.ask(of_tenant(sheet, self.tenant))
        return sheet.approval.approval_id

    async def pass_time(self, approval_id: str, seconds: float) -> None:
        sheet = self.store.approvals[approval_id]
        by = timedelta(seconds=seconds)
        approval = replace(sheet.approval, expires_at=sheet.approval.expires_at - by)
        self.store.ask(replace(sheet, approval=approval, asked_at=sheet.asked_at - by))

    async def end(self, approval_id: str, state: ApprovalState) -> None:
        sheet = self.store.approvals[approval_id]
        self.store.ask(replace(sheet, approval=replace(sheet.approval, state=state)))

    async def ask_anew(self, approval_id: str, money: Money) -> str:
        sheet = self.store.approvals[approval_id]
        asked = sheet.approval.revision + 1
        told = (
            ApprovalEvent(self.clock(), "executor", "approval.void", sheet.approval.revision),
            ApprovalEvent(self.clock(), "executor", "approval.asked", asked),
        )
        binding = replace(sheet.approval.binding, resource_version="2")
        approval = replace(sheet.approval, binding=binding)
        impact = replace(sheet.impact, money=money)
        changed = replace(sheet, approval=approval, impact=impact, history=sheet.history + told)
        return self.store.revise(changed, binding.intent_hash).approval.approval_id

    async def votes(self, approval_id: str) -> int:
        return len(self.store.approvals[approval_id].votes)

    async def propose(self, number: int) -> list[str]:
        sheets = [operation_sheet(fresh("op"), State.PROPOSED) for _ in range(number)]
        for sheet in sheets:
            self.store.record(sheet, self.tenant)
        return [sheet.line.operation_id for sheet in sheets]

    async def stand(self, state: State, seconds: float = 0.0, who: str = "support-7") -> str:
        sheet = operation_sheet(fresh("op"), state)
        since = self.clock() - timedelta(seconds=seconds)
        resource = replace(sheet.line.resource, id=fresh("O"), owner_tenant=self.tenant)
        line = replace(
            sheet.line, requester=who, resource=resource, money=AMOUNT, created_at=self.clock(), updated_at=since
        )
        self.store.record(replace(sheet, line=line), self.tenant)
        self.store.names[line.operation_id] = {fresh("call"), fresh("request")}
        return line.operation_id

    async def names(self, operation_id: str) -> tuple[str, str, str]:
        call, request = sorted(self.store.names[operation_id])
        return call, request, self.store.operation_sheets[f"{self.tenant}/{operation_id}"].line.resource.id

    async def set_aside(self, operation_id: str) -> int:
        number = len(self.store.held) + 1
        now = self.clock()
        requester = self.store.operation_sheets[f"{self.tenant}/{operation_id}"].line.requester
        message = HeldMessage(number, "nudge", operation_id, "undeliverable", 4, now, now)
        self.store.held[number] = (requester, message)
        return number


@dataclass
class PostgresOffice:
    store: PostgresBackOffice
    bench: PostgresBench
    owner: Database
    tenant: str
    operations: dict[str, Operation]

    async def ask(
        self, quorum: int = 1, days: float = 3.0, money: Money | None = AMOUNT, role: str = ROLE, who: str = "support-7"
    ) -> str:
        operation = await self.proposed(who)
        rule = ApprovalRule(role, quorum=quorum, expires_seconds=days * DAY_SECONDS)
        impact: Impact = replace(IMPACT, money=money)
        plea = replace(PLEA, binding=binding_of(operation), impact=impact, rule=rule)
        question = await self.bench.approvals.ask(operation, plea)
        self.operations[question.approval_id] = operation
        return question.approval_id

    async def pass_time(self, approval_id: str, seconds: float) -> None:
        await self.bench.pass_time(self.operations[approval_id].operation_id, seconds)

    async def end(self, approval_id: str, state: ApprovalState) -> None:
        operation = self.operations[approval_id]
        if state is ApprovalState.VOID:
            await self.bench.approvals.void(approval_id)
            return
        clearance = Clearance(binding_of(operation), approval_id)
        await self.bench.operations.record(operation, [Verdict(Layer.RISK)], clearance)
        await self.bench.claims.acquire(operation.operation_id, "owner-1", LEASE_SECONDS)

    async def ask_anew(self, approval_id: str, money: Money) -> str:
        operation = self.operations[approval_id]
        await self.bench.approvals.void(approval_id)
        binding = replace(binding_of(operation), resource_version="2")
        plea = replace(PLEA, binding=binding, impact=replace(IMPACT, money=money))
        question = await self.bench.approvals.ask(operation, plea)
        self.operations[question.approval_id] = operation
        return question.approval_id

    async def votes(self, approval_id: str) -> int:
        return len(await self.bench.rows(select(decisions).where(decisions.c.approval_id == approval_id)))

    async def propose(self, number: int) -> list[str]:
        reads = [lookup(f"call-{place}") for place in range(number)]
        registered = await self.bench.inbox.register(turn_of(*reads, caller=replace(CALLER, tenant=self.tenant)))
        return [each.operation_id or "" for each in registered]

    async def stand(self, state: State, seconds: float = 0.0, who: str = "support-7") -> str:
        operation = await self.proposed(who)
        await self.bench.spendings.reserve(operation, AMOUNT, 0.0)
        await self.rest(operation.operation_id, seconds, state)
        return operation.operation_id

    async def names(self, operation_id: str) -> tuple[str, str, str]:
        (row,) = await self.bench.rows(select(calls).where(calls.c.operation_id == operation_id))
        stored = await self.bench.operations.load(operation_id)
        return row.call_id, row.request_id, stored.resource.partition(":")[2]

    async def set_aside(self, operation_id: str) -> int:
        values = {"operation_id": operation_id, "kind": "nudge", "payload": {}, "attempts": 4}
        held = insert(outbox).values(**values, failure="undeliverable", set_aside_at=NOW)
        async with self.owner.transaction() as connection:
            number: int = (await connection.execute(held.returning(outbox.c.message_id))).scalar_one()
            return number

    async def rest(self, operation_id: str, seconds: float, state: State | None = None) -> None:
        """It has stood where it stands for so long; in another state when one is given."""
        values: dict[str, Any] = {
            "updated_at": NOW - timedelta(seconds=seconds),
            "ended_at": NOW if state in ENDS else None,
        }
        if state is not None:
            values["state"] = state.value
        async with self.owner.transaction() as connection:
            which = operations.c.operation_id == operation_id
            await connection.execute(update(operations).where(which).values(values))

    async def turn_of_two(self) -> list[str]:
        """Two writes of one turn, in their order."""
        writes = [refund(call_id=f"call-{place}", order_id=fresh("O")) for place in range(2)]
        registered = await self.bench.inbox.register(turn_of(*writes, caller=replace(CALLER, tenant=self.tenant)))
        return [each.operation_id or "" for each in registered]

    async def proposed(self, who: str = "support-7") -> Operation:
        caller = replace(CALLER, tenant=self.tenant, subject=who)
        proposal = refund(call_id=fresh("call"), order_id=fresh("O"))
        (registered,) = await self.bench.inbox.register(turn_of(proposal, caller=caller))
        return await self.bench.operations.load(registered.operation_id or "")


def person(office: Office, subject: str = "approver-1", *roles: str, agent: str = "") -> Principal:
    return Principal(office.tenant, subject, frozenset(roles or (ROLE,)), agent=agent, name="A Person")
