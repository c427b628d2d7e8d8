"""The questions to people: one open at a time, with an end of its own."""

import asyncio
from dataclasses import replace

import pytest

from tests.support.acts import PLEA, asked, binding_of, claimed, granted, proposed
from tests.support.benches import Bench
from workflows.domain.approval import ApprovalState, Choice
from workflows.domain.errors import IllegalTransition
from workflows.domain.lifecycle import State

DAY_SECONDS = 24 * 3600.0


async def test_nothing_was_asked_yet(bench: Bench) -> None:
    operation = await proposed(bench)
    assert await bench.approvals.latest(operation.operation_id) is None


async def test_a_question_parks_the_operation_and_tells_the_outbox(bench: Bench) -> None:
    operation, question = await asked(bench)
    assert question.state is ApprovalState.PENDING
    assert question.binding == binding_of(operation)
    assert question.approver_role == "approver:refunds"
    assert question.seconds_left == pytest.approx(3 * DAY_SECONDS, abs=60)
    found = await bench.found(operation.operation_id)
    assert (found.state, found.outbox) == (State.AWAITING_APPROVAL, ("start", "approval.asked"))


async def test_asking_again_finds_the_open_question(bench: Bench) -> None:
    operation, question = await asked(bench)
    again = await bench.approvals.ask(operation, replace(PLEA, binding=binding_of(operation)))
    assert again.approval_id == question.approval_id
    assert (await bench.found(operation.operation_id)).outbox == ("start", "approval.asked")


async def test_of_ten_who_ask_at_once_one_does(bench: Bench) -> None:
    operation = await proposed(bench)
    plea = replace(PLEA, binding=binding_of(operation))
    questions = await asyncio.gather(*(bench.approvals.ask(operation, plea) for _ in range(10)))
    assert len({question.approval_id for question in questions}) == 1
    assert (await bench.found(operation.operation_id)).approvals == (ApprovalState.PENDING,)


@pytest.mark.parametrize(
    ("choice", "state"), [(Choice.APPROVE, ApprovalState.GRANTED), (Choice.DENY, ApprovalState.DENIED)]
)
async def test_a_decision_is_seen(bench: Bench, choice: Choice, state: ApprovalState) -> None:
    operation, question = await asked(bench)
    await bench.decide(question.approval_id, choice)
    latest = await bench.approvals.latest(operation.operation_id)
    assert latest is not None
    assert (latest.approval_id, latest.state) == (question.approval_id, state)


async def test_a_quorum_of_two_needs_two_people(bench: Bench) -> None:
    plea = replace(PLEA, rule=replace(PLEA.rule, quorum=2))
    operation, question = await asked(bench, plea)
    await bench.decide(question.approval_id, approver="approver-1")
    assert (await bench.found(operation.operation_id)).approvals == (ApprovalState.PENDING,)
    await bench.decide(question.approval_id, approver="approver-2")
    assert (await bench.found(operation.operation_id)).approvals == (ApprovalState.GRANTED,)


@pytest.mark.parametrize("decided", [False, True], ids=["undecided", "granted and unused"])
async def test_what_was_not_used_in_time_expires(bench: Bench, decided: bool) -> None:
    operation, question = await (granted(bench) if decided else asked(bench))
    await bench.pass_time(operation.operation_id, 3 * DAY_SECONDS + 1)
    latest = await bench.approvals.latest(operation.operation_id)
    assert latest is not None
    assert (latest.approval_id, latest.state) == (question.approval_id, ApprovalState.EXPIRED)
    assert latest.seconds_left == 0.0


async def test_a_question_does_not_expire_early(bench: Bench) -> None:
    operation, _ = await asked(bench)
    await bench.pass_time(operation.operation_id, 3 * DAY_SECONDS - 100)
    latest = await bench.approvals.latest(operation.operation_id)
    assert latest is not None
    assert latest.state is ApprovalState.PENDING
    assert latest.seconds_left == pytest.approx(100, abs=60)


@pytest.mark.parametrize("decided", [False, True], ids=["pending", "granted"])
async def test_an_open_question_can_be_taken_back(bench: Bench, decided: bool) -> None:
    operation, question = await (granted(bench) if decided else asked(bench))
    await bench.approvals.void(question.approval_id)
    assert (await bench.found(operation.operation_id)).approvals == (ApprovalState.VOID,)


async def test_a_question_that_was_taken_back_may_be_asked_anew(bench: Bench) -> None:
    operation, first = await asked(bench)
    await bench.approvals.void(first.approval_id)
    changed = replace(binding_of(operation), resource_version="2/pay-18/1")
    second = await bench.approvals.ask(operation, replace(PLEA, binding=changed))
    assert second.approval_id != first.approval_id
    assert second.binding == changed
    latest = await bench.approvals.latest(operation.operation_id)
    assert latest is not None
    assert latest.approval_id == second.approval_id
    found = await bench.found(operation.operation_id)
    assert found.approvals == (ApprovalState.VOID, ApprovalState.PENDING)
    assert found.state is State.AWAITING_APPROVAL


async def test_a_denial_cannot_be_taken_back(bench: Bench) -> None:
    operation, question = await asked(bench)
    await bench.decide(question.approval_id, Choice.DENY)
    assert await bench.approvals.void(question.approval_id) is ApprovalState.DENIED
    assert (await bench.found(operation.operation_id)).approvals == (ApprovalState.DENIED,)


async def test_what_was_used_stays_used(bench: Bench) -> None:
    operation, question = await granted(bench)
    await bench.claims.acquire(operation.operation_id, "owner-1", 12.0)
    await bench.approvals.void(question.approval_id)
    await bench.pass_time(operation.operation_id, 3 * DAY_SECONDS + 1)
    latest = await bench.approvals.latest(operation.operation_id)
    assert latest is not None
    assert latest.state is ApprovalState.CONSUMED


async def test_nobody_is_asked_about_what_has_begun(bench: Bench) -> None:
    claim = await claimed(bench)
    operation = await bench.operations.load(claim.operation_id)
    before = await bench.found(claim.operation_id)
    with pytest.raises(IllegalTransition):
        await bench.approvals.ask(operation, replace(PLEA, binding=binding_of(operation)))
    assert await bench.found(claim.operation_id) == before
