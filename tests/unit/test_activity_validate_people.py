"""The people's word at the gate: asked for, waited for, used, and taken back when it speaks of something else."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from tests.fakes.approvals import MemoryApprovals
from tests.fakes.world import Asked
from tests.support.acts import IMPACT, proposed
from tests.support.steps import BUSY, GO, LENIENT, STRICT, Stage, sent
from workflows.domain.approval import ApprovalState, Choice
from workflows.domain.gate import Layer, Verdict
from workflows.domain.impact import Inspection
from workflows.domain.operation import Operation
from workflows.domain.policy import Policy
from workflows.messages import Judgement, Step

Happening = Callable[[Stage, Operation], None]

VOID, PENDING = ApprovalState.VOID, ApprovalState.PENDING

EXPIRED = Inspection(IMPACT, Verdict(Layer.BUSINESS, "quote_expired"))
"""The business says no by now."""


def refused(code: str | None) -> Judgement:
    return Judgement(Step.SETTLE, code)


def may_be_claimed(stage: Stage, operation: Operation) -> bool:
    return stage.world.kept(operation.operation_id).clearance is not None


def question_about(stage: Stage, operation: Operation) -> Asked:
    return stage.world.questions(operation.operation_id)[-1]


async def pending(stage: Stage) -> Operation:
    operation = await proposed(stage)
    assert (await stage.validate(operation)).step is Step.WAIT
    return operation


async def granted(stage: Stage) -> Operation:
    operation = await pending(stage)
    await stage.decide(question_about(stage, operation).approval_id)
    return operation


async def test_a_person_is_asked_once_and_their_grant_is_what_the_claim_will_use() -> None:
    stage = Stage(STRICT)
    operation = await pending(stage)
    stage.world.advance(60.0)
    asked = question_about(stage, operation)

    left = asked.expires_at - 60.0
    waiting = Judgement(Step.WAIT, "approval_required", left, "a person with role approver:refunds")
    assert await stage.validate(operation) == waiting
    assert not may_be_claimed(stage, operation)

    await stage.decide(asked.approval_id)
    assert await stage.validate(operation) == GO
    clearance = stage.world.kept(operation.operation_id).clearance
    assert clearance is not None
    assert clearance.approval_id == asked.approval_id
    assert (await stage.found(operation.operation_id)).approvals == (ApprovalState.GRANTED,)


def the_resource_changes(stage: Stage, operation: Operation) -> None:
    stage.till.sees = Inspection(replace(IMPACT, resource=replace(IMPACT.resource, version="2")))


def the_policy_changes(stage: Stage, operation: Operation) -> None:
    stage.policy = replace(stage.policy, version="policy-2")


def the_intent_is_another(stage: Stage, operation: Operation) -> None:
    asked = question_about(stage, operation)
    asked.binding = replace(asked.binding, intent_hash="another")


CHANGES = pytest.mark.parametrize("changes", [the_resource_changes, the_policy_changes, the_intent_is_another])


@CHANGES
async def test_a_grant_of_something_else_is_stale_and_void(changes: Happening) -> None:
    stage = Stage(STRICT)
    operation = await granted(stage)
    assert (await stage.validate(operation)).step is Step.GO
    changes(stage, operation)

    assert await stage.validate(operation) == refused("approval_stale")
    assert (await stage.found(operation.operation_id)).approvals == (VOID,)
    assert not may_be_claimed(stage, operation)


@CHANGES
async def test_an_open_question_about_something_else_is_put_anew(changes: Happening) -> None:
    stage = Stage(STRICT)
    operation = await pending(stage)
    changes(stage, operation)

    assert (await stage.validate(operation)).step is Step.WAIT
    assert (await stage.found(operation.operation_id)).approvals == (VOID, PENDING)
    binding = question_about(stage, operation).binding
    version = stage.till.sees.impact.resource.version if isinstance(stage.till.sees, Inspection) else ""
    assert (binding.intent_hash, binding.resource_version) == (operation.intent_hash, version)
    assert binding.policy_version == stage.policy.version


def nobody_has_to_be_asked(stage: Stage, operation: Operation) -> None:
    stage.policy = replace(LENIENT, version=stage.policy.version)


def a_rule_is_against_it(stage: Stage, operation: Operation) -> None:
    stage.till.sees = EXPIRED


@pytest.mark.parametrize(
    "changes",
    [the_resource_changes, the_policy_changes, the_intent_is_another, nobody_has_to_be_asked, a_rule_is_against_it],
)
async def test_a_denial_that_comes_while_the_gate_looks_is_not_passed_over(changes: Happening) -> None:
    """They were told that nothing was sent, and that nothing will be."""
    stage = Stage(STRICT)
    operation = await pending(stage)
    changes(stage, operation)

    class Hasty(MemoryApprovals):
        async def void(self, approval_id: str) -> ApprovalState:
            await stage.decide(approval_id, Choice.DENY)
            return await super().void(approval_id)

    stage.approvals = Hasty(stage.world)
    assert await stage.validate(operation) == refused("approval_denied")
    assert (await stage.found(operation.operation_id)).approvals == (ApprovalState.DENIED,)
    assert not may_be_claimed(stage, operation)


async def denied(stage: Stage, operation: Operation) -> None:
    await stage.decide(question_about(stage, operation).approval_id, Choice.DENY)


async def expired(stage: Stage, operation: Operation) -> None:
    stage.world.now = question_about(stage, operation).expires_at


async def voided(stage: Stage, operation: Operation) -> None:
    await stage.approvals.void(question_about(stage, operation).approval_id)


@pytest.mark.parametrize("policy", [STRICT, LENIENT], ids=["strict", "lenient"])
@pytest.mark.parametrize("sees", [Inspection(IMPACT), EXPIRED], ids=["content", "refusing"])
@pytest.mark.parametrize(
    ("answer", "code"), [(denied, "approval_denied"), (expired, "approval_expired"), (voided, "approval_stale")]
)
async def test_a_persons_word_or_silence_outranks_rules_and_policy(
    answer: Callable[[Stage, Operation], Awaitable[None]], code: str, sees: Inspection, policy: Policy
) -> None:
    stage = Stage(STRICT)
    operation = await pending(stage)
    await answer(stage, operation)
    stage.till.sees, stage.policy = sees, policy

    assert await stage.validate(operation) == refused(code)
    assert not may_be_claimed(stage, operation)


async def test_a_question_that_the_policy_no_longer_asks_is_void_and_the_act_passes_unasked() -> None:
    stage = Stage(STRICT)
    operation = await pending(stage)
    stage.policy = LENIENT

    assert await stage.validate(operation) == GO
    assert (await stage.found(operation.operation_id)).approvals == (VOID,)
    clearance = stage.world.kept(operation.operation_id).clearance
    assert clearance is not None
    assert clearance.approval_id is None


@pytest.mark.parametrize(("prepare", "code"), [(granted, "approval_stale"), (pending, "quote_expired")])
async def test_a_rule_that_refuses_by_now_takes_the_question_back(
    prepare: Callable[[Stage], Awaitable[Operation]], code: str
) -> None:
    stage = Stage(STRICT)
    operation = await prepare(stage)
    stage.till.sees = EXPIRED

    assert await stage.validate(operation) == refused(code)
    assert (await stage.found(operation.operation_id)).approvals == (VOID,)


async def test_what_began_unasked_ends_if_a_person_would_be_asked_by_now() -> None:
    stage = Stage()
    operation = await sent(stage, BUSY)
    stage.policy = STRICT

    assert await stage.validate(operation) == refused("approval_stale")
    assert (await stage.found(operation.operation_id)).approvals == ()


async def test_a_used_grant_allows_the_next_send_until_its_deadline() -> None:
    stage = Stage(STRICT)
    stage.till.answers = [BUSY]
    operation = await granted(stage)
    await stage.validate(operation)
    await stage.apply(operation)
    assert question_about(stage, operation).state is ApprovalState.CONSUMED

    assert await stage.validate(operation) == GO
    stage.world.now = question_about(stage, operation).expires_at
    assert await stage.validate(operation) == refused("approval_expired")


@pytest.mark.parametrize(("limit", "people"), [(11_999, 2), (12_000, 1)])
async def test_above_the_limit_two_people_are_asked(limit: int, people: int) -> None:
    stage = Stage(replace(STRICT, two_approvers_above={"KRW": limit}))
    operation = await pending(stage)

    assert question_about(stage, operation).quorum == people
