"""The acts that Temporal's console and command line offer on the workflow of an operation."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from temporalio.api.activity.v1 import ActivityOptions
from temporalio.api.common.v1 import Payload, Payloads, RetryPolicy, WorkflowExecution
from temporalio.api.failure.v1 import ApplicationFailureInfo, Failure
from temporalio.api.workflow.v1 import PendingActivityInfo
from temporalio.api.workflowservice.v1 import (
    DeleteWorkflowExecutionRequest,
    PauseActivityRequest,
    ResetActivityRequest,
    ResetWorkflowExecutionRequest,
    RespondActivityTaskCompletedByIdRequest,
    RespondActivityTaskFailedByIdRequest,
    SignalWorkflowExecutionRequest,
    UnpauseActivityRequest,
    UpdateActivityOptionsRequest,
)
from temporalio.client import WorkflowExecutionDescription, WorkflowExecutionStatus, WorkflowHandle
from temporalio.converter import default
from temporalio.service import RPCError, RPCStatusCode, WorkflowService

from adapters.postgres.tables import operations
from tests.support.parked import Parked
from tests.support.proposals import fresh
from tests.support.waiting import until
from workflows import contracts
from workflows.messages import OperationRef, Report, Step

Handle = WorkflowHandle[object, object]


@dataclass(frozen=True)
class Console:
    """One operation's workflow, as whoever may use the console has it before them."""

    parked: Parked

    @property
    def name(self) -> str:
        return self.parked.operation_id

    @property
    def namespace(self) -> str:
        return self.parked.onceward.temporal.namespace

    @property
    def service(self) -> WorkflowService:
        return self.parked.onceward.temporal.workflow_service

    @property
    def execution(self) -> WorkflowExecution:
        return WorkflowExecution(workflow_id=self.name)

    @property
    def handle(self) -> Handle:
        return self.run("")

    def run(self, run_id: str) -> Handle:
        return self.parked.onceward.temporal.get_workflow_handle(self.name, run_id=run_id or None)

    async def this_run(self) -> Handle:
        """The newest run as of now: what a person acts on, whatever is begun after it."""
        return self.run((await self.handle.describe()).run_id or "")

    async def step(self) -> PendingActivityInfo | None:
        """The step that is in flight, or waits to be tried again."""
        pending = (await self.handle.describe()).raw_description.pending_activities
        return pending[0] if pending else None

    async def step_id(self) -> str:
        """Of the step in flight; where there is none, of the first one that ever was."""
        step = await self.step()
        return step.activity_id if step else "1"

    async def attempt(self) -> tuple[str, int] | None:
        """Which step has begun, and when."""
        step = await self.step()
        if step is None or not step.HasField("last_started_time"):
            return None
        return step.activity_id, step.last_started_time.ToNanoseconds()

    async def until_another_attempt_than(self, before: tuple[str, int] | None) -> None:
        """Wait until the step is tried anew, or is over."""
        await until(self.attempt, lambda now: now != before)

    async def workflow_tasks(self) -> list[int]:
        """The events at which a workflow task was completed."""
        events = (await self.handle.fetch_history()).events
        return [event.event_id for event in events if event.HasField("workflow_task_completed_event_attributes")]


async def until_closed(workflow: Handle) -> WorkflowExecutionDescription:
    """Wait until that run (or the newest one) is not at work any more."""
    return await until(workflow.describe, lambda seen: seen.status is not WorkflowExecutionStatus.RUNNING)


# -- on the workflow


async def reset_to_the_first_task(console: Console) -> None:
    await _reset_to(console, (await console.workflow_tasks())[0])


async def reset_to_the_last_task(console: Console) -> None:
    await _reset_to(console, (await console.workflow_tasks())[-1])


async def _reset_to(console: Console, event_id: int) -> None:
    asked = ResetWorkflowExecutionRequest(
        namespace=console.namespace,
        workflow_execution=console.execution,
        reason="a test",
        workflow_task_finish_event_id=event_id,
        request_id=fresh("reset"),
    )
    asked.workflow_execution.run_id = (await console.this_run()).run_id or ""
    await console.service.reset_workflow_execution(asked)


async def terminate(console: Console) -> None:
    await (await console.this_run()).terminate("a test")


async def cancel(console: Console) -> None:
    run = await console.this_run()
    await run.cancel()
    await until_closed(run)


async def delete(console: Console) -> None:
    run = await console.this_run()
    running = (await run.describe()).status is WorkflowExecutionStatus.RUNNING
    this_one = WorkflowExecution(workflow_id=run.id, run_id=run.run_id or "")
    await console.service.delete_workflow_execution(
        DeleteWorkflowExecutionRequest(namespace=console.namespace, workflow_execution=this_one)
    )
    if running:
        # One that had ended goes only seconds later, and nobody waits for it.
        await until(lambda: _is_there(run), lambda there: not there)


async def _is_there(run: Handle) -> bool:
    try:
        await run.describe()
    except RPCError as error:
        return error.status is not RPCStatusCode.NOT_FOUND
    return True


async def start_by_hand(console: Console) -> None:
    wanted = operations.select().where(operations.c.operation_id == console.name)
    (operation,) = await console.parked.onceward.rows(wanted)
    await _start(console, operation.intent_hash)


async def start_by_hand_with_another_meaning(console: Console) -> None:
    await until_closed(await _start(console, "0" * 64))


async def _start(console: Console, intent_hash: str) -> Handle:
    """As `temporal workflow start` does, in the place of the run that is at work."""
    if (await console.handle.describe()).status is WorkflowExecutionStatus.RUNNING:
        await terminate(console)
    temporal, ref = console.parked.onceward.temporal, OperationRef(console.name, intent_hash)
    started = await temporal.start_workflow(contracts.EXECUTE_OPERATION, ref, id=console.name, task_queue="onceward")
    return console.run(started.first_execution_run_id or "")


GARBAGE = (
    Payload(metadata={"encoding": b"no/such"}, data=b"\xff\x00"),
    Payload(metadata={"encoding": b"json/plain"}, data=b'{"approved": true}'),
    Payload(metadata={"encoding": b"json/plain"}, data=b"{"),
)


async def nudge_with_garbage(console: Console) -> None:
    for payload in GARBAGE:
        await console.service.signal_workflow_execution(
            SignalWorkflowExecutionRequest(
                namespace=console.namespace,
                workflow_execution=console.execution,
                signal_name=contracts.NUDGE,
                input=Payloads(payloads=[payload, payload]),
            )
        )


# -- on the step in flight

REPORT = Report(Step.SETTLE, generation=1)
"""As if the effect were on record."""


async def reset_the_step(console: Console) -> None:
    before, step_id = await console.attempt(), await console.step_id()
    await console.service.reset_activity(
        ResetActivityRequest(namespace=console.namespace, execution=console.execution, id=step_id)
    )
    await console.until_another_attempt_than(before)


async def pause_the_step_and_let_it_go_on(console: Console) -> None:
    step_id = await console.step_id()
    await console.service.pause_activity(
        PauseActivityRequest(namespace=console.namespace, execution=console.execution, id=step_id)
    )
    await until(console.step, lambda step: step is None or not step.HasField("last_started_time") or step.paused)
    await console.service.unpause_activity(
        UnpauseActivityRequest(
            namespace=console.namespace, execution=console.execution, id=step_id, reset_attempts=True
        )
    )


async def allow_the_step_more_attempts(console: Console) -> None:
    asked = UpdateActivityOptionsRequest(
        namespace=console.namespace,
        execution=console.execution,
        id=await console.step_id(),
        activity_options=ActivityOptions(retry_policy=RetryPolicy(maximum_attempts=9)),
    )
    asked.update_mask.paths.append("retry_policy.maximum_attempts")
    await console.service.update_activity_options(asked)


async def say_that_the_step_is_done(console: Console, answer: object = REPORT) -> None:
    result = await default().encode([answer])
    await console.service.respond_activity_task_completed_by_id(
        RespondActivityTaskCompletedByIdRequest(
            namespace=console.namespace,
            workflow_id=console.name,
            activity_id=await console.step_id(),
            result=Payloads(payloads=result),
        )
    )


async def say_that_the_step_has_failed(console: Console) -> None:
    refused = ApplicationFailureInfo(type="downstream_rejected", non_retryable=True)
    await console.service.respond_activity_task_failed_by_id(
        RespondActivityTaskFailedByIdRequest(
            namespace=console.namespace,
            workflow_id=console.name,
            activity_id=await console.step_id(),
            failure=Failure(message="by hand", application_failure_info=refused),
        )
    )


Act = Callable[[Console], Awaitable[None]]
"""Returns when it has taken effect; raises `RPCError` when the server refuses it."""
