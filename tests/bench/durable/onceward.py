"""Onceward as its callers have it: with a connection of one process, over HTTP, and as a person who decides."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from sqlalchemy import select
from temporalio.client import Client

from adapters.intake.ports import Registered
from adapters.postgres.back_office import PostgresBackOffice
from adapters.postgres.decisions import Wake
from adapters.postgres.engine import Database
from adapters.postgres.tables import approvals
from adapters.temporal.starter import TemporalStarter
from tests.bench.durable.family import APPROVER_ROLE, LOCATE, ROLE, SEND, SEND_APPROVED
from tests.bench.durable.loops import closed_loop
from tests.bench.durable.registering import PACKER, TENANT, Register
from tests.support.plain import PLAIN
from tests.support.proposals import fresh
from tests.support.waiting import until
from worker.dev.issuer import mint
from worker.dev.layout import TASK_QUEUE
from worker.dev.stack import Stack
from workflows.domain.approval import Choice
from workflows.domain.principal import Principal
from workflows.messages import Ending

APPROVER = Principal(TENANT, "approver-1", frozenset({APPROVER_ROLE}))
AT_ONCE = 8
"""So many are proposed side by side where that is not timed."""
PATIENCE_SECONDS = 120.0


class Onceward:
    """Each method is one call of a contestant; it raises when the call does not come to success."""

    def __init__(self, client: Client, door: Database, http: httpx2.AsyncClient) -> None:
        self.client, self.register = client, Register(door)
        self._door, self._http = door, http
        self._starter = TemporalStarter(client, TASK_QUEUE)
        self._back_office = PostgresBackOffice(door, self._wake)
        self._waiting: deque[Any] = deque()

    @classmethod
    @asynccontextmanager
    async def connected(cls, stack: Stack) -> AsyncIterator["Onceward"]:
        """With its connections, as many as there are callers."""
        settings = stack.environment("worker")
        client = await Client.connect(
            settings["ONCEWARD_TEMPORAL_ADDRESS"], namespace=settings["ONCEWARD_TEMPORAL_NAMESPACE"]
        )
        door = Database(stack.dsn("onceward_door"), application_name="bench", pool_size=16)
        headers = {"Authorization": f"Bearer {_token(stack)}"}
        try:
            async with httpx2.AsyncClient(base_url=stack.links.door, headers=headers, timeout=90, verify=PLAIN) as http:
                yield cls(client, door, http)
        finally:
            await door.close()

    async def write(self) -> str:
        """A write that passes unasked; returns its workflow."""
        call = await self._started(SEND.name)
        return await self._ended(call.operation_id or "")

    async def write_over_http(self) -> None:
        """The same through the door."""
        call_id = fresh("call")
        block = {"type": "tool_use", "id": call_id, "name": SEND.name, "input": {"parcel_id": fresh("P")}}
        response = {"id": fresh("response"), "role": "assistant", "content": [block], "stop_reason": "tool_use"}
        body = {"surface": "anthropic-messages", "response": response, "wait_seconds": 60}
        answer = (await self._http.post("/v1/turns", json=body)).raise_for_status().json()
        _require_success("over HTTP", answer["results"][0]["status"])

    async def let_wait(self, number: int) -> None:
        """Have so many writes wait for a person."""
        proposed = set[str]()

        async def propose() -> None:
            proposed.add((await self._started(SEND_APPROVED.name)).operation_id or "")

        await closed_loop(propose, AT_ONCE, number)
        asked = await until(lambda: self._questions(proposed), lambda seen: len(seen) == number, PATIENCE_SECONDS)
        self._waiting = deque(asked)

    async def approve(self) -> str:
        """Say yes to one of those that wait, and see it done; returns its workflow."""
        asked = self._waiting.popleft()
        await self._back_office.decide(
            APPROVER, asked.approval_id, Choice.APPROVE, "", asked.revision, asked.intent_hash
        )
        return await self._ended(asked.operation_id)

    async def read(self) -> None:
        """One read."""
        await self._read(await self.register.one(LOCATE.name))

    async def three_reads(self) -> None:
        """Three reads of one response."""
        await asyncio.gather(*map(self._read, await self.register.some(LOCATE.name, 3)))

    async def _started(self, tool: str) -> Registered:
        call = await self.register.one(tool)
        await self._starter.start_write(call.operation_id or "", call.intent_hash, tool, PACKER.tenant)
        return call

    async def _ended(self, operation_id: str) -> str:
        ending = await self.client.get_workflow_handle(operation_id, result_type=Ending).result()
        _require_success("a write", ending.state)
        return operation_id

    async def _read(self, call: Registered) -> None:
        operation_id = call.operation_id or ""
        await self._starter.start_read(operation_id, call.intent_hash, LOCATE.name, PACKER.tenant)
        ending = await self.client.get_activity_handle(operation_id, result_type=Ending).result()
        _require_success("a read", ending.state)

    async def _questions(self, proposed: set[str]) -> list[Any]:
        asked = select(approvals).where(approvals.c.state == "pending")
        async with self._door.transaction() as connection:
            return [row for row in await connection.execute(asked) if row.operation_id in proposed]

    async def _wake(self, wake: Wake) -> None:
        await self._starter.nudge(wake.operation_id, **wake.named())


def _token(stack: Stack) -> str:
    trust = stack.environment("issuer")
    return mint(
        stack.links.logs.parent / "issuer",
        issuer=trust["ONCEWARD_ISSUER"],
        audience=trust["ONCEWARD_AUDIENCE"],
        subject=PACKER.subject,
        tenant=TENANT,
        roles=[ROLE],
        agent=PACKER.agent,
    )


def _require_success(what: str, state: str) -> None:
    if state != "succeeded":
        raise RuntimeError(f"{what} ended as {state}")
