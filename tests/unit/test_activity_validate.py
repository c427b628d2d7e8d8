"""The gate on the state of the world as it is now, as long as nobody has to be asked."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from temporalio.exceptions import ApplicationError

from tests.support.acts import IMPACT, proposed, proposed_read
from tests.support.proposals import NobodyIsOffered, OthersObjectsAreTheirs
from tests.support.steps import BUSY, GO, LENIENT, STRICT, Stage, sent
from workflows.domain.contract import Trust
from workflows.domain.effect import Effect
from workflows.domain.errors import CallRefused
from workflows.domain.gate import Layer, Verdict
from workflows.domain.impact import Impact, Inspection
from workflows.domain.lifecycle import State
from workflows.domain.operation import Operation, Settlement
from workflows.messages import Judgement, Step

Happening = Callable[[Stage, Operation], None]

EXPIRED = Inspection(IMPACT, Verdict(Layer.BUSINESS, "quote_expired"))
"""The business says no by now."""


def refused(code: str | None) -> Judgement:
    return Judgement(Step.SETTLE, code)


def may_be_claimed(stage: Stage, operation: Operation) -> bool:
    return stage.world.kept(operation.operation_id).clearance is not None


async def test_what_the_policy_lets_pass_goes_unasked() -> None:
    stage = Stage()
    operation = await proposed(stage)

    assert await stage.validate(operation) == GO
    assert may_be_claimed(stage, operation)
    assert (await stage.found(operation.operation_id)).approvals == ()


async def test_a_foreign_object_looks_absent_whatever_the_rules_say() -> None:
    stage = Stage()
    stage.till.sees = replace(EXPIRED, impact=replace(IMPACT, resource=replace(IMPACT.resource, owner_tenant="other")))

    assert await stage.validate(await proposed(stage)) == refused("not_found")


async def test_an_object_that_is_not_for_this_caller_is_denied_whatever_the_rules_say() -> None:
    stage = Stage()
    stage.authorizer, stage.till.sees = OthersObjectsAreTheirs(), EXPIRED

    assert await stage.validate(await proposed(stage)) == refused("permission_denied")


def not_offered(stage: Stage, operation: Operation) -> None:
    stage.authorizer = NobodyIsOffered()


def another_contract(stage: Stage, operation: Operation) -> None:
    stage.till.contract = replace(stage.till.contract, version="99")


def other_arguments(stage: Stage, operation: Operation) -> None:
    stage.world.kept(operation.operation_id).operation = replace(operation, arguments={})


def another_amount(stage: Stage, operation: Operation) -> None:
    changed = {**operation.arguments, "amount": 1_200_000}
    stage.world.kept(operation.operation_id).operation = replace(operation, arguments=changed)


def another_user(stage: Stage, operation: Operation) -> None:
    changed = replace(operation.principal, subject="user-18")
    stage.world.kept(operation.operation_id).operation = replace(operation, principal=changed)


@pytest.mark.parametrize(
    ("happens", "code"),
    [
        (not_offered, "tool_not_allowed"),
        (another_contract, "tool_changed"),
        (other_arguments, "invalid_arguments"),
        (another_amount, "idempotency_conflict"),
        (another_user, "idempotency_conflict"),
    ],
)
async def test_what_is_refused_without_a_look_is_not_looked_at(happens: Happening, code: str) -> None:
    stage = Stage()
    operation = await proposed(stage)
    happens(stage, operation)

    assert await stage.validate(operation) == refused(code)
    assert stage.till.inspections == 0
    assert not may_be_claimed(stage, operation)


@pytest.mark.parametrize("effect", [Effect.unknown(), Effect.rejected("quote_consumed")], ids=["uncertain", "known"])
async def test_what_was_sent_is_no_longer_for_the_gate(effect: Effect) -> None:
    stage = Stage()
    operation = await sent(stage, effect)
    stage.authorizer = NobodyIsOffered()

    assert await stage.validate(operation) == Judgement(Step.GO)
    assert stage.till.inspections == 0


async def test_what_has_provably_not_happened_is_looked_at_again() -> None:
    stage = Stage()
    operation = await sent(stage, BUSY)

    assert await stage.validate(operation) == GO
    assert stage.till.inspections == 1
    stage.till.sees = EXPIRED
    assert await stage.validate(operation) == refused("quote_expired")


async def test_money_that_nobody_may_approve_does_not_move() -> None:
    stage = Stage(STRICT)
    operation = await proposed(stage)
    stage.till.contract = replace(stage.till.contract, approval=None)

    assert await stage.validate(operation) == refused("permission_denied")


async def test_a_repetition_that_nobody_may_approve_does_not_happen() -> None:
    stage = Stage()
    stage.till.contract = replace(stage.till.contract, approval=None)
    stage.till.sees = Inspection(Impact(IMPACT.resource, "Refund a payment"))
    first = await proposed(stage, "O-17")
    await stage.operations.move(first.operation_id, State.STARTED)
    await stage.operations.settle(first.operation_id, Settlement(State.SUCCEEDED))
    second = await proposed(stage, "O-17")

    assert await stage.validate(second) == refused("repeated_act")


async def test_a_state_that_cannot_be_seen_is_looked_for_again() -> None:
    stage = Stage()
    stage.till.sees = CallRefused("upstream_unavailable")
    operation = await proposed(stage)

    with pytest.raises(ApplicationError) as unseen:
        await stage.validate(operation)

    assert (unseen.value.type, unseen.value.non_retryable) == ("upstream_unavailable", False)
    assert (await stage.found(operation.operation_id)).state is State.PROPOSED


@pytest.mark.parametrize(("code", "layer"), [("not_found", Layer.AUTHORIZATION), ("quote_expired", Layer.BUSINESS)])
async def test_what_the_look_itself_refuses_ends_the_act(code: str, layer: Layer) -> None:
    stage = Stage()
    stage.till.sees = CallRefused(code)
    operation = await proposed(stage)

    assert await stage.validate(operation) == refused(code)
    assert stage.world.verdicts[-1] == (operation.operation_id, Verdict(layer, code))


async def test_another_meaning_is_not_judged() -> None:
    stage = Stage()
    operation = await proposed(stage)

    with pytest.raises(ApplicationError) as conflict:
        await stage.validate(operation, intent_hash="another")

    assert conflict.value.type == "idempotency_conflict"
    assert not may_be_claimed(stage, operation)


async def test_what_has_ended_is_told_and_not_judged() -> None:
    stage = Stage()
    operation = await proposed(stage)
    await stage.settle(operation, "not_found")

    assert await stage.validate(operation) == refused("not_found")
    assert stage.till.inspections == 0


@pytest.mark.parametrize(("trust", "asked"), [(Trust.EXTERNAL, True), (Trust.OWN, False)])
async def test_a_wary_policy_asks_once_the_conversation_has_read_the_words_of_others(trust: Trust, asked: bool) -> None:
    stage = Stage(replace(LENIENT, ask_after_outside_words=True))
    stage.archivist.contract = replace(stage.archivist.contract, trust=trust)
    read = await proposed_read(stage, lineage="talk-1")
    await stage.read(read)
    stage.world.advance(1)

    judgement = await stage.validate(await proposed(stage, lineage="talk-1"))

    assert (judgement.step is Step.WAIT) is asked


async def test_the_words_of_a_tool_that_is_gone_count_as_those_of_others() -> None:
    stage = Stage(replace(LENIENT, ask_after_outside_words=True))
    stage.archivist.contract = replace(stage.archivist.contract, trust=Trust.OWN)
    read = await proposed_read(stage, lineage="talk-1")
    await stage.read(read)
    stage.world.advance(1)
    operation = await proposed(stage, lineage="talk-1")
    stage.archivist.contract = replace(stage.archivist.contract, name="get_parcel")

    assert (await stage.validate(operation)).step is Step.WAIT


async def test_what_its_caller_has_taken_back_is_not_judged_any_more() -> None:
    stage = Stage()
    operation = await proposed(stage)
    await stage.cancel(operation.operation_id)

    assert await stage.validate(operation) == refused("canceled")
    assert stage.till.inspections == 0


async def test_what_was_sent_is_not_stopped_by_its_caller() -> None:
    stage = Stage()
    operation = await sent(stage, Effect.unknown())
    await stage.cancel(operation.operation_id)

    assert (await stage.validate(operation)).step is Step.GO
