"""The gate with the people's word: asks for approval, finds it pending, expired, denied, stale or granted."""

from collections.abc import Collection
from dataclasses import replace

from temporalio import activity

from activities.inspection import Look, look
from activities.loading import load_as_referred
from activities.ports import Approvals, Claims, Operations, Spendings, Tools
from activities.step import step
from workflows import contracts
from workflows.domain.approval import ApprovalState, Binding, Clearance, Plea, Question
from workflows.domain.arguments import validated
from workflows.domain.authorization import Authorizer
from workflows.domain.batch import open_items, uncertain_items
from workflows.domain.contract import Contract
from workflows.domain.errors import CallRefused, Canceled, StaleGeneration
from workflows.domain.gate import Layer, Verdict
from workflows.domain.lifecycle import ENDS, MAY_HAVE_EFFECT
from workflows.domain.operation import Operation
from workflows.domain.policy import Policy, approvers_needed
from workflows.domain.turn_order import Place, place_behind
from workflows.messages import Judgement, OperationRef, Step

DENIED = "approval_denied"

ENDED_APPROVALS = {
    ApprovalState.DENIED: DENIED,
    ApprovalState.EXPIRED: "approval_expired",
    ApprovalState.VOID: "approval_stale",
}
"""What an approval that can no longer be used makes of the operation. A consumed one is this operation's own: what it
allowed has provably not happened yet, so it still stands as long as what it binds and its deadline do."""


TURN_SECONDS = 60.0
"""Between two looks at what comes before; whoever carries the turn starts this one when its time has come."""

NOTHING: Collection[str] = ()
"""All of it has been sent or concluded."""


class Validate:
    """Judges one operation on the current state, as often as it is asked."""

    def __init__(
        self,
        operations: Operations,
        approvals: Approvals,
        claims: Claims,
        spendings: Spendings,
        tools: Tools,
        authorizer: Authorizer,
        policy: Policy,
    ) -> None:
        self._operations, self._approvals, self._claims = operations, approvals, claims
        self._spendings = spendings
        self._tools, self._authorizer, self._policy = tools, authorizer, policy

    @activity.defn(name=contracts.VALIDATE)
    async def validate(self, ref: OperationRef) -> Judgement:
        """Say whether the effect may be made now, must wait for a person, or is refused."""
        async with step():
            operation = await load_as_referred(self._operations, ref)
            if operation.state in ENDS:
                return Judgement(Step.SETTLE, operation.code)
            left = await self._what_is_left(operation) if operation.state in MAY_HAVE_EFFECT else None
            if left is NOTHING:
                return Judgement(Step.GO)
            if operation.cancel_wanted:
                return Judgement(Step.SETTLE, Canceled.code)
            held_up = await self._held_up_by_its_turn(operation)
            if held_up is not None:
                return held_up
            seen = await look(operation, self._tools, self._spendings, self._authorizer, self._policy, left)
            question = await self._approvals.latest(operation.operation_id)
            if question is not None and question.state in ENDED_APPROVALS:
                # A person's word, or their silence, outranks what the rules or the policy say by now.
                return await self._end(operation, seen, ENDED_APPROVALS[question.state])
            if seen.refusal is not None:
                return await self._refuse(operation, seen, question)
            return await self._consult(operation, seen, question)

    async def _held_up_by_its_turn(self, operation: Operation) -> Judgement | None:
        """What is before it in its turn, as long as nothing of it has begun; None when it may go on."""
        if not operation.after or operation.state in MAY_HAVE_EFFECT:
            return None
        place = place_behind(await self._operations.forerunners(operation))
        if place is Place.CUT_OFF:
            return Judgement(Step.SETTLE, "earlier_write_not_done")
        if place is Place.BEHIND:
            return Judgement(Step.WAIT, "earlier_call_open", TURN_SECONDS, "an earlier call of the same turn")
        return None

    async def _what_is_left(self, operation: Operation) -> Collection[str] | None:
        """What is still to be judged of an operation that has begun: NOTHING, all of it (None), or items of a batch.

        What was sent and may have happened, or has, is out of our hands: the claim says what is true, not the gate.
        What has provably not happened yet is judged anew before it is sent again.
        """
        known = await self._claims.items(operation.operation_id)
        contract = self._contract_of(operation)
        if contract is not None and contract.batch is not None:
            items = open_items(contract.batch.ids(validated(contract, operation.arguments)), known)
            return frozenset(items) if items else NOTHING
        if contract is None and any(known):
            # The tool of a batch is gone or another one: what is uncertain is looked for, the rest is for the gate.
            return NOTHING if uncertain_items(known) else None
        return None if known and all(evidence.may_be_sent for evidence in known.values()) else NOTHING

    def _contract_of(self, operation: Operation) -> Contract | None:
        try:
            contract = self._tools.writer(operation.tool).contract
            validated(contract, operation.arguments)
        except CallRefused:
            # The look says why; what is out of our hands does not depend on it.
            return None
        return contract

    async def _refuse(self, operation: Operation, seen: Look, question: Question | None) -> Judgement:
        await self._operations.record(operation, seen.verdicts, None)
        ended_by = None if question is None else await self._take_back(question)
        return Judgement(Step.SETTLE, ended_by or (seen.refusal.code if seen.refusal else None))

    async def _consult(self, operation: Operation, seen: Look, question: Question | None) -> Judgement:
        binding = await self._binding(operation, seen, question)
        if seen.why is None:
            # Nobody has to be asked any more, so nobody is left with the question.
            if question is not None and await self._take_back(question) == DENIED:
                return await self._end(operation, seen, DENIED)
            return await self._pass(operation, seen, Clearance(binding))
        if question is None and operation.state not in MAY_HAVE_EFFECT:
            return await self._ask(operation, seen, binding)
        if question is None:
            # Begun unasked, and now a person would have to be asked: what was allowed is no longer what would run.
            return await self._end(operation, seen, "approval_stale")
        if question.binding != binding:
            return await self._put_anew(operation, seen, binding, question)
        if question.state is ApprovalState.PENDING:
            return _wait(question)
        if question.seconds_left <= 0:
            return await self._end(operation, seen, "approval_expired")
        return await self._pass(operation, seen, Clearance(binding, question.approval_id))

    async def _put_anew(self, operation: Operation, seen: Look, binding: Binding, question: Question) -> Judgement:
        ended_by = await self._take_back(question)
        if ended_by is not None:
            return await self._end(operation, seen, ended_by)
        return await self._ask(operation, seen, binding)

    async def _take_back(self, question: Question) -> str | None:
        """Void a question whose subject has changed; returns how the operation ends by it, None while it was open.

        Somebody may have denied it since it was read. They were told that nothing will be done, and that stands.
        """
        if await self._approvals.void(question.approval_id) is ApprovalState.DENIED:
            return DENIED
        return None if question.state is ApprovalState.PENDING else "approval_stale"

    async def _pass(self, operation: Operation, seen: Look, clearance: Clearance) -> Judgement:
        if not seen.may_execute(approval_granted=clearance.approval_id is not None):
            return await self._end(operation, seen, "permission_denied")
        people = (Verdict(Layer.APPROVAL),) if clearance.approval_id else ()
        await self._operations.record(operation, (*seen.verdicts, *people), clearance)
        return Judgement(Step.GO, swift=self._tools.writer(operation.tool).contract.swift)

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

    async def _binding(self, operation: Operation, seen: Look, question: Question | None) -> Binding:
        """What would be done now. Items of a begun batch that may not be done any more are refused and left out.

        What is left of a batch has another version than the whole; so once its approval is used, each item is held to
        its own version, and the binding of the whole stands for those that are left.
        """
        impact = seen.impact
        binding = Binding(operation.intent_hash, impact.resource.version if impact else "", self._policy.version)
        refused = dict(seen.refused)
        if question is not None and question.state is ApprovalState.CONSUMED and impact is not None and impact.items:
            changed = (item.id for item in impact.items if question.items.get(item.id) != item.version)
            refused = dict.fromkeys(changed, "approval_stale") | refused
            binding = replace(binding, resource_version=question.binding.resource_version)
        for item, code in refused.items():
            await self._refuse_item(operation, item, code)
        return binding

    async def _refuse_item(self, operation: Operation, item: str, code: str) -> None:
        try:
            await self._claims.refuse(operation.operation_id, item, code)
        except StaleGeneration:
            # Whoever holds it lets go of it soon; until then nothing is let pass.
            raise CallRefused("upstream_unavailable") from None


def _wait(question: Question) -> Judgement:
    role = question.approver_role
    return Judgement(Step.WAIT, "approval_required", max(question.seconds_left, 0.1), f"a person with role {role}")
