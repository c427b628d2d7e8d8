"""Operations on a bench, brought to where a test begins."""

from dataclasses import replace

from tests.support.benches import Bench
from tests.support.proposals import CALLER, fresh, lookup, refund, turn_of
from workflows.domain.approval import Binding, Clearance, Plea, Question
from workflows.domain.claim import Claim
from workflows.domain.contract import ApprovalRule
from workflows.domain.effect import Effect
from workflows.domain.gate import Layer, Verdict
from workflows.domain.impact import Fact, Impact, Money, Resource
from workflows.domain.lifecycle import State
from workflows.domain.operation import Operation
from workflows.domain.principal import Principal

LEASE_SECONDS = 12.0

ATTEMPT_SECONDS = 10.0

BINDING = Binding("", "1/pay-17/1", "policy-1")
"""What is bound beside the operation's own intent hash."""

IMPACT = Impact(
    resource=Resource("order", "O-17", "tenant-a", BINDING.resource_version),
    action="Refund a payment",
    money=Money(12_000, "KRW"),
    reversible=False,
    facts=(Fact("Payment", "pay-17"), Fact("Still refundable", money=Money(12_000, "KRW"))),
)

PLEA = Plea(BINDING, ApprovalRule("approver:refunds"), IMPACT, "It moves money.")


def binding_of(operation: Operation) -> Binding:
    """What an approval of this operation binds."""
    return replace(BINDING, intent_hash=operation.intent_hash)


async def proposed(bench: Bench, order_id: str = "", caller: Principal = CALLER, lineage: str = "") -> Operation:
    """A registered refund, of an order of its own unless one is named."""
    proposal = refund(order_id=order_id or fresh("O"))
    (registered,) = await bench.inbox.register(turn_of(proposal, lineage=lineage, caller=caller))
    return await bench.operations.load(registered.operation_id or "")


async def proposed_read(bench: Bench, lineage: str = "") -> Operation:
    """A registered look-up."""
    (registered,) = await bench.inbox.register(turn_of(lookup(), lineage=lineage))
    return await bench.operations.load(registered.operation_id or "")


async def cleared(bench: Bench) -> Operation:
    """A refund that the gate has just let pass unasked."""
    operation = await proposed(bench)
    await bench.operations.record(operation, [Verdict(Layer.RISK)], Clearance(binding_of(operation)))
    return operation


async def asked(bench: Bench, plea: Plea = PLEA) -> tuple[Operation, Question]:
    """A refund whose approval is pending."""
    operation = await proposed(bench)
    return operation, await bench.approvals.ask(operation, replace(plea, binding=binding_of(operation)))


async def granted(bench: Bench, plea: Plea = PLEA) -> tuple[Operation, Question]:
    """A refund that a person has granted and that the gate has just let pass on that grant."""
    operation, question = await asked(bench, plea)
    await bench.decide(question.approval_id)
    clearance = Clearance(binding_of(operation), question.approval_id)
    await bench.operations.record(operation, [Verdict(Layer.RISK)], clearance)
    return operation, question


async def claimed(bench: Bench, owner: str = "owner-1") -> Claim:
    """The claim of a refund."""
    operation = await cleared(bench)
    return await bench.claims.acquire(operation.operation_id, owner, LEASE_SECONDS)


async def in_review(bench: Bench) -> Claim:
    """A refund that was sent once and that nobody could find again."""
    claim = await claimed(bench)
    await bench.claims.begin_send(claim, ATTEMPT_SECONDS)
    await bench.claims.conclude(claim, Effect.unknown())
    await bench.operations.move(claim.operation_id, State.MANUAL_REVIEW)
    return claim
