"""Rows for a dashboard to count, over its fake and over PostgreSQL. `ago` is seconds before now."""

from dataclasses import dataclass
from typing import Protocol

from sqlalchemy import text

from adapters.http.back_office.dashboard_ports import Dashboard
from adapters.postgres.dashboard import PostgresDashboard
from adapters.postgres.engine import Database
from tests.fakes.dashboard import Asked, Claimed, MemoryDashboard, Row
from tests.support.proposals import fresh
from workflows.domain.approval import Choice
from workflows.domain.gate import Layer
from workflows.domain.lifecycle import ENDS, State

OPERATION = """
INSERT INTO operations (operation_id, tenant, subject, roles, scopes, tool, tool_version, contract_hash, writes,
    intent_hash, act_hash, arguments, resource, state, code, created_at, updated_at, ended_at)
VALUES (:operation_id, :tenant, 'user-17', '{}', '{}', 'refund_payment', '1', 'x', true,
    'meant', 'x', '{}', 'order:O-17', :state, :code, clock_timestamp() - :begun * interval '1 second',
    clock_timestamp() - :changed * interval '1 second',
    CASE WHEN :is_ended THEN clock_timestamp() - :changed * interval '1 second' END)
"""

CLAIM = """
INSERT INTO claims (operation_id, intent_hash, idempotency_key, owner, generation, lease_until, sends, outcome)
VALUES (:operation_id, 'meant', :operation_id, 'owner-1', :generation, clock_timestamp(), :sends,
    CASE WHEN :effects > 0 THEN 'applied' ELSE 'rejected' END)
"""

EFFECTS = """
INSERT INTO events (tenant, operation_id, actor, what)
SELECT tenant, operation_id, 'executor', 'effect.applied'
FROM operations, generate_series(1, :effects)
WHERE operation_id = :operation_id
"""

QUESTION = """
INSERT INTO approvals (approval_id, operation_id, tenant, revision, state, intent_hash, resource_version,
    policy_version, approver_role, quorum, impact, why, asked_at, expires_at)
SELECT :approval_id, operation_id, tenant, 1, :state, 'meant', 'x', 'x', 'approver:refunds', 1, '{}', 'x',
    clock_timestamp() - :ago * interval '1 second', clock_timestamp() + interval '1 day'
FROM operations WHERE operation_id = :operation_id
"""

WORD = """
INSERT INTO decisions (approval_id, approver, approver_name, choice, reason, at)
SELECT approval_id, :approver, 'Approver', :choice, 'Seen.', asked_at + :after * interval '1 second'
FROM approvals WHERE approval_id = :approval_id
"""

REFUSAL = """
INSERT INTO verdicts (tenant, layer, code, at)
VALUES (:tenant, :layer, :code, clock_timestamp() - :ago * interval '1 second')
"""

CORRECTION = """
INSERT INTO calls (tenant, delivery_key, request_id, call_id, position, surface, lineage, tool, proposal_hash,
    refusal, created_at)
VALUES (:tenant, :key, 'r', 'c', 0, 'openai-chat', 'l', :tool, 'x', '{"code": "invalid_arguments", "details": []}',
    clock_timestamp() - :ago * interval '1 second')
"""

MESSAGE = """
INSERT INTO outbox (operation_id, kind, payload, due_at)
VALUES (:operation_id, 'nudge', '{}', clock_timestamp() - :late * interval '1 second')
"""


class Rows(Protocol):
    """What can be planted."""

    @property
    def dashboard(self) -> Dashboard: ...

    async def operation(
        self,
        tenant: str,
        state: State,
        *,
        ago: float = 0.0,
        code: str | None = None,
        begun: float | None = None,
        half_ended: bool = False,
    ) -> str:
        """One whose state has changed so long ago; returns its id."""

    async def claim(self, operation_id: str, *, effects: int = 1, sends: int = 1, generation: int = 1) -> None: ...

    async def question(self, operation_id: str, *, ago: float, words: tuple[tuple[Choice, float], ...] = ()) -> None:
        """About that operation, asked so long ago; each word so many seconds after it."""

    async def refusal(self, tenant: str, layer: Layer, code: str, *, ago: float = 0.0) -> None: ...

    async def correction(self, tenant: str, tool: str, *, ago: float = 0.0) -> None: ...

    async def message(self, operation_id: str, *, late: float) -> None:
        """One that should have gone out so long ago."""


class MemoryRows:
    """In the fake's lists."""

    def __init__(self) -> None:
        self.dashboard = MemoryDashboard()

    async def operation(
        self,
        tenant: str,
        state: State,
        *,
        ago: float = 0.0,
        code: str | None = None,
        begun: float | None = None,
        half_ended: bool = False,
    ) -> str:
        ended = ago if (state in ENDS) != half_ended else None
        row = Row(fresh("op"), tenant, state, code, ago, ended, ago if begun is None else begun)
        self.dashboard.operations.append(row)
        return row.operation_id

    async def claim(self, operation_id: str, *, effects: int = 1, sends: int = 1, generation: int = 1) -> None:
        self.dashboard.claims.append(Claimed(operation_id, effects, sends, generation))

    async def question(self, operation_id: str, *, ago: float, words: tuple[tuple[Choice, float], ...] = ()) -> None:
        self.dashboard.questions.append(Asked(self._tenant_of(operation_id), ago, not words, words))

    async def refusal(self, tenant: str, layer: Layer, code: str, *, ago: float = 0.0) -> None:
        self.dashboard.refusals.append((tenant, layer, code, ago))

    async def correction(self, tenant: str, tool: str, *, ago: float = 0.0) -> None:
        self.dashboard.corrections.append((tenant, tool, ago))

    async def message(self, operation_id: str, *, late: float) -> None:
        self.dashboard.undelivered.append((self._tenant_of(operation_id), late))

    def _tenant_of(self, operation_id: str) -> str:
        (row,) = [row for row in self.dashboard.operations if row.operation_id == operation_id]
        return row.tenant


@dataclass
class PostgresRows:
    """As the owner of the tables, whom nothing forbids anything; the dashboard has the door's rights."""

    owner: Database
    dashboard: PostgresDashboard

    async def operation(
        self,
        tenant: str,
        state: State,
        *,
        ago: float = 0.0,
        code: str | None = None,
        begun: float | None = None,
        half_ended: bool = False,
    ) -> str:
        operation_id, is_ended = fresh("op"), (state in ENDS) != half_ended
        moments = {"changed": ago, "begun": ago if begun is None else begun, "is_ended": is_ended}
        await self._do(OPERATION, operation_id=operation_id, tenant=tenant, state=state.value, code=code, **moments)
        return operation_id

    async def claim(self, operation_id: str, *, effects: int = 1, sends: int = 1, generation: int = 1) -> None:
        await self._do(CLAIM, operation_id=operation_id, effects=effects, sends=sends, generation=generation)
        await self._do(EFFECTS, operation_id=operation_id, effects=effects)

    async def question(self, operation_id: str, *, ago: float, words: tuple[tuple[Choice, float], ...] = ()) -> None:
        approval_id, state = fresh("approval"), "granted" if words else "pending"
        await self._do(QUESTION, approval_id=approval_id, operation_id=operation_id, state=state, ago=ago)
        for place, (choice, after) in enumerate(words):
            await self._do(
                WORD, approval_id=approval_id, approver=f"approver-{place}", choice=choice.value, after=after
            )

    async def refusal(self, tenant: str, layer: Layer, code: str, *, ago: float = 0.0) -> None:
        await self._do(REFUSAL, tenant=tenant, layer=layer.value, code=code, ago=ago)

    async def correction(self, tenant: str, tool: str, *, ago: float = 0.0) -> None:
        await self._do(CORRECTION, tenant=tenant, key=fresh("key"), tool=tool, ago=ago)

    async def message(self, operation_id: str, *, late: float) -> None:
        await self._do(MESSAGE, operation_id=operation_id, late=late)

    async def _do(self, statement: str, **values: object) -> None:
        async with self.owner.transaction() as connection:
            await connection.execute(text(statement), values)
