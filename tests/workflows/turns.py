"""A turn, carried by a worker whose steps follow a script over all of its operations."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from temporalio import activity
from temporalio.client import WorkflowHandle
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Worker

from tests.support.sandbox import sandbox_of_tests
from workflows import contracts
from workflows.execute_operation import ExecuteOperation
from workflows.execute_turn import ExecuteTurn
from workflows.messages import (
    Ending,
    Followed,
    FollowOrder,
    Judgement,
    OperationRef,
    Report,
    SettleOrder,
    Step,
    TurnEnding,
    TurnRef,
)

Handle = WorkflowHandle[ExecuteTurn, TurnEnding]


class Script:
    """Steps over all operations of a turn. The gate refuses those `refused`; those `parked` wait for a person."""

    def __init__(
        self, refused: Sequence[str] = (), parked: Sequence[str] = (), followed: Sequence[Followed] = ()
    ) -> None:
        self.refused, self.parked, self.follows = refused, set(parked), list(followed)
        self.called: list[tuple[str, str]] = []
        self.reached = asyncio.Event()

    def activities(self) -> list[Any]:
        return [self.validate, self.apply, self.settle, self.read, self.follow]

    @activity.defn(name=contracts.VALIDATE)
    async def validate(self, ref: OperationRef) -> Judgement:
        name = self._called("validate", ref.operation_id)
        if name in self.parked:
            self.reached.set()
            return Judgement(Step.WAIT, "approval_required", 3600.0, "a person")
        return Judgement(Step.SETTLE, "not_found") if name in self.refused else Judgement(Step.GO)

    @activity.defn(name=contracts.APPLY)
    async def apply(self, ref: OperationRef) -> Report:
        self._called("apply", ref.operation_id)
        return Report(Step.SETTLE)

    @activity.defn(name=contracts.SETTLE)
    async def settle(self, order: SettleOrder) -> Ending:
        self._called("settle", order.ref.operation_id)
        return Ending("succeeded" if order.code is None else "failed_terminal", order.code)

    @activity.defn(name=contracts.READ)
    async def read(self, ref: OperationRef) -> Ending:
        if self._called("read", ref.operation_id) in self.refused:
            raise ValueError("no")
        return Ending("succeeded")

    @activity.defn(name=contracts.FOLLOW)
    async def follow(self, order: FollowOrder) -> Followed:
        names = [self._called("follow", operation_id) for operation_id in order.operation_ids]
        self.reached.set()
        return self.follows.pop(0) if self.follows else Followed(["succeeded"] * len(names))

    def _called(self, step: str, operation_id: str) -> str:
        name = operation_id.split(".")[0]
        self.called.append((step, name))
        return name

    def of(self, step: str) -> list[str]:
        return [name for called, name in self.called if called == step]


def refs(*names: str) -> list[OperationRef]:
    run = uuid.uuid4().hex
    return [OperationRef(f"{name}.{run}", "hash") for name in names]


def turn(reads: Sequence[OperationRef] = (), writes: Sequence[OperationRef] = (), **more: Any) -> TurnRef:
    return TurnRef(list(reads), list(writes), ["pay"] * len(writes), "tenant-a", **more)


@asynccontextmanager
async def running(environment: WorkflowEnvironment, script: Script, ref: TurnRef) -> AsyncIterator[Handle]:
    queue = uuid.uuid4().hex
    async with Worker(
        environment.client,
        task_queue=queue,
        workflows=[ExecuteOperation, ExecuteTurn],
        activities=script.activities(),
        workflow_runner=sandbox_of_tests(),
        workflow_failure_exception_types=[Exception],
        # A machine that is busy with other tests is slow, and that is no deadlock.
        debug_mode=True,
    ):
        yield await environment.client.start_workflow(ExecuteTurn.run, ref, id=f"turn_{queue}", task_queue=queue)
