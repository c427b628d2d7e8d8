"""What every operation asks PostgreSQL is found by an index, however many have ended before it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass

import pytest

from adapters.postgres.approvals import PostgresApprovals
from adapters.postgres.claims import PostgresClaims
from adapters.postgres.engine import Database
from adapters.postgres.inbox import PostgresInbox
from adapters.postgres.journal import PostgresJournal
from adapters.postgres.operations import PostgresOperations
from adapters.postgres.outbox import Message, PostgresOutbox
from adapters.postgres.progress import PostgresProgress
from adapters.postgres.spendings import PostgresSpendings
from adapters.postgres.sweep import PostgresSweep
from tests.support.acts import ATTEMPT_SECONDS, LEASE_SECONDS, binding_of
from tests.support.finished import ROWS, plant
from tests.support.plans import read_through, rows_read, statements_of
from tests.support.proposals import CALLER, fresh, refund, turn_of
from worker.dev.stack import Stack
from workflows.domain.approval import Clearance
from workflows.domain.claim import Claim
from workflows.domain.effect import Effect
from workflows.domain.gate import Layer, Verdict
from workflows.domain.impact import Money
from workflows.domain.lifecycle import State
from workflows.domain.operation import Operation, Settlement

ENDED = 20_000
A_FEW = 100.0
"""Rows: of one operation, or of a batch of those that are open."""

MADE = Effect.applied("rf-204", {"refund_id": "rf-204"})
LARGE = frozenset(ROWS)


@dataclass
class Crowded:
    """A database in which very many operations have ended, and each process's connection to it."""

    door: Database
    worker: Database
    relay: Database

    async def operation(self) -> Operation:
        (registered,) = await PostgresInbox(self.door).register(turn_of(refund(order_id=fresh("O"))))
        return await PostgresOperations(self.worker).load(registered.operation_id or "")

    async def cleared(self) -> Operation:
        operation = await self.operation()
        clearance = Clearance(binding_of(operation))
        await PostgresOperations(self.worker).record(operation, [Verdict(Layer.RISK)], clearance)
        return operation

    async def claimed(self) -> Claim:
        operation = await self.cleared()
        return await PostgresClaims(self.worker).acquire(operation.operation_id, "owner-1", LEASE_SECONDS)

    async def made(self) -> Claim:
        claim = await self.claimed()
        await PostgresClaims(self.worker).begin_send(claim, ATTEMPT_SECONDS)
        await PostgresClaims(self.worker).conclude(claim, MADE)
        return claim


@pytest.fixture(scope="module")
async def crowded(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Crowded]:
    async with AsyncExitStack() as stack:
        postgres = await stack.enter_async_context(
            Stack(tmp_path_factory.mktemp("crowded"), only={"postgres", "migrate"}, restart=False)
        )
        await asyncio.to_thread(plant, postgres.dsn("postgres", "onceward"), ENDED, lambda _: None)
        opened = [
            Database(postgres.dsn(f"onceward_{role}"), application_name="tests", pool_size=2)
            for role in ("door", "worker", "relay")
        ]
        for database in opened:
            stack.push_async_callback(database.close)
        yield Crowded(*opened)


Work = Callable[[], Awaitable[object]]
Asked = tuple[Database, Work]


async def register(crowded: Crowded) -> Asked:
    return crowded.door, lambda: PostgresInbox(crowded.door).register(turn_of(refund(order_id=fresh("O"))))


async def register_again(crowded: Crowded) -> Asked:
    turn = turn_of(refund(order_id=fresh("O")))
    await PostgresInbox(crowded.door).register(turn)
    return crowded.door, lambda: PostgresInbox(crowded.door).register(turn)


async def load(crowded: Crowded) -> Asked:
    operation = await crowded.operation()
    return crowded.worker, lambda: PostgresOperations(crowded.worker).load(operation.operation_id)


async def reserve(crowded: Crowded) -> Asked:
    operation = await crowded.operation()
    return crowded.worker, lambda: PostgresSpendings(crowded.worker).reserve(operation, Money(12_000, "KRW"), 600.0)


async def ask_for_the_question(crowded: Crowded) -> Asked:
    operation = await crowded.operation()
    return crowded.worker, lambda: PostgresApprovals(crowded.worker).latest(operation.operation_id)


async def clear(crowded: Crowded) -> Asked:
    operation = await crowded.operation()
    clearance = Clearance(binding_of(operation))
    verdicts = [Verdict(Layer.RISK)]
    return crowded.worker, lambda: PostgresOperations(crowded.worker).record(operation, verdicts, clearance)


async def acquire(crowded: Crowded) -> Asked:
    operation = await crowded.cleared()
    claims = PostgresClaims(crowded.worker)
    return crowded.worker, lambda: claims.acquire(operation.operation_id, "owner-1", LEASE_SECONDS)


async def begin_a_handler_call(crowded: Crowded) -> Asked:
    operation = await crowded.operation()
    return crowded.worker, lambda: PostgresJournal(crowded.worker).began(operation, 1)


async def begin_a_send(crowded: Crowded) -> Asked:
    claim = await crowded.claimed()
    return crowded.worker, lambda: PostgresClaims(crowded.worker).begin_send(claim, ATTEMPT_SECONDS)


async def conclude(crowded: Crowded) -> Asked:
    claim = await crowded.claimed()
    await PostgresClaims(crowded.worker).begin_send(claim, ATTEMPT_SECONDS)
    return crowded.worker, lambda: PostgresClaims(crowded.worker).conclude(claim, MADE)


async def look_at_the_claims(crowded: Crowded) -> Asked:
    claim = await crowded.claimed()
    return crowded.worker, lambda: PostgresClaims(crowded.worker).items(claim.operation_id)


async def settle(crowded: Crowded) -> Asked:
    claim = await crowded.made()
    ending = Settlement(State.SUCCEEDED, data=MADE.data)
    return crowded.worker, lambda: PostgresOperations(crowded.worker).settle(claim.operation_id, ending)


async def settle_a_refusal(crowded: Crowded) -> Asked:
    operation = await crowded.operation()
    ending = Settlement.failed_with("permission_denied")
    return crowded.worker, lambda: PostgresOperations(crowded.worker).settle(operation.operation_id, ending)


async def answer(crowded: Crowded) -> Asked:
    operation = await crowded.operation()
    return crowded.door, lambda: PostgresProgress(crowded.door).standings(CALLER, [operation.operation_id])


async def sweep(crowded: Crowded) -> Asked:
    await crowded.operation()
    return crowded.relay, lambda: PostgresSweep(crowded.relay).next(20)


async def drain(crowded: Crowded) -> Asked:
    await crowded.operation()
    return crowded.relay, lambda: PostgresOutbox(crowded.relay).drain(taken)


async def tell_of_events(crowded: Crowded) -> Asked:
    claim = await crowded.made()
    ending = Settlement(State.SUCCEEDED, data=MADE.data)
    await PostgresOperations(crowded.worker).settle(claim.operation_id, ending)
    return crowded.relay, lambda: PostgresOutbox(crowded.relay).tell()


async def taken(message: Message) -> None:
    """Whoever gets it is content."""


WORKS = (
    register, register_again, load, reserve, ask_for_the_question, clear, acquire, begin_a_handler_call, begin_a_send,
    conclude, look_at_the_claims, settle, settle_a_refusal, answer, sweep, drain, tell_of_events,
)  # fmt: skip


@pytest.mark.parametrize("work", WORKS, ids=lambda work: work.__name__)
async def test_it_reads_no_more_when_very_many_have_ended(
    work: Callable[[Crowded], Awaitable[Asked]], crowded: Crowded
) -> None:
    database, do = await work(crowded)
    asked = [each for each in await statements_of(database, do) if isinstance(each[1], dict)]
    assert asked
    for statement, values in asked:
        assert not await read_through(database, statement, values) & LARGE, statement
        if not statement.lstrip().startswith("INSERT"):
            assert await rows_read(database, statement, values, of=LARGE) < A_FEW, statement
