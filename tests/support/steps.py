"""The activities over the fakes, around one tool that does as it is told and counts how often it was asked."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, TypeVar

from temporalio.testing import ActivityEnvironment

from activities.apply import Apply
from activities.read import Read
from activities.reconcile import Reconcile
from activities.settle import Settle
from activities.validate import Validate
from tests.support.acts import ATTEMPT_SECONDS, IMPACT, cleared
from tests.support.benches import MemoryBench
from tests.support.proposals import AUTHORIZER, CATALOG
from workflows.domain.authorization import Admit, Authorizer
from workflows.domain.claim import Evidence
from workflows.domain.contract import Contract
from workflows.domain.effect import Dispatch, Effect
from workflows.domain.errors import CallRefused
from workflows.domain.impact import Inspection, Resource
from workflows.domain.operation import Operation
from workflows.domain.policy import Policy
from workflows.domain.principal import Principal
from workflows.messages import Ending, Judgement, OperationRef, Report, SettleOrder, Step

Answer = TypeVar("Answer")

GO = Judgement(Step.GO, swift=True)
"""What the gate says of a refund that may be made now."""

REFUND_DATA = {"refund_id": "rf-1", "status": "completed", "order_id": "O-17", "amount": 12_000, "currency": "KRW"}
ORDER_DATA = {
    "order_id": "O-17",
    "currency": "KRW",
    "paid": 12_000,
    "refunded": 0,
    "refundable": 12_000,
    "observed_at": "2026-01-01T00:00:00Z",
}
REFUNDED = Effect.applied("rf-1", REFUND_DATA)
BUSY = Effect.rejected("rate_limited", retryable=True)
CONSUMED = Effect.rejected("quote_consumed")

ENOUGH = {"KRW": 1_000_000}
LENIENT = Policy("policy-1", ENOUGH, ENOUGH, ENOUGH)
STRICT = Policy("policy-1")


def shipped(name: str, **changed: Any) -> Contract:
    """A contract of the catalog, changed where a test says so."""
    contract = CATALOG.find(name)
    assert contract is not None
    return replace(contract, **changed)


async def nothing() -> None:
    """What happens while a tool works, unless a test says otherwise."""


async def silence() -> None:
    """A downstream that has taken the request and never answers."""
    await asyncio.Event().wait()


@dataclass
class Till:
    """Writes. Each answer is given once, the last one for ever; an exception is raised."""

    contract: Contract = field(default_factory=lambda: shipped("refund_payment"))
    sees: Inspection | Exception = field(default_factory=lambda: Inspection(IMPACT))
    answers: list[Effect | Exception] = field(default_factory=lambda: [REFUNDED])
    finds: Effect | Exception | None = None
    meanwhile: Callable[[], Awaitable[None]] = nothing
    inspections: int = 0
    looks: int = 0
    sent: list[Dispatch] = field(default_factory=list)

    async def inspect(self, arguments: Any, principal: Principal) -> Inspection:
        self.inspections += 1
        return _given(self.sees)

    async def apply(self, arguments: Any, dispatch: Dispatch) -> Effect:
        self.sent.append(dispatch)
        await self.meanwhile()
        return _given(self.answers.pop(0) if len(self.answers) > 1 else self.answers[0])

    async def look_up(self, arguments: Any, dispatch: Dispatch) -> Effect | None:
        self.looks += 1
        await self.meanwhile()
        return None if self.finds is None else _given(self.finds)


@dataclass
class Archivist:
    """Reads, asks about what it `finds`, if anything, and gives the same answer each time; an exception is raised."""

    contract: Contract = field(default_factory=lambda: shipped("get_order"))
    answer: Mapping[str, Any] | Exception = field(default_factory=lambda: ORDER_DATA)
    finds: Resource | None = IMPACT.resource
    meanwhile: Callable[[], Awaitable[None]] = nothing
    reads: int = 0

    async def read(self, arguments: Any, principal: Principal, admit: Admit) -> Mapping[str, Any]:
        self.reads += 1
        if self.finds is not None:
            admit(self.finds)
        await self.meanwhile()
        return _given(self.answer)


@dataclass
class Toolbox:
    """A deployment of one tool that writes and one that reads."""

    till: Till
    archivist: Archivist

    def writer(self, name: str) -> Till:
        if name != self.till.contract.name:
            raise CallRefused("unknown_tool")
        return self.till

    def reader(self, name: str) -> Archivist:
        if name != self.archivist.contract.name:
            raise CallRefused("unknown_tool")
        return self.archivist


class Stage(MemoryBench):
    """The fakes, the tools and the activities that play on them."""

    def __init__(self, policy: Policy = LENIENT) -> None:
        super().__init__()
        self.till, self.archivist = Till(), Archivist()
        self.policy = policy
        self.authorizer: Authorizer = AUTHORIZER
        self._tools = Toolbox(self.till, self.archivist)
        self._owners: Iterator[int] = count(1)

    def plays(self, till: Till) -> None:
        """Another tool that writes takes the stage."""
        self.till = till
        self._tools = Toolbox(self.till, self.archivist)

    async def validate(self, operation: Operation, intent_hash: str = "") -> Judgement:
        ports = (self.operations, self.approvals, self.claims, self.spendings, self._tools)
        step = Validate(*ports, self.authorizer, self.policy)
        return await self._environment().run(step.validate, ref_of(operation, intent_hash))

    async def apply(self, operation: Operation, intent_hash: str = "") -> Report:
        step = Apply(self.operations, self.claims, self.journal, self._tools, lambda: f"owner-{next(self._owners)}")
        return await self._environment().run(step.apply, ref_of(operation, intent_hash))

    async def reconcile(self, operation: Operation) -> Report:
        step = Reconcile(self.operations, self.claims, self.resolutions, self._tools)
        return await self._environment().run(step.reconcile, ref_of(operation))

    async def settle(self, operation: Operation, code: str | None = None, intent_hash: str = "") -> Ending:
        step = Settle(self.operations, self.claims, self._tools)
        return await self._environment().run(step.settle, SettleOrder(ref_of(operation, intent_hash), code))

    async def read(self, operation: Operation, attempt: int = 1, intent_hash: str = "") -> Ending:
        step = Read(self.operations, self.journal, self._tools, self.authorizer)
        return await self._environment(attempt).run(step.read, ref_of(operation, intent_hash))

    async def evidence(self, operation: Operation) -> Evidence:
        """What is on record of an operation that was claimed."""
        found = await self.claims.evidence(operation.operation_id)
        assert found is not None
        return found

    def taken_over(self, operation: Operation) -> Callable[[], Awaitable[None]]:
        """Somebody else takes the claim."""

        async def take() -> None:
            held = self.world.claims[operation.operation_id]
            held.owner, held.generation = "successor", held.generation + 1

        return take

    def _environment(self, attempt: int = 1) -> ActivityEnvironment:
        environment = ActivityEnvironment()
        environment.info = replace(environment.info, attempt=attempt)
        return environment


async def sent(stage: Stage, effect: Effect) -> Operation:
    """A refund that was sent once, with what came of it."""
    operation = await cleared(stage)
    claim = await stage.claims.acquire(operation.operation_id, "owner-0", 12.0)
    await stage.claims.begin_send(claim, ATTEMPT_SECONDS)
    await stage.claims.conclude(claim, effect)
    return await stage.operations.load(operation.operation_id)


def ref_of(operation: Operation, intent_hash: str = "") -> OperationRef:
    return OperationRef(operation.operation_id, intent_hash or operation.intent_hash)


def _given(answer: Answer | Exception) -> Answer:
    if isinstance(answer, Exception):
        raise answer
    return answer
