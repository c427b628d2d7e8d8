"""Making the effect: what is claimed, what is sent, and what is believed of it."""

from dataclasses import replace

import pytest
from temporalio.exceptions import ApplicationError

from activities import apply as applying
from tests.support.acts import claimed, cleared, granted, proposed
from tests.support.steps import BUSY, CONSUMED, REFUNDED, Stage, sent, silence
from tests.support.waiting import until
from workflows.domain.contract import Limits
from workflows.domain.effect import Effect
from workflows.domain.lifecycle import State
from workflows.messages import Report, Step


async def test_what_was_applied_is_on_record_and_never_sent_again() -> None:
    stage = Stage()
    operation = await cleared(stage)

    assert await stage.apply(operation) == Report(Step.SETTLE, generation=1)
    assert (await stage.evidence(operation)).effect == REFUNDED
    assert await stage.apply(operation) == Report(Step.SETTLE)
    assert len(stage.till.sent) == 1
    assert await stage.calls_of(operation.operation_id) == [(1, "applied")]


async def test_the_last_send_of_the_budget_is_final_even_if_the_downstream_says_later() -> None:
    stage = Stage()
    stage.till.contract = replace(stage.till.contract, limits=Limits(sends=2))
    stage.till.answers = [BUSY]
    operation = await cleared(stage)

    assert await stage.apply(operation) == Report(Step.SEND_AGAIN, "rate_limited", 5.0, 1)
    assert (await stage.evidence(operation)).effect is None
    assert await stage.apply(operation) == Report(Step.SETTLE, generation=2)
    assert (await stage.evidence(operation)).effect == replace(BUSY, retryable=False)


async def test_the_downstream_says_when_to_come_back_and_is_sent_the_same_key_then() -> None:
    stage = Stage()
    stage.till.answers = [replace(BUSY, retry_after_seconds=42.0), REFUNDED]
    operation = await cleared(stage)

    assert (await stage.apply(operation)).pause_seconds == 42.0
    await stage.apply(operation)

    first, second = stage.till.sent
    assert (first.generation, second.generation) == (1, 2)
    assert first.idempotency_key == second.idempotency_key


async def test_what_was_changed_after_it_was_cleared_is_not_sent() -> None:
    stage = Stage()
    operation = await cleared(stage)
    changed = {**operation.arguments, "amount": 1_200_000}
    stage.world.kept(operation.operation_id).operation = replace(operation, arguments=changed)

    with pytest.raises(ApplicationError, match="idempotency_conflict"):
        await stage.apply(operation)

    assert stage.till.sent == []


async def test_a_tool_that_raises_has_proven_nothing() -> None:
    stage = Stage()
    stage.till.answers = [ConnectionError("reset by 10.0.0.7")]
    operation = await cleared(stage)

    with pytest.raises(ApplicationError, match=r"^ConnectionError: unexpected failure$"):
        await stage.apply(operation)

    evidence = await stage.evidence(operation)
    assert (evidence.uncertain, evidence.effect, evidence.lease_is_live) == (True, None, False)
    assert (await stage.found(operation.operation_id)).state is State.UNCONFIRMED
    assert await stage.calls_of(operation.operation_id) == [(1, "raised")]


async def test_a_tool_that_does_not_answer_in_time_has_proven_nothing() -> None:
    stage = Stage()
    stage.till.contract = replace(stage.till.contract, limits=Limits(attempt_seconds=0.01))
    stage.till.meanwhile = silence
    operation = await cleared(stage)

    assert await stage.apply(operation) == Report(Step.RECONCILE, generation=1)
    evidence = await stage.evidence(operation)
    assert (evidence.uncertain, evidence.effect) == (True, None)
    assert (await stage.found(operation.operation_id)).state is State.UNCONFIRMED


async def test_a_send_is_on_record_before_it_leaves() -> None:
    stage = Stage()
    operation = await cleared(stage)
    seen = []

    async def note() -> None:
        evidence = await stage.evidence(operation)
        seen.append((evidence.sends, evidence.uncertain, len(await stage.calls_of(operation.operation_id))))

    stage.till.meanwhile = note
    await stage.apply(operation)

    assert seen == [(1, True, 1)]


async def test_a_claim_is_kept_alive_while_the_tool_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(applying, "RENEW_SECONDS", 0.001)
    stage = Stage()
    operation = await cleared(stage)

    async def long() -> None:
        held = stage.world.claims[operation.operation_id]
        ends = held.lease_until
        stage.world.advance(5.0)

        async def lease() -> float:
            return held.lease_until

        await until(lease, lambda until_now: until_now > ends)

    stage.till.meanwhile = long

    assert (await stage.apply(operation)).step is Step.SETTLE


async def test_another_meaning_is_not_claimed_and_not_sent() -> None:
    stage = Stage()
    operation = await cleared(stage)

    with pytest.raises(ApplicationError) as refused:
        await stage.apply(operation, intent_hash="another")

    assert (refused.value.type, refused.value.non_retryable) == ("idempotency_conflict", True)
    assert not stage.till.sent
    assert (await stage.found(operation.operation_id)).claim is None


async def test_whoever_finds_the_claim_held_looks_later() -> None:
    stage = Stage()
    claim = await claimed(stage)

    report = await stage.apply(await stage.operations.load(claim.operation_id))

    assert report == Report(Step.RECONCILE, pause_seconds=applying.LEASE_SECONDS / 2)
    assert not stage.till.sent


async def test_an_uncertain_send_is_looked_for_before_another() -> None:
    stage = Stage()
    operation = await sent(stage, Effect.unknown())

    assert await stage.apply(operation) == Report(Step.RECONCILE)
    assert not stage.till.sent


async def test_what_the_gate_has_not_let_pass_goes_back_to_it() -> None:
    stage = Stage()

    assert await stage.apply(await proposed(stage)) == Report(Step.VALIDATE)
    assert not stage.till.sent


async def test_without_its_grant_an_act_ends_unsent() -> None:
    stage = Stage()
    operation, question = await granted(stage)
    await stage.approvals.void(question.approval_id)

    assert await stage.apply(operation) == Report(Step.SETTLE, "approval_stale")
    assert not stage.till.sent


@pytest.mark.parametrize(
    ("found", "step", "on_record"),
    [
        (REFUNDED, Step.SETTLE, REFUNDED),
        (None, Step.SETTLE, CONSUMED),
        (Effect.unknown(), Step.RECONCILE, None),
        (ConnectionError(), Step.RECONCILE, None),
    ],
    ids=["the earlier one was applied", "nothing found", "not finished", "the look fails"],
)
async def test_a_refusal_after_an_earlier_send_may_be_that_sends_doing(
    found: Effect | Exception | None, step: Step, on_record: Effect | None
) -> None:
    stage = Stage()
    operation = await sent(stage, BUSY)
    stage.till.answers, stage.till.finds = [CONSUMED], found

    assert (await stage.apply(operation)).step is step
    evidence = await stage.evidence(operation)
    assert (evidence.effect, evidence.uncertain) == (on_record, on_record is None)


async def test_a_first_refusal_speaks_for_itself() -> None:
    stage = Stage()
    stage.till.answers, stage.till.finds = [CONSUMED], REFUNDED
    operation = await cleared(stage)

    assert (await stage.apply(operation)).step is Step.SETTLE
    assert (await stage.evidence(operation)).effect == CONSUMED
    assert stage.till.looks == 0


async def test_whoever_was_taken_over_while_sending_records_nothing() -> None:
    stage = Stage()
    operation = await cleared(stage)
    stage.till.meanwhile = stage.taken_over(operation)

    assert await stage.apply(operation) == Report(Step.RECONCILE, pause_seconds=1.0, generation=1)
    evidence = await stage.evidence(operation)
    assert (evidence.effect, evidence.uncertain) == (None, True)


async def test_what_its_caller_has_taken_back_is_not_sent() -> None:
    stage = Stage()
    operation = await cleared(stage)
    await stage.cancel(operation.operation_id)

    assert await stage.apply(operation) == Report(Step.SETTLE, code="canceled")
    assert stage.till.sent == []
