"""A back office's store with a tenant of its own, and what a test can do behind it; and one in memory."""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Protocol

from adapters.http.back_office.lists import HeldMessage, HeldNotice
from adapters.http.back_office.ports import BackOfficeStore
from adapters.http.back_office.revisions import ApprovalEvent
from tests.support.proposals import fresh
from tests.unit.back_office_sheets import approval_sheet, of_tenant, operation_sheet
from tests.unit.memory_back_office import MemoryBackOffice, StandingClock
from workflows.domain.approval import ApprovalState
from workflows.domain.impact import Money
from workflows.domain.lifecycle import State
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

    async def keep_from(self, receiver: str, operation_id: str) -> int:
        """An event of an operation of which a receiver will not be told; returns its number."""


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

    async def keep_from(self, receiver: str, operation_id: str) -> int:
        number, now = len(self.store.untold) + 1, self.clock()
        requester = self.store.operation_sheets[f"{self.tenant}/{operation_id}"].line.requester
        notice = HeldNotice(number, receiver, "approval.asked", operation_id, "status 410", 1, now, now)
        self.store.untold[number, receiver] = (requester, notice)
        return number


def person(office: Office, subject: str = "approver-1", *roles: str, agent: str = "") -> Principal:
    return Principal(office.tenant, subject, frozenset(roles or (ROLE,)), agent=agent, name="A Person")
