"""One look at the current state through every layer of the gate, without asking anybody."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from activities.ports import Spendings, Tools, WriteTool
from workflows.domain.arguments import validated
from workflows.domain.authorization import Authorizer, admit
from workflows.domain.contract import Contract, Trust
from workflows.domain.errors import CallRefused, IntentConflict
from workflows.domain.gate import Layer, Standing, Verdict, first_refusal, may_execute
from workflows.domain.impact import Impact, Inspection
from workflows.domain.operation import Operation
from workflows.domain.policy import Policy, why_approval_is_needed

NOT_THEIRS = frozenset({"not_found", "permission_denied"})
"""Refusals of a tool's look that speak of the caller, not of the business."""


@dataclass(frozen=True)
class Look:
    """What was seen. `impact` is None when a layer refused; `why` says why a person must be asked, None when not.

    `refused` are the items of a begun batch that a rule is against by now, with its code.
    """

    verdicts: tuple[Verdict, ...]
    impact: Impact | None = None
    why: str | None = None
    refused: Mapping[str, str] = field(default_factory=dict)

    @property
    def refusal(self) -> Verdict | None:
        """The first layer that says no; risk only asks for a person."""
        return first_refusal(verdict for verdict in self.verdicts if verdict.layer is not Layer.RISK)

    def may_execute(self, *, approval_granted: bool) -> bool:
        """Whether the effect may be made, given what the people have said."""
        passed = {verdict.layer for verdict in self.verdicts if verdict.passed}
        return may_execute(
            Standing(
                allowed=Layer.EXPOSURE in passed,
                schema_valid=Layer.SCHEMA in passed,
                business_valid=Layer.BUSINESS in passed,
                authorized=Layer.AUTHORIZATION in passed,
                approval_required=self.why is not None,
                approval_granted=approval_granted,
            )
        )


async def look(
    operation: Operation,
    tools: Tools,
    spendings: Spendings,
    authorizer: Authorizer,
    policy: Policy,
    only: Collection[str] | None = None,
) -> Look:
    """Judge a write on the current state; raises `CallRefused("upstream_unavailable")` when it cannot be seen.

    `only` names what is left of a batch that has begun.
    """
    tool = tools.writer(operation.tool)
    verdicts = static_verdicts(operation, tool.contract, authorizer)
    if first_refusal(verdicts) is not None:
        return Look(verdicts)
    try:
        inspection = await _inspect(operation, tool, authorizer, only)
    except CallRefused as refused:
        if refused.code == "upstream_unavailable":
            raise
        return Look((*verdicts, verdict_of(refused)))
    left_out = inspection.refused if only is not None else {}
    if inspection.refusal is not None and inspection.refusal.layer is Layer.AUTHORIZATION and not left_out:
        return Look((*verdicts, inspection.refusal))
    business = Verdict(Layer.BUSINESS) if left_out else inspection.refusal or Verdict(Layer.BUSINESS)
    why = None
    if business.passed:
        repeat_seconds = tool.contract.repetition.seconds
        circumstances = await spendings.reserve(operation, inspection.impact.money, repeat_seconds)
        outside = [name for name in circumstances.reads if _is_from_outside(tools, name)]
        why = why_approval_is_needed(tool.contract, inspection.impact, policy, circumstances, outside)
    risk = Verdict(Layer.RISK, "approval_required" if why else None)
    return Look((*verdicts, business, Verdict(Layer.AUTHORIZATION), risk), inspection.impact, why, left_out)


def static_verdicts(operation: Operation, contract: Contract, authorizer: Authorizer) -> tuple[Verdict, ...]:
    """The layers that need no look outside: the same tool, offered to this caller, with the arguments as registered."""
    if contract.hash != operation.contract_hash:
        return (Verdict(Layer.EXPOSURE, "tool_changed"),)
    if not authorizer.offers(operation.principal, contract):
        return (Verdict(Layer.EXPOSURE, "tool_not_allowed"),)
    try:
        validated(contract, operation.arguments)
    except CallRefused as refused:
        return (Verdict(Layer.SCHEMA, refused.code, refused.details),)
    if operation.meaning() != operation.intent_hash:
        # Nobody of ours may change what was registered; somebody has.
        return (Verdict(Layer.SCHEMA, IntentConflict.code),)
    return Verdict(Layer.EXPOSURE), Verdict(Layer.SCHEMA)


def verdict_of(refused: CallRefused) -> Verdict:
    """A refusal met while looking at the object, under the layer that it speaks for."""
    layer = Layer.AUTHORIZATION if refused.code in NOT_THEIRS else Layer.BUSINESS
    return Verdict(layer, refused.code, refused.details)


def _is_from_outside(tools: Tools, name: str) -> bool:
    try:
        return tools.reader(name).contract.trust is Trust.EXTERNAL
    except CallRefused:
        # A tool that is gone can no longer vouch for what it told.
        return True


async def _inspect(
    operation: Operation, tool: WriteTool, authorizer: Authorizer, only: Collection[str] | None
) -> Inspection:
    arguments = validated(tool.contract, operation.arguments)
    if tool.contract.batch is not None and only is not None:
        arguments = tool.contract.batch.only(arguments, only)
    inspection = await tool.inspect(arguments, operation.principal)
    # Before any rule speaks: about what the caller may not use nothing is said.
    admit(operation.principal, tool.contract, inspection.impact.resource, authorizer)
    return inspection
