"""The gate with the people's word: asks for approval, finds it pending, expired, denied, stale or granted."""

from dataclasses import replace

from temporalio import activity

from activities.inspection import Look, look
from activities.ports import Approvals, Operations, Spendings, Tools
from activities.step import step
from workflows import contracts
from workflows.domain.approval import ApprovalState, Binding, Clearance, Plea, Question
from workflows.domain.authorization import Authorizer
from workflows.domain.errors import IntentConflict
from workflows.domain.gate import Layer, Verdict
from workflows.domain.lifecycle import ENDS, MAY_HAVE_EFFECT
from workflows.domain.operation import Operation
from workflows.domain.policy import Policy, approvers_needed
from workflows.messages import Judgement, OperationRef, Step

ENDED_APPROVALS = {
    ApprovalState.DENIED: "approval_denied",
    ApprovalState.EXPIRED: "approval_expired",
    ApprovalState.VOID: "approval_stale",
    ApprovalState.CONSUMED: "approval_consumed",
}
"""What an approval that can no longer be used makes of the operation."""


class Validate:
    """Judges one operation on the current state, as often as it is asked."""

    def __init__(
        self,
        operations: Operations,
        approvals: Approvals,
        spendings: Spendings,
        tools: Tools,
        authorizer: Authorizer,
        policy: Policy,
    ) -> None:
        self._operations, self._approvals, self._spendings = operations, approvals, spendings
        self._tools, self._authorizer, self._policy = tools, authorizer, policy

    @activity.defn(name=contracts.VALIDATE)
    async def validate(self, ref: OperationRef) -> Judgement:
        """Say whether the effect may be made now, must wait for a person, or is refused."""
        async with step():
            operation = await self._load(ref)
            if operation.state in ENDS:
                return Judgement(Step.SETTLE, operation.code)
            if operation.state in MAY_HAVE_EFFECT:
                # Judged before, and perhaps sent: from here the claim says what is true.
                return Judgement(Step.GO)
            seen = await look(operation, self._tools, self._spendings, self._authorizer, self._policy)
            question = await self._approvals.latest(operation.operation_id)
            if seen.refusal is not None:
                return await self._refuse(operation, seen, question)
            return await self._consult(operation, seen, question)

    async def _load(self, ref: OperationRef) -> Operation:
        operation = await self._operations.load(ref.operation_id)
        if operation.intent_hash != ref.intent_hash:
            raise IntentConflict
        return operation

    async def _refuse(self, operation: Operation, seen: Look, question: Question | None) -> Judgement:
        await self._operations.record(operation, seen.verdicts, None)
        if question is not None and await self._take_back(question):
            return Judgement(Step.SETTLE, "approval_stale")
        return Judgement(Step.SETTLE, seen.refusal.code if seen.refusal else None)

    async def _consult(self, operation: Operation, seen: Look, question: Question | None) -> Judgement:
        binding = self._binding(operation, seen)
        if seen.why is None:
            return await self._pass(operation, seen, Clearance(binding))
        if question is None:
            return await self._ask(operation, seen, binding)
        if question.state in ENDED_APPROVALS:
            return await self._end(operation, seen, ENDED_APPROVALS[question.state])
        if question.binding != binding:
            return await self._put_anew(operation, seen, binding, question)
        if question.state is ApprovalState.PENDING:
            return _wait(question)
        return await self._pass(operation, seen, Clearance(binding, question.approval_id))

    async def _put_anew(self, operation: Operation, seen: Look, binding: Binding, question: Question) -> Judgement:
        if await self._take_back(question):
            return await self._end(operation, seen, "approval_stale")
        return await self._ask(operation, seen, binding)

    async def _take_back(self, question: Question) -> bool:
        """Void a question whose subject has changed; say whether it had been granted."""
        if question.state in ENDED_APPROVALS:
            return False
        await self._approvals.void(question.approval_id)
        return question.state is ApprovalState.GRANTED

    async def _pass(self, operation: Operation, seen: Look, clearance: Clearance) -> Judgement:
        if not seen.may_execute(approval_granted=clearance.approval_id is not None):
            return await self._end(operation, seen, "permission_denied")
        people = (Verdict(Layer.APPROVAL),) if clearance.approval_id else ()
        await self._operations.record(operation, (*seen.verdicts, *people), clearance)
        return Judgement(Step.GO)

    async def _ask(self, operation: Operation, seen: Look, binding: Binding) -> Judgement:
        await self._operations.record(operation, seen.verdicts, None)
        rule = self._tools.writer(operation.tool).contract.approval
        if seen.impact is None or seen.why is None:
            return Judgement(Step.SETTLE, "permission_denied")
        if rule is None:
            # Nobody may approve it, so what would need a person's word does not happen.
            return Judgement(Step.SETTLE, "permission_denied" if seen.impact.money else "repeated_act")
        asked = replace(rule, quorum=approvers_needed(rule, seen.impact, self._policy))
        return _wait(await self._approvals.ask(operation, Plea(binding, asked, seen.impact, seen.why)))

    async def _end(self, operation: Operation, seen: Look, code: str) -> Judgement:
        await self._operations.record(operation, (*seen.verdicts, Verdict(Layer.APPROVAL, code)), None)
        return Judgement(Step.SETTLE, code)

    def _binding(self, operation: Operation, seen: Look) -> Binding:
        version = seen.impact.resource.version if seen.impact else ""
        return Binding(operation.intent_hash, version, self._policy.version)


def _wait(question: Question) -> Judgement:
    role = question.approver_role
    return Judgement(Step.WAIT, "approval_required", max(question.seconds_left, 0.1), f"a person with role {role}")
