"""The running stack, as an agent, a person and an auditor meet it."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
from sqlalchemy import func, select
from temporalio.client import Client

from adapters.postgres.engine import Database
from adapters.postgres.tables import approvals, calls, handler_calls, operations
from tests.support.plain import PLAIN
from tests.support.proposals import fresh
from tests.support.provider import ProviderAdmin
from tests.support.responses import Call, response_with, results_in
from tests.support.visitor import Visitor
from tests.support.waiting import PATIENCE_SECONDS, until
from worker.dev.issuer import mint
from worker.dev.stack import Stack

Json = dict[str, Any]

ENDS = ("succeeded", "failed_terminal", "failed_retryable")


@dataclass(frozen=True)
class Reply:
    """The door's answer to a turn."""

    status: int
    body: Json
    surface: str

    @property
    def complete(self) -> bool:
        """Whether every result is final."""
        return bool(self.body["complete"])

    @property
    def results(self) -> dict[str, Json]:
        """By call id."""
        return {result["call_id"]: result for result in self.body["results"]}

    @property
    def only(self) -> Json:
        """The result of a turn with one call."""
        (result,) = self.body["results"]
        return dict(result)

    @property
    def code(self) -> str:
        """The error's code of a turn with one call."""
        return str(self.only["error"]["code"])

    @property
    def operation_id(self) -> str:
        """Of a turn with one call."""
        return str(self.only["operation_id"])

    @property
    def told(self) -> dict[str, Json]:
        """What the model reads, by call id."""
        return results_in(self.surface, self.body["append"])


@dataclass(frozen=True)
class Trace:
    """What a tenant has left behind in every place that keeps count."""

    operations: int = 0
    workflows: int = 0
    approvals: int = 0
    handler_calls: int = 0


class Onceward:
    """The stack with a client for each of its sides. Tests use tenants, orders and request ids of their own.

    Only the people of `worker.dev.people` can sign in to the back office, and they belong to tenant-a and tenant-b.
    """

    def __init__(self, stack: Stack, temporal: Client, owner: Database) -> None:
        self.stack, self.temporal, self.owner = stack, temporal, owner
        self.door = httpx2.AsyncClient(base_url=stack.links.door, timeout=90, verify=PLAIN)
        secrets = stack.environment("provider")
        self.provider = ProviderAdmin(
            stack.url("provider"), secrets["PAYMENTS_PROVIDER_API_KEY"], secrets["PAYMENTS_PROVIDER_ADMIN_KEY"]
        )

    @classmethod
    @asynccontextmanager
    async def connected(cls, stack: Stack) -> AsyncIterator["Onceward"]:
        """With its connections, which are closed at the end."""
        settings = stack.environment("worker")
        temporal = await Client.connect(
            settings["ONCEWARD_TEMPORAL_ADDRESS"], namespace=settings["ONCEWARD_TEMPORAL_NAMESPACE"]
        )
        owner = Database(stack.dsn("onceward_owner"), application_name="tests")
        running = cls(stack, temporal, owner)
        try:
            yield running
        finally:
            await running.door.aclose()
            await running.provider.close()
            await owner.close()

    # -- agents

    def token(
        self,
        *,
        subject: str = "user-17",
        tenant: str = "tenant-a",
        roles: Sequence[str] = ("support",),
        agent: str = "support-agent",
        **more: Any,
    ) -> str:
        """A bearer token; `more` goes to `worker.dev.issuer.mint` (`seconds`, `scopes`, `audience`, `issuer` …)."""
        trust = self.stack.environment("issuer")
        given = {"issuer": trust["ONCEWARD_ISSUER"], "audience": trust["ONCEWARD_AUDIENCE"]} | more
        keys = self.stack.links.logs.parent / "issuer"
        return mint(keys, subject=subject, tenant=tenant, roles=roles, agent=agent, **given)

    async def turn(
        self,
        *asked: Call,
        surface: str = "anthropic-messages",
        request_id: str = "",
        token: str = "",
        stop: str = "",
        **patience: Any,
    ) -> Reply:
        """Hand in a response with these calls; `patience` is `wait_seconds` and `wait_for`."""
        response = response_with(surface, *asked, response_id=request_id or fresh("response"), stop=stop)
        answer = await self.post({"surface": surface, "response": response, **patience}, token)
        return Reply(answer.status_code, answer.json(), surface)

    async def post(self, body: Json | bytes, token: str = "") -> httpx2.Response:
        """Post a turn's body as it is."""
        headers = {"Authorization": f"Bearer {token or self.token()}", "Content-Type": "application/json"}
        if isinstance(body, bytes):
            return await self.door.post("/v1/turns", content=body, headers=headers)
        return await self.door.post("/v1/turns", json=body, headers=headers)

    async def operation(self, operation_id: str, token: str = "") -> httpx2.Response:
        """Ask the door where an operation stands."""
        headers = {"Authorization": f"Bearer {token or self.token()}"}
        return await self.door.get(f"/v1/operations/{operation_id}", headers=headers)

    # -- people

    @asynccontextmanager
    async def visitor(self, person: str) -> AsyncIterator[Visitor]:
        """That person, signed in to the back office."""
        async with Visitor(self.stack.links.back_office) as visitor:
            await visitor.sign_in(person)
            yield visitor

    async def approve(self, operation_id: str, person: str = "approver-1") -> httpx2.Response:
        """Approve the operation's open question as that person; waits until it is asked."""
        return await self._decide(operation_id, person, "approve", "")

    async def deny(self, operation_id: str, reason: str, person: str = "approver-1") -> httpx2.Response:
        """Deny the operation's open question as that person; waits until it is asked."""
        return await self._decide(operation_id, person, "deny", reason)

    async def _decide(self, operation_id: str, person: str, choice: str, reason: str) -> httpx2.Response:
        await self.until(operation_id, "awaiting_approval")
        async with self.visitor(person) as visitor:
            return await visitor.decide((await self.approvals(operation_id))[-1].approval_id, choice, reason)

    # -- auditors

    async def until(self, operation_id: str, *states: str, within: float = PATIENCE_SECONDS) -> str:
        """Wait until the stored operation is in one of these states; returns which."""
        return await until(lambda: self.state(operation_id), lambda state: state in states, within)

    async def state(self, operation_id: str) -> str:
        """As stored."""
        rows = await self.rows(select(operations.c.state).where(operations.c.operation_id == operation_id))
        return str(rows[0].state) if rows else "absent"

    async def approvals(self, operation_id: str) -> list[Any]:
        """Rows of the operation's questions, the oldest first."""
        wanted = select(approvals).where(approvals.c.operation_id == operation_id)
        return await self.rows(wanted.order_by(approvals.c.revision))

    async def handler_calls(self, operation_id: str) -> int:
        """How often a handler was called for the operation."""
        return len(await self.rows(select(handler_calls).where(handler_calls.c.operation_id == operation_id)))

    async def operations_of(self, request_id: str) -> list[str]:
        """Ids of the operations that came of a response."""
        wanted = select(calls.c.operation_id).where(calls.c.request_id == request_id)
        return [row.operation_id for row in await self.rows(wanted) if row.operation_id]

    async def trace(self, tenant: str) -> Trace:
        """What the tenant has left in the database and in Temporal."""
        mine = await self.rows(select(operations.c.operation_id).where(operations.c.tenant == tenant))
        called = select(func.count()).join_from(handler_calls, operations).where(operations.c.tenant == tenant)
        asked = select(func.count()).select_from(approvals).where(approvals.c.tenant == tenant)
        running = [await self.has_workflow(row.operation_id) for row in mine]
        return Trace(len(mine), sum(running), await self._count(asked), await self._count(called))

    async def has_workflow(self, operation_id: str) -> bool:
        """Whether a workflow was ever started for the operation."""
        listed = self.temporal.list_workflows(f"WorkflowId = '{operation_id}'", limit=1)
        return [each async for each in listed] != []

    async def rows(self, statement: Any) -> list[Any]:
        """What the owner of the tables sees."""
        async with self.owner.transaction() as connection:
            return list(await connection.execute(statement))

    async def _count(self, statement: Any) -> int:
        (row,) = await self.rows(statement)
        return int(row[0])
