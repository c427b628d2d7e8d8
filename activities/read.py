"""A read, run once for one call. It changes nothing, so it needs no claim and no workflow."""

import asyncio
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError
from temporalio import activity

from activities.inspection import static_verdicts
from activities.loading import load_as_meant
from activities.ports import Journal, Operations, Tools
from activities.step import step
from workflows import contracts
from workflows.domain.arguments import validated
from workflows.domain.authorization import Authorizer
from workflows.domain.errors import ERRORS, CallRefused
from workflows.domain.gate import first_refusal
from workflows.domain.lifecycle import ENDS, State
from workflows.domain.operation import Operation, Settlement
from workflows.messages import Ending, OperationRef


class Read:
    """Runs a read tool behind the same gate as a write, and stores what it found."""

    def __init__(self, operations: Operations, journal: Journal, tools: Tools, authorizer: Authorizer) -> None:
        self._operations, self._journal, self._tools, self._authorizer = operations, journal, tools, authorizer

    @activity.defn(name=contracts.READ)
    async def read(self, ref: OperationRef) -> Ending:
        """Read and settle; the data stay in the database, the history gets the ending's code."""
        async with step():
            operation = await load_as_meant(self._operations, ref)
            if operation.state in ENDS:
                return Ending(operation.state.value, operation.code)
            stored = await self._operations.settle(operation.operation_id, await self._outcome(operation))
            return Ending(stored.state.value, stored.code)

    async def _outcome(self, operation: Operation) -> Settlement:
        refusal = first_refusal(
            static_verdicts(operation, self._tools.reader(operation.tool).contract, self._authorizer)
        )
        if refusal is not None and refusal.code is not None:
            return Settlement(State.FAILED_TERMINAL, refusal.code, refusal.details)
        try:
            return Settlement(State.SUCCEEDED, data=await self._run(operation))
        except CallRefused as refused:
            if (
                ERRORS[refused.code].retryable
                and activity.info().attempt < contracts.CALLS[contracts.READ].retry.maximum_attempts
            ):
                raise
            return Settlement.failed_with(refused.code, refused.details)

    async def _run(self, operation: Operation) -> Mapping[str, Any]:
        tool = self._tools.reader(operation.tool)
        entry = await self._journal.began(operation, 0)
        outcome = "raised"
        try:
            async with asyncio.timeout(tool.contract.limits.attempt_seconds):
                data = await tool.read(validated(tool.contract, operation.arguments), operation.principal)
            outcome = "answered"
        except TimeoutError:
            raise CallRefused("upstream_unavailable") from None
        except CallRefused:
            outcome = "refused"
            raise
        finally:
            await self._journal.ended(entry, outcome)
        try:
            return tool.contract.result.model_validate(data).model_dump(mode="json")
        except ValidationError:
            raise CallRefused("upstream_unavailable") from None
