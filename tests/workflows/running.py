"""One operation, carried by a worker whose steps follow a script."""

import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from temporalio.client import WorkflowHandle
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Worker

from tests.support.sandbox import sandbox_of_tests
from tests.workflows.script import Script
from workflows.execute_operation import ExecuteOperation
from workflows.messages import Ending, OperationRef

Handle = WorkflowHandle[ExecuteOperation, Ending]


@asynccontextmanager
async def running(environment: WorkflowEnvironment, script: Script, *, fast_path: bool = True) -> AsyncIterator[Handle]:
    """Start one operation, as doors do unless something is said, and serve it until the block ends."""
    operation_id = f"op_{uuid.uuid4().hex}"
    ref = OperationRef(operation_id, "hash", fast_path=fast_path)
    async with Worker(
        environment.client,
        task_queue=operation_id,
        workflows=[ExecuteOperation],
        activities=script.activities(),
        workflow_runner=sandbox_of_tests(),
        workflow_failure_exception_types=[Exception],
        # A machine that is busy with other tests is slow, and that is no deadlock.
        debug_mode=True,
    ):
        yield await environment.client.start_workflow(
            ExecuteOperation.run, ref, id=operation_id, task_queue=operation_id
        )
