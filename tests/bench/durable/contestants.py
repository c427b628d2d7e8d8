"""Who takes part: each is a name, a sentence, and a way to be called by so many callers."""

import asyncio
import json
import secrets
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import httpx2
from sqlalchemy import text

from adapters.postgres.engine import Database
from tests.bench.durable import plain_workflows as plain
from tests.bench.durable.family import SEND
from tests.bench.durable.house import House
from tests.bench.durable.loops import closed_loop
from tests.bench.durable.onceward import Onceward
from tests.bench.durable.steps import Steps
from workflows import contracts

EMPTY: Final = "empty workflow"
NOTHING: Final = "empty activity"
OPERATION: Final = "Onceward write"
DOOR: Final = "Onceward write over HTTP"
APPROVED: Final = "Onceward write with approval"
READ: Final = "Onceward read"
READS: Final = "Onceward turn of three reads"
NAIVE: Final = "five activities"
STEPS: Final = "the five steps alone"
DBOS: Final = "DBOS, five steps"
RESTATE: Final = "Restate, five steps"
FLOOR: Final = "PostgreSQL alone"

KEPT: Final = 5
"""So many of a contestant's last histories are read at the end."""


class Contestant(Protocol):
    """What is measured.

    `started_by_relay`: what it registers is for the relay too, which starts Onceward's own workflows once more.
    """

    name: str
    about: str
    started_by_relay: bool

    @property
    def workflows(self) -> Collection[str]:
        """Ids of some whose histories tell of it."""

    async def prepare(self, calls: int) -> None:
        """What is not timed."""

    async def drive(self, callers: int, calls: int) -> list[float]:
        """Be called so often, by so many at once; returns the seconds of each call."""


@dataclass
class Local:
    """Called in this process. `call` returns the id of the workflow whose history tells of it, or None."""

    name: str
    about: str
    call: Callable[[], Awaitable[str | None]]
    started_by_relay: bool = False
    before: Callable[[int], Awaitable[None]] | None = None
    workflows: deque[str] = field(default_factory=lambda: deque(maxlen=KEPT))

    async def prepare(self, calls: int) -> None:
        """What the calls find when they come."""
        if self.before is not None:
            await self.before(calls)

    async def drive(self, callers: int, calls: int) -> list[float]:
        """In a closed loop."""

        async def once() -> None:
            workflow = await self.call()
            if workflow is not None:
                self.workflows.append(workflow)

        return await closed_loop(once, callers, calls)


@dataclass
class InItsOwnProcess:
    """Called in the process that runs it, by a closed loop there."""

    name: str
    about: str
    port: int
    started_by_relay: bool = False
    workflows: Sequence[str] = ()

    async def prepare(self, calls: int) -> None:
        """Nothing is to be prepared."""

    async def drive(self, callers: int, calls: int) -> list[float]:
        """Ask that process; raises RuntimeError with what failed there."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, limit=2**24)
        try:
            writer.write(json.dumps({"callers": callers, "calls": calls}).encode() + b"\n")
            told = json.loads(await reader.readline())
        finally:
            writer.close()
        if "failure" in told:
            raise RuntimeError(f"{self.name}: {told['failure']}")
        return list(told["seconds"])


def all_of(
    house: House, onceward: Onceward, steps: Steps, owner: Database, http: httpx2.AsyncClient
) -> list[Contestant]:
    """Everyone, the two baselines first."""
    return [
        *_baselines(onceward),
        Local(OPERATION, "register, start, wait for the workflow's result; nobody is asked", onceward.write, True),
        Local(DOOR, "the same as an agent has it: one POST with a token, and the answer for the model",
              onceward.write_over_http, True),
        Local(APPROVED, "from a person's word to the effect and the workflow's result", onceward.approve, True,
              before=onceward.let_wait),
        Local(READ, "register, start, wait for the result", onceward.read),
        Local(READS, "the same of three reads of one response, side by side", onceward.three_reads),
        Local(NAIVE, "what one writes first: the same five steps, an activity each", _naive(onceward)),
        Local(STEPS, "the same five steps one after the other in one process, which nobody would resume",
              _alone(onceward, steps)),
        InItsOwnProcess(DBOS, "the same five steps as a workflow in the process of its callers", house.ports.dbos),
        Local(RESTATE, "the same five steps as a handler, called through Restate's ingress",
              _restate(house, onceward, http)),
        Local(FLOOR, "one transaction: insert with a key, update, commit; no send, no steps", _floor(owner)),
    ]  # fmt: skip


def _baselines(onceward: Onceward) -> Sequence[Contestant]:
    client = onceward.client

    async def empty() -> str:
        workflow = f"empty-{secrets.token_hex(12)}"
        await client.execute_workflow(plain.EMPTY, id=workflow, task_queue=plain.QUEUE)
        return workflow

    async def nothing() -> None:
        activity = f"nothing-{secrets.token_hex(12)}"
        limit = contracts.CALLS[contracts.READ].start_to_close
        await client.execute_activity(plain.NOTHING, id=activity, task_queue=plain.QUEUE, start_to_close_timeout=limit)

    return [
        Local(EMPTY, "the baseline of the writes: a workflow that begins and ends", empty),
        Local(NOTHING, "the baseline of the reads: an activity by itself that does nothing", nothing),
    ]


def _naive(onceward: Onceward) -> Callable[[], Awaitable[str]]:
    async def write() -> str:
        call = await onceward.register.one(SEND.name)
        workflow = f"naive-{call.operation_id}"
        state = await onceward.client.execute_workflow(
            plain.FIVE, args=[call.operation_id, call.intent_hash], id=workflow, task_queue=plain.QUEUE
        )
        _require_success(NAIVE, state)
        return workflow

    return write


def _alone(onceward: Onceward, steps: Steps) -> Callable[[], Awaitable[None]]:
    async def write() -> None:
        call = await onceward.register.one(SEND.name)
        named = call.operation_id or "", call.intent_hash
        await steps.validate(*named)
        claim = await steps.acquire(named[0])
        effect = await steps.send(*named, claim)
        await steps.conclude(claim, effect)
        _require_success(STEPS, await steps.settle(*named))

    return write


def _restate(house: House, onceward: Onceward, http: httpx2.AsyncClient) -> Callable[[], Awaitable[None]]:
    url = f"http://127.0.0.1:{house.ports.restate}/writes/five"

    async def write() -> None:
        call = await onceward.register.one(SEND.name)
        body = {"operation_id": call.operation_id, "intent_hash": call.intent_hash}
        answer = await http.post(url, json=body, headers={"idempotency-key": call.operation_id or ""})
        _require_success(RESTATE, answer.raise_for_status().json())

    return write


def _floor(owner: Database) -> Callable[[], Awaitable[None]]:
    insert = text("INSERT INTO bench_floor (key, state) VALUES (:key, 'started') ON CONFLICT DO NOTHING")
    update = text("UPDATE bench_floor SET state = 'succeeded', ended_at = now() WHERE key = :key")

    async def write() -> None:
        named = {"key": secrets.token_hex(12)}
        async with owner.transaction() as connection:
            await connection.execute(insert, named)
            await connection.execute(update, named)

    return write


async def furnish(owner: Database) -> None:
    """The table of the floor."""
    async with owner.transaction() as connection:
        await connection.execute(
            text("CREATE TABLE IF NOT EXISTS bench_floor (key text PRIMARY KEY, state text, ended_at timestamptz)")
        )


def _require_success(name: str, state: Any) -> None:
    if state != "succeeded":
        raise RuntimeError(f"{name}: a write ended as {state}")
