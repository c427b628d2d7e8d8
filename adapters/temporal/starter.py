"""Start-or-attach: however often an operation is started, one workflow carries it."""

from datetime import timedelta
from typing import Any

from temporalio.client import Client
from temporalio.common import (
    ActivityIDConflictPolicy,
    ActivityIDReusePolicy,
    Priority,
    WorkflowIDConflictPolicy,
    WorkflowIDReusePolicy,
)
from temporalio.exceptions import ActivityAlreadyStartedError, WorkflowAlreadyStartedError

from workflows import attributes, contracts
from workflows.domain.intent import digest
from workflows.messages import OperationRef, TurnRef

RPC_TIMEOUT = timedelta(seconds=10)
"""A start or signal that takes longer is left to the relay's next try."""


class TemporalStarter:
    """Fits `adapters.intake.ports.Starter`, and wakes workflows."""

    def __init__(self, client: Client, task_queue: str) -> None:
        self._client, self._task_queue = client, task_queue

    async def start_write(self, operation_id: str, intent_hash: str, tool: str, tenant: str) -> None:
        """Start the operation's workflow, or find it running or done.

        A workflow that failed or was terminated is started again: what it may do is for the claim to say.
        """
        await self._start_operation(operation_id, intent_hash, tool, tenant)

    async def start_turn(self, turn_id: str, ref: TurnRef) -> bool:
        """Start the workflow that keeps the order of a turn's calls, or find it running; False when it is over."""
        found_by = attributes.of_turn(ref.tenant)
        summary = attributes.summary_of_turn(len(ref.reads), len(ref.writes), ref.tenant)
        return await self._start(
            contracts.EXECUTE_TURN,
            turn_id,
            ref,
            search_attributes=found_by,
            static_summary=summary,
            priority=_share_of(ref.tenant),
        )

    async def start_again(self, operation_id: str, intent_hash: str, tool: str, tenant: str) -> None:
        """Start the workflow of an operation that our own database says is open, whatever has become of its last run.

        A run too many looks at the database, finds the end and ends.
        """
        again = WorkflowIDReusePolicy.ALLOW_DUPLICATE
        await self._start_operation(operation_id, intent_hash, tool, tenant, id_reuse_policy=again)

    async def nudge(self, operation_id: str, intent_hash: str, tool: str, tenant: str) -> None:
        """Wake the operation's workflow so that it looks at the database; one that is gone is started again."""
        await self._start_operation(operation_id, intent_hash, tool, tenant, start_signal=contracts.NUDGE)

    async def start_read(self, operation_id: str, intent_hash: str, tool: str, tenant: str) -> None:
        """Start the read as an activity of its own, or find it running or done."""
        call = contracts.CALLS[contracts.READ]
        try:
            await self._client.start_activity(
                contracts.READ,
                OperationRef(operation_id, intent_hash),
                id=operation_id,
                task_queue=self._task_queue,
                start_to_close_timeout=call.start_to_close,
                schedule_to_close_timeout=contracts.READ_DEADLINE,
                heartbeat_timeout=contracts.HEARTBEAT_TIMEOUT,
                retry_policy=call.retry,
                id_conflict_policy=ActivityIDConflictPolicy.USE_EXISTING,
                id_reuse_policy=ActivityIDReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY,
                search_attributes=attributes.of_operation(tool, tenant),
                summary=attributes.summary(tool, tenant),
                priority=_share_of(tenant),
                rpc_timeout=RPC_TIMEOUT,
            )
        except ActivityAlreadyStartedError:
            return

    async def _start_operation(self, operation_id: str, intent_hash: str, tool: str, tenant: str, **more: Any) -> None:
        ref, found_by = OperationRef(operation_id, intent_hash, fast_path=True), attributes.of_operation(tool, tenant)
        shown = {"search_attributes": found_by, "static_summary": attributes.summary(tool, tenant)}
        order = {"priority": _share_of(tenant), **shown, **more}
        await self._start(contracts.EXECUTE_OPERATION, operation_id, ref, **order)

    async def _start(self, workflow: str, workflow_id: str, ref: OperationRef | TurnRef, **more: Any) -> bool:
        """Whether it is running now; False when it has ended before and may not be started again."""
        order = {"id_reuse_policy": WorkflowIDReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY} | more
        try:
            await self._client.start_workflow(
                workflow,
                ref,
                id=workflow_id,
                task_queue=self._task_queue,
                id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
                rpc_timeout=RPC_TIMEOUT,
                **order,
            )
        except WorkflowAlreadyStartedError:
            return False
        return True


def _share_of(tenant: str) -> Priority:
    """Tenants whose work waits for a worker are served in turn, so that none waits behind all that another has asked.

    Steps and children inherit it. A digest, because the server takes 64 bytes and a tenant's name may be longer.
    """
    return Priority(fairness_key=digest(tenant))
