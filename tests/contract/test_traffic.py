"""What an operation costs PostgreSQL: every transaction, statement and wait for an answer on its way is counted."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

import pytest

from adapters.intake.ports import Turn
from adapters.postgres.approvals import PostgresApprovals
from adapters.postgres.claims import PostgresClaims
from adapters.postgres.engine import Database
from adapters.postgres.inbox import PostgresInbox
from adapters.postgres.journal import PostgresJournal
from adapters.postgres.operations import PostgresOperations
from adapters.postgres.progress import PostgresProgress
from adapters.postgres.spendings import PostgresSpendings
from tests.support.acts import ATTEMPT_SECONDS, LEASE_SECONDS, binding_of
from tests.support.proposals import CALLER, fresh, lookup, refund, turn_of
from tests.support.traffic import Wire, listened_to
from worker.dev.stack import Stack
from workflows.domain.approval import Clearance
from workflows.domain.effect import Effect
from workflows.domain.gate import Layer, Verdict
from workflows.domain.impact import Money
from workflows.domain.lifecycle import State
from workflows.domain.operation import Settlement

T = TypeVar("T")

UNTIL_PREPARED = 8
"""After so many times every statement has been prepared, which costs a wait of its own once for each connection."""

PASSED = tuple(map(Verdict, (Layer.BUSINESS, Layer.AUTHORIZATION, Layer.RISK)))
MADE = Effect.applied("rf-204", {"refund_id": "rf-204", "amount": 12_000})

THE_REFUND = {
    "register": (1, 9, 2),
    "load": (1, 1, 1),
    "reserve": (1, 4, 2),
    "question": (1, 1, 1),
    "clear": (1, 5, 1),
    "acquire": (1, 6, 3),
    "handler begins": (1, 2, 2),
    "send begins": (1, 1, 1),
    "handler ends": (1, 1, 1),
    "conclude": (1, 3, 3),
    "claims": (1, 1, 1),
    "settle": (1, 5, 3),
    "answer": (1, 1, 1),
}
"""Transactions, statements and waits for the server, of each step of a refund that nobody has to approve."""

THE_READ = {
    "register": (1, 7, 2),
    "load": (1, 1, 1),
    "handler begins": (1, 4, 2),
    "handler ends": (1, 1, 1),
    "settle": (1, 8, 3),
    "answer": (1, 1, 1),
}
"""The same of a look-up."""

THE_SAME_AGAIN = {"register": (1, 4, 3), "answer": (1, 1, 1)}
"""The same of a response that is handed in once more."""


@dataclass
class House:
    """A door and a worker with one connection each, and what each step of an operation has cost them."""

    door: Database
    worker: Database
    wires: tuple[Wire, Wire]
    costs: dict[str, tuple[int, ...]] = field(default_factory=dict)

    async def step(self, name: str, step: Awaitable[T]) -> T:
        door, worker = self.wires
        async with door.counted() as there, worker.counted() as here:
            result = await step
        self.costs[name] = tuple(a + b for a, b in zip(there, here, strict=True))
        return result

    async def registered(self, turn: Turn) -> str:
        (found,) = await self.step("register", PostgresInbox(self.door).register(turn))
        assert found.operation_id is not None
        return found.operation_id

    async def refund(self) -> dict[str, tuple[int, ...]]:
        """A refund that nobody has to approve, from the door to the answer."""
        operations, claims = PostgresOperations(self.worker), PostgresClaims(self.worker)
        journal = PostgresJournal(self.worker)
        approvals, spendings = PostgresApprovals(self.worker), PostgresSpendings(self.worker)
        operation_id = await self.registered(turn_of(refund(order_id=fresh("O"))))
        operation = await self.step("load", operations.load(operation_id))
        await self.step("reserve", spendings.reserve(operation, Money(12_000, "KRW"), 600.0))
        assert await self.step("question", approvals.latest(operation_id)) is None
        await self.step("clear", operations.record(operation, PASSED, Clearance(binding_of(operation))))
        claim = await self.step("acquire", claims.acquire(operation_id, "owner-1", LEASE_SECONDS))
        entry = await self.step("handler begins", journal.began(operation, claim.generation))
        await self.step("send begins", claims.begin_send(claim, ATTEMPT_SECONDS))
        await self.step("handler ends", journal.ended(entry, "applied"))
        await self.step("conclude", claims.conclude(claim, MADE))
        await self.step("claims", claims.items(operation_id))
        await self.step("settle", operations.settle(operation_id, Settlement(State.SUCCEEDED, data=MADE.data)))
        await self.answer(operation_id)
        return self.costs

    async def look_up(self) -> dict[str, tuple[int, ...]]:
        """A read, from the door to the answer."""
        operations, journal = PostgresOperations(self.worker), PostgresJournal(self.worker)
        operation_id = await self.registered(turn_of(lookup()))
        operation = await self.step("load", operations.load(operation_id))
        entry = await self.step("handler begins", journal.began(operation, 0))
        await self.step("handler ends", journal.ended(entry, "answered"))
        ending = Settlement(State.SUCCEEDED, data={"status": "paid"}, verdicts=PASSED)
        await self.step("settle", operations.settle(operation_id, ending))
        await self.answer(operation_id)
        return self.costs

    async def again(self) -> dict[str, tuple[int, ...]]:
        """A response that was handed in before."""
        turn = turn_of(refund(order_id=fresh("O")))
        first = await self.registered(turn)
        assert await self.registered(turn) == first
        await self.answer(first, State.PROPOSED)
        return self.costs

    async def answer(self, operation_id: str, state: State = State.SUCCEEDED) -> None:
        found = await self.step("answer", PostgresProgress(self.door).standings(CALLER, [operation_id]))
        assert found[operation_id].state is state


@pytest.fixture(scope="module")
async def house(postgres: Stack, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    notes = tmp_path_factory.mktemp("traffic")
    async with (
        listened_to(postgres.dsn("onceward_door"), notes / "door") as (door, at_the_door),
        listened_to(postgres.dsn("onceward_worker"), notes / "worker") as (worker, at_the_worker),
    ):
        yield House(door, worker, (at_the_door, at_the_worker))


@pytest.mark.parametrize(
    ("act", "costs"), [(House.refund, THE_REFUND), (House.look_up, THE_READ), (House.again, THE_SAME_AGAIN)]
)
async def test_an_operation_costs_so_much_and_no_more(
    house: House, act: Callable[[House], Awaitable[dict[str, tuple[int, ...]]]], costs: dict[str, tuple[int, ...]]
) -> None:
    for _ in range(UNTIL_PREPARED):
        await act(house)
    house.costs.clear()
    assert await act(house) == costs


async def test_no_statement_is_written_twice(house: House) -> None:
    """What SQLAlchemy has written once it finds again, whatever the values are."""
    await house.refund()
    written = [set(each.engine.sync_engine._compiled_cache or ()) for each in (house.door, house.worker)]
    await house.refund()
    assert [set(each.engine.sync_engine._compiled_cache or ()) for each in (house.door, house.worker)] == written
