"""What somebody does in Temporal's console to a workflow that keeps the order of a response's writes."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest
from temporalio.client import Client, WorkflowHandle
from temporalio.service import RPCError

PATIENCE_SECONDS = 15.0
LOOK_SECONDS = 0.1
"""How long it is looked for one that is at work, and how often."""

AT_WORK = "WorkflowType = 'onceward.ExecuteTurn' AND ExecutionStatus = 'Running'"

Handle = WorkflowHandle[Any, Any]
Act = Callable[[Client, Handle], Awaitable[bool]]
"""Says whether it could be done."""


class Console:
    """Acts on whichever is at work. Nothing here takes the server for granted: it may be gone at any moment."""

    def __init__(self, temporal: Client) -> None:
        self._temporal = temporal

    async def act(self, kind: str) -> bool:
        """Do it to one of them; False when there was none for as long as patience lasts."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            try:
                async for each in self._temporal.list_workflows(AT_WORK):
                    turn = self._temporal.get_workflow_handle(each.id, run_id=each.run_id)
                    if await ACTS[kind](self._temporal, turn):
                        return True
            except RPCError:
                # It has closed meanwhile, or the server is away.
                pass
            await asyncio.sleep(LOOK_SECONDS)
        return False


async def _terminate(_: Client, turn: Handle) -> bool:
    await turn.terminate("a test")
    return True


async def _cancel(_: Client, turn: Handle) -> bool:
    await turn.cancel()
    return True


async def _reset(temporal: Client, turn: Handle) -> bool:
    """To its first step: everything that it has done by now is put to the server once more."""
    events = (await turn.fetch_history()).events
    steps = [each.event_id for each in events if each.HasField("workflow_task_completed_event_attributes")]
    if not steps:
        return False
    await temporal.workflow_service.reset_workflow_execution(
        ResetWorkflowExecutionRequest(
            namespace=temporal.namespace,
            workflow_execution=WorkflowExecution(workflow_id=turn.id, run_id=turn.run_id or ""),
            reason="a test",
            workflow_task_finish_event_id=steps[0],
            request_id=f"{turn.id}-{time.monotonic_ns()}",
        )
    )
    return True


ACTS: dict[str, Act] = {"terminate a turn": _terminate, "cancel a turn": _cancel, "reset a turn": _reset}
