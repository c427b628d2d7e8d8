"""A back office's store over PostgreSQL with a tenant of its own, and what a test can do behind it."""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from sqlalchemy import insert, select, update

from adapters.postgres.back_office import PostgresBackOffice
from adapters.postgres.engine import Database
from adapters.postgres.rows import NOW
from adapters.postgres.tables import calls, decisions, notices, operations, outbox
from tests.support.acts import IMPACT, LEASE_SECONDS, PLEA, binding_of
from tests.support.benches import PostgresBench
from tests.support.offices import AMOUNT, DAY_SECONDS, ROLE
from tests.support.proposals import CALLER, fresh, lookup, refund, turn_of
from workflows.domain.approval import ApprovalState, Clearance
from workflows.domain.contract import ApprovalRule
from workflows.domain.gate import Layer, Verdict
from workflows.domain.impact import Impact, Money
from workflows.domain.lifecycle import ENDS, State
from workflows.domain.operation import Operation


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
        return await self._post(**values, failure="undeliverable", set_aside_at=NOW)

    async def keep_from(self, receiver: str, operation_id: str) -> int:
        payload = {"what": "approval.asked", "data": {}}
        number = await self._post(operation_id=operation_id, kind="event", payload=payload, sent_at=NOW)
        values = {"message_id": number, "receiver": receiver, "attempts": 1, "failure": "status 410"}
        async with self.owner.transaction() as connection:
            await connection.execute(insert(notices).values(**values, set_aside_at=NOW))
        return number

    async def _post(self, **values: Any) -> int:
        async with self.owner.transaction() as connection:
            posted = insert(outbox).values(**values).returning(outbox.c.message_id)
            number: int = (await connection.execute(posted)).scalar_one()
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
