"""Each layer of the gate alone, as often as one refund passes through it."""

from collections.abc import Sequence

from activities.inspection import Look
from adapters import strict_json
from adapters.envelopes import SURFACES
from adapters.tools.payments import RefundArguments, RefundPayment
from tests.bench.measuring import Contestant
from tests.bench.refund import CONTRACT, Case, Shop, at_once
from tests.support.proposals import CATALOG, REFUND
from workflows.domain.arguments import validated
from workflows.domain.contract import Arguments
from workflows.domain.impact import Impact
from workflows.domain.intent import digest
from workflows.domain.policy import why_approval_is_needed


def layers(case: Case) -> Sequence[Contestant]:
    """In the order in which the refund meets them."""
    return [*_at_the_door(case), *_at_the_worker(case)]


def _at_the_door(case: Case) -> Sequence[Contestant]:
    envelope, parsed, intent = SURFACES[case.surface], strict_json.parse(case.response), case.judged().intent
    arguments = validated(CONTRACT, REFUND)
    assert intent is not None
    return [
        Contestant("parse", "strict JSON of the response", lambda: strict_json.parse(case.response)),
        Contestant("envelope", "the surface's rules, and strict JSON of the arguments", lambda: envelope.read(parsed)),
        Contestant("fingerprint", "hash of the raw proposal", lambda: digest([CONTRACT.name, REFUND, ""])),
        Contestant("exposure", "offered? at the door and to the worker", lambda: _exposed(case)),
        Contestant("schema", "do the arguments fit? at the door and twice by the worker", _validated),
        Contestant("meaning", "the arguments that count, and those that make the act", lambda: _meaning(arguments)),
        Contestant("intent hash", "hash of the intent, hash of the act", lambda: (intent.hash(), intent.act_hash())),
    ]


def _at_the_worker(case: Case) -> Sequence[Contestant]:
    arguments, tool, seen = RefundArguments.model_validate(REFUND), RefundPayment(Shop()), case.seen()
    impact = seen.impact
    assert impact is not None
    resource = impact.resource
    return [
        Contestant("as registered", "does what is stored still have its intent hash?", case.operation.meaning),
        Contestant("business", "the tool's look and its rules", lambda: at_once(tool.inspect(arguments, case.caller))),
        Contestant(
            "authorization", "Cedar about this order", lambda: case.authorizer.permits(case.caller, CONTRACT, resource)
        ),
        Contestant("risk", "what else left today, and the policy's limits", lambda: _risk(case, impact)),
        Contestant("decision", "the first refusal, and may_execute", lambda: _decision(seen)),
    ]


def _exposed(case: Case) -> bool:
    contract = CATALOG.require(CONTRACT.name, case.caller)
    return contract.hash == case.operation.contract_hash and case.authorizer.offers(case.caller, contract)


def _validated() -> None:
    for _ in range(3):
        validated(CONTRACT, REFUND)


def _meaning(arguments: Arguments) -> object:
    return CONTRACT.resource_of(arguments), CONTRACT.meant(arguments), CONTRACT.act(arguments)


def _decision(seen: Look) -> bool:
    return seen.refusal is None and seen.may_execute(approval_granted=False)


def _risk(case: Case, impact: Impact) -> str | None:
    circumstances = at_once(case.spendings.reserve(case.operation, impact.money, CONTRACT.repetition.seconds))
    return why_approval_is_needed(CONTRACT, impact, case.policy, circumstances)
