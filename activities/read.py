"""A read, run once for one call. It changes nothing, so it needs no claim and no workflow."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from pydantic import ValidationError
from temporalio import activity

from activities.inspection import static_verdicts, verdict_of
from activities.loading import load_as_referred
from activities.ports import Journal, Operations, ReadTool, Tools
from activities.step import is_the_last_attempt, step
from workflows import contracts
from workflows.domain.arguments import validated
from workflows.domain.authorization import Authorizer, admit
from workflows.domain.errors import ERRORS, AlreadyEnded, CallRefused, Canceled
from workflows.domain.gate import Layer, Verdict, first_refusal
from workflows.domain.impact import Resource
from workflows.domain.invocation import kept_by
from workflows.domain.lifecycle import ENDS, State
from workflows.domain.operation import Operation, Settlement
from workflows.messages import Ending, OperationRef

Found = Mapping[str, Any]

LOOK_FOR_WISHES_SECONDS = 2.0
"""How long a read that takes its time goes on before it asks whether its caller still wants it."""

PASSED = (Verdict(Layer.BUSINESS), Verdict(Layer.AUTHORIZATION))


@dataclass
class Admission:
    """Asks the policy about what a tool has found, and notes that the tool has let it be asked."""

    operation: Operation
    tool: ReadTool
    authorizer: Authorizer
    given: bool = False

    def __call__(self, resource: Resource) -> None:
        """Fits `workflows.domain.authorization.Admit`."""
        admit(self.operation.principal, self.tool.contract, resource, self.authorizer)
        self.given = True


class Read:
    """Runs a read tool behind the same gate as a write, and stores what it found."""

    def __init__(self, operations: Operations, journal: Journal, tools: Tools, authorizer: Authorizer) -> None:
        self._operations, self._journal, self._tools, self._authorizer = operations, journal, tools, authorizer

    @activity.defn(name=contracts.READ)
    async def read(self, ref: OperationRef) -> Ending:
        """Read and settle; the data stay in the database, the history gets the ending's code."""
        async with step():
            operation = await load_as_referred(self._operations, ref)
            if operation.state in ENDS:
                return Ending(operation.state.value, operation.code)
            try:
                outcome = await self._outcome(operation)
            except AlreadyEnded:
                # Somebody else has read meanwhile, and what they found is the result.
                operation = await load_as_referred(self._operations, ref)
                return Ending(operation.state.value, operation.code)
            stored = await self._operations.settle(operation.operation_id, outcome)
            return Ending(stored.state.value, stored.code)

    async def _outcome(self, operation: Operation) -> Settlement:
        if operation.writes:
            # Started by hand for something that is none of this step's business, and left as it is.
            raise CallRefused("unknown_tool")
        if operation.cancel_wanted:
            return Settlement.failed_with(Canceled.code)
        try:
            tool = self._tools.reader(operation.tool)
        except CallRefused as gone:
            return Settlement.failed_with(gone.code)
        verdicts = static_verdicts(operation, tool.contract, self._authorizer)
        refusal = first_refusal(verdicts)
        if refusal is not None and refusal.code is not None:
            return Settlement.failed_with(refusal.code, refusal.details, verdicts)
        try:
            data = await self._run(operation, tool)
            return Settlement(State.SUCCEEDED, data=data, verdicts=(*verdicts, *PASSED))
        except Canceled:
            return Settlement.failed_with(Canceled.code)
        except CallRefused as refused:
            if ERRORS[refused.code].retryable and not is_the_last_attempt(contracts.READ):
                raise
            return Settlement.failed_with(refused.code, refused.details, (*verdicts, verdict_of(refused)))

    async def _run(self, operation: Operation, tool: ReadTool) -> Mapping[str, Any]:
        admission = Admission(operation, tool, self._authorizer)
        entry = await self._journal.began(operation, 0)
        outcome = "raised"
        try:
            async with asyncio.timeout(tool.contract.limits.attempt_seconds):
                arguments = validated(tool.contract, operation.arguments)
                with kept_by(partial(self._journal.sent, entry)):
                    reading = asyncio.ensure_future(tool.read(arguments, operation.principal, admission))
                data = await self._unless_taken_back(operation, reading)
            if not admission.given:
                # Whose it is was never asked, so nobody may have it.
                raise CallRefused("permission_denied")
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

    async def _unless_taken_back(self, operation: Operation, reading: "asyncio.Future[Found]") -> Found:
        """What is found, unless the caller has taken it back meanwhile: a read may stop anywhere."""
        try:
            while not (await asyncio.wait({reading}, timeout=LOOK_FOR_WISHES_SECONDS))[0]:
                if (await self._operations.load(operation.operation_id)).cancel_wanted:
                    raise Canceled
            return reading.result()
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
