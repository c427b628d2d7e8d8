"""The claims: one holder, rising generations, and an approval that is used up with the claim."""

import asyncio
from dataclasses import replace

import pytest

from tests.support.acts import (
    ATTEMPT_SECONDS,
    LEASE_SECONDS,
    PLEA,
    asked,
    binding_of,
    claimed,
    cleared,
    granted,
    proposed,
)
from tests.support.benches import Bench, Found
from workflows.domain.approval import ApprovalState, Choice, Clearance
from workflows.domain.claim import Claim
from workflows.domain.effect import Effect, Outcome
from workflows.domain.errors import (
    AlreadyEnded,
    ApprovalMissing,
    CallRefused,
    ClaimHeld,
    ClearanceMissing,
    EffectUncertain,
    LookFirst,
    StaleGeneration,
)
from workflows.domain.gate import Layer, Verdict
from workflows.domain.intent import idempotency_key
from workflows.domain.lifecycle import State
from workflows.domain.operation import Settlement

LEASE = 12.0
MADE = Effect.applied("rf-204", {"refund_id": "rf-204", "amount": 12_000})
RATE_LIMITED = Effect.rejected("rate_limited", retryable=True, retry_after_seconds=3.0)


async def test_what_a_send_was_promised_as_is_on_record_for_that_send_alone(bench: Bench) -> None:
    operation = await cleared(bench)
    claim = await bench.claims.acquire(operation.operation_id, "owner-1", LEASE)
    entry = await bench.journal.began(operation, claim.generation)
    await bench.claims.begin_send(claim, ATTEMPT_SECONDS)
    await bench.journal.sent(entry, "request-1", "task-1")
    evidence = await bench.claims.evidence(claim.operation_id)
    assert evidence is not None
    assert (claim.dispatch.task_id, evidence.dispatch.task_id) == ("", "task-1")

    await bench.claims.conclude(claim, Effect.unknown())
    await bench.claims.prove_absent(claim.operation_id, claim.generation)
    absent = await bench.claims.evidence(claim.operation_id)
    assert absent is not None
    assert absent.dispatch.task_id == ""


async def test_a_claim_needs_the_gates_word(bench: Bench) -> None:
    operation = await proposed(bench)
    before = await bench.found(operation.operation_id)
    with pytest.raises(ClearanceMissing):
        await bench.claims.acquire(operation.operation_id, "owner-1", LEASE)
    assert await bench.found(operation.operation_id) == before


async def test_a_clearance_that_is_too_old_counts_for_nothing(bench: Bench) -> None:
    operation = await cleared(bench)
    await bench.pass_time(operation.operation_id, 61)
    with pytest.raises(ClearanceMissing):
        await bench.claims.acquire(operation.operation_id, "owner-1", LEASE)
    assert (await bench.found(operation.operation_id)).claim is None


async def test_a_clearance_that_was_taken_back_counts_for_nothing(bench: Bench) -> None:
    operation = await cleared(bench)
    await bench.operations.record(operation, [Verdict(Layer.BUSINESS, "quote_expired")], None)
    with pytest.raises(ClearanceMissing):
        await bench.claims.acquire(operation.operation_id, "owner-1", LEASE)


async def test_the_first_claim_starts_the_operation_in_generation_one(bench: Bench) -> None:
    operation = await cleared(bench)
    claim = await bench.claims.acquire(operation.operation_id, "owner-1", LEASE)
    assert (claim.owner, claim.generation, claim.sends) == ("owner-1", 1, 0)
    assert (claim.sent.since_first_send, claim.sent.since_last_send) == (None, None)
    assert (await bench.found(operation.operation_id)).state is State.STARTED


async def test_the_downstream_is_told_who_asks_and_under_which_key(bench: Bench) -> None:
    claim = await claimed(bench)
    assert claim.dispatch.operation_id == claim.operation_id
    assert claim.dispatch.tenant == "tenant-a"
    assert claim.dispatch.idempotency_key == idempotency_key("tenant-a", "refund_payment", claim.operation_id)
    assert claim.dispatch.generation == 1


async def test_the_grant_is_used_up_with_the_claim(bench: Bench) -> None:
    operation, _ = await granted(bench)
    await bench.claims.acquire(operation.operation_id, "owner-1", LEASE)
    found = await bench.found(operation.operation_id)
    assert found.approvals == (ApprovalState.CONSUMED,)
    assert found.claim == ("owner-1", 1, 0)


async def test_a_grant_is_used_up_once(bench: Bench) -> None:
    operation, _ = await granted(bench)
    await bench.claims.acquire(operation.operation_id, "owner-1", LEASE)
    await bench.pass_time(operation.operation_id, LEASE + 1)
    claim = await bench.claims.acquire(operation.operation_id, "owner-2", LEASE)
    assert claim.generation == 2
    assert (await bench.found(operation.operation_id)).approvals == (ApprovalState.CONSUMED,)


@pytest.mark.parametrize(
    "changed",
    [{"intent_hash": "f" * 64}, {"resource_version": "2/pay-18/1"}, {"policy_version": "policy-2"}],
    ids=["intent", "resource version", "policy version"],
)
async def test_a_grant_that_binds_something_else_gives_no_claim_and_changes_nothing(
    bench: Bench, changed: dict[str, str]
) -> None:
    operation, question = await granted(bench)
    binding = replace(binding_of(operation), **changed)
    await bench.operations.record(operation, [Verdict(Layer.RISK)], Clearance(binding, question.approval_id))
    await assert_refused_without_a_trace(bench, operation.operation_id)


async def test_a_grant_that_has_expired_gives_no_claim_and_changes_nothing(bench: Bench) -> None:
    brief = replace(PLEA, rule=replace(PLEA.rule, expires_seconds=30.0))
    operation, _ = await granted(bench, brief)
    await bench.pass_time(operation.operation_id, 31)
    await assert_refused_without_a_trace(bench, operation.operation_id)


async def test_a_question_that_nobody_has_answered_gives_no_claim(bench: Bench) -> None:
    operation, question = await asked(bench)
    clearance = Clearance(binding_of(operation), question.approval_id)
    await bench.operations.record(operation, [Verdict(Layer.RISK)], clearance)
    await assert_refused_without_a_trace(bench, operation.operation_id)


async def test_a_denial_gives_no_claim(bench: Bench) -> None:
    operation, question = await asked(bench)
    await bench.decide(question.approval_id, Choice.DENY)
    clearance = Clearance(binding_of(operation), question.approval_id)
    await bench.operations.record(operation, [Verdict(Layer.RISK)], clearance)
    await assert_refused_without_a_trace(bench, operation.operation_id)


async def test_a_grant_that_was_taken_back_gives_no_claim(bench: Bench) -> None:
    operation, question = await granted(bench)
    await bench.approvals.void(question.approval_id)
    await assert_refused_without_a_trace(bench, operation.operation_id)


async def test_the_grant_of_another_operation_gives_no_claim(bench: Bench) -> None:
    other, question = await granted(bench)
    operation = await proposed(bench)
    clearance = Clearance(binding_of(operation), question.approval_id)
    await bench.operations.record(operation, [Verdict(Layer.RISK)], clearance)
    await assert_refused_without_a_trace(bench, operation.operation_id)
    assert (await bench.found(other.operation_id)).approvals == (ApprovalState.GRANTED,)


async def test_an_approval_that_does_not_exist_gives_no_claim(bench: Bench) -> None:
    operation = await proposed(bench)
    clearance = Clearance(binding_of(operation), "ap_invented")
    await bench.operations.record(operation, [Verdict(Layer.RISK)], clearance)
    await assert_refused_without_a_trace(bench, operation.operation_id)


async def test_a_live_lease_keeps_everybody_out(bench: Bench) -> None:
    claim = await claimed(bench)
    before = await bench.found(claim.operation_id)
    for owner in ("owner-2", claim.owner):
        with pytest.raises(ClaimHeld):
            await bench.claims.acquire(claim.operation_id, owner, LEASE)
    assert await bench.found(claim.operation_id) == before


@pytest.mark.parametrize("successor", ["owner-2", "owner-1"], ids=["somebody else", "the same owner"])
async def test_a_lapsed_lease_gives_the_next_generation(bench: Bench, successor: str) -> None:
    first = await claimed(bench, owner="owner-1")
    await bench.pass_time(first.operation_id, LEASE + 1)
    second = await bench.claims.acquire(first.operation_id, successor, LEASE)
    assert second.generation == first.generation + 1
    assert second.dispatch.idempotency_key == first.dispatch.idempotency_key
    assert second.dispatch.generation == second.generation


async def test_while_a_send_is_uncertain_nobody_gets_the_claim(bench: Bench) -> None:
    first = await claimed(bench)
    await bench.claims.begin_send(first, ATTEMPT_SECONDS)
    await bench.pass_time(first.operation_id, LEASE + 1)
    before = await bench.found(first.operation_id)
    with pytest.raises(LookFirst):
        await bench.claims.acquire(first.operation_id, "owner-2", LEASE)
    assert await bench.found(first.operation_id) == before


async def test_what_is_proven_absent_may_be_claimed_and_sent_again(bench: Bench) -> None:
    first = await claimed(bench)
    await bench.claims.begin_send(first, ATTEMPT_SECONDS)
    with pytest.raises(StaleGeneration):
        await bench.claims.prove_absent(first.operation_id, first.generation)
    await bench.pass_time(first.operation_id, LEASE + 1)
    await bench.claims.prove_absent(first.operation_id, first.generation)
    operation = await bench.operations.load(first.operation_id)
    await bench.operations.record(operation, [Verdict(Layer.RISK)], Clearance(binding_of(operation)))
    second = await bench.claims.acquire(first.operation_id, "owner-2", LEASE)
    assert (second.generation, second.sends) == (3, 1)
    assert second.sent.since_first_send == pytest.approx(LEASE + 1, abs=5)
    await bench.claims.begin_send(second, ATTEMPT_SECONDS)
    await assert_powerless(bench, first)


async def test_a_proof_that_is_older_than_the_claim_proves_nothing(bench: Bench) -> None:
    first = await claimed(bench)
    await bench.claims.begin_send(first, ATTEMPT_SECONDS)
    await bench.pass_time(first.operation_id, LEASE + 1)
    await bench.claims.prove_absent(first.operation_id, first.generation)
    with pytest.raises(StaleGeneration):
        await bench.claims.prove_absent(first.operation_id, first.generation)


async def test_a_refusal_closes_the_claim_so_that_its_holder_can_send_no_more(bench: Bench) -> None:
    claim = await claimed(bench)
    await bench.operations.settle(claim.operation_id, Settlement(State.FAILED_TERMINAL, "approval_stale"))
    await assert_powerless(bench, claim)


async def test_what_was_sent_and_is_uncertain_does_not_end_with_a_refusal(bench: Bench) -> None:
    claim = await claimed(bench)
    await bench.claims.begin_send(claim, ATTEMPT_SECONDS)
    with pytest.raises(EffectUncertain):
        await bench.operations.settle(claim.operation_id, Settlement(State.FAILED_TERMINAL, "approval_stale"))
    assert (await bench.found(claim.operation_id)).state is State.STARTED


async def test_an_operation_that_ends_takes_its_open_question_back(bench: Bench) -> None:
    operation, _ = await asked(bench)
    await bench.operations.settle(operation.operation_id, Settlement(State.FAILED_RETRYABLE, "upstream_unavailable"))
    assert (await bench.found(operation.operation_id)).approvals == (ApprovalState.VOID,)


async def test_who_was_taken_over_can_do_nothing_any_more(bench: Bench) -> None:
    stale, _ = await taken_over(bench)
    before = await bench.found(stale.operation_id)
    await assert_powerless(bench, stale)
    assert await bench.found(stale.operation_id) == before


async def test_an_owner_is_not_mistaken_for_its_own_successor(bench: Bench) -> None:
    stale, _ = await taken_over(bench, successor="owner-1")
    before = await bench.found(stale.operation_id)
    await assert_powerless(bench, stale)
    assert await bench.found(stale.operation_id) == before


async def test_nobody_else_can_speak_for_the_holder(bench: Bench) -> None:
    claim = await claimed(bench)
    before = await bench.found(claim.operation_id)
    await assert_powerless(bench, replace(claim, owner="owner-2"))
    assert await bench.found(claim.operation_id) == before


async def test_a_lapsed_lease_neither_sends_nor_lives_on(bench: Bench) -> None:
    claim = await claimed(bench)
    await bench.pass_time(claim.operation_id, LEASE + 1)
    with pytest.raises(StaleGeneration):
        await bench.claims.begin_send(claim, ATTEMPT_SECONDS)
    with pytest.raises(StaleGeneration):
        await bench.claims.renew(claim, LEASE)
    assert (await bench.found(claim.operation_id)).claim == (claim.owner, 1, 0)


async def test_a_renewed_lease_outlives_the_first(bench: Bench) -> None:
    claim = await claimed(bench)
    await bench.claims.renew(claim, 100.0)
    await bench.pass_time(claim.operation_id, LEASE + 1)
    with pytest.raises(ClaimHeld):
        await bench.claims.acquire(claim.operation_id, "owner-2", LEASE)
    await bench.claims.begin_send(claim, ATTEMPT_SECONDS)
    assert (await bench.found(claim.operation_id)).claim == (claim.owner, 1, 1)


async def test_every_send_is_counted_before_it_is_made(bench: Bench) -> None:
    claim = await claimed(bench)
    await bench.claims.begin_send(claim, ATTEMPT_SECONDS)
    await bench.pass_time(claim.operation_id, 5)
    evidence = await bench.claims.evidence(claim.operation_id)
    assert evidence is not None
    assert (evidence.sends, evidence.uncertain) == (1, True)
    assert evidence.sent.since_first_send == pytest.approx(5, abs=3)
    # Until its end is known, the attempt counts as one that may still leave.
    assert evidence.sent.since_last_send == pytest.approx(5 - ATTEMPT_SECONDS, abs=3)
    with pytest.raises(StaleGeneration):
        await bench.claims.begin_send(claim, ATTEMPT_SECONDS)


async def test_an_applied_effect_closes_the_claim(bench: Bench) -> None:
    claim = await claimed(bench)
    await bench.claims.begin_send(claim, ATTEMPT_SECONDS)
    await bench.claims.conclude(claim, MADE)
    evidence = await bench.claims.evidence(claim.operation_id)
    assert evidence is not None
    assert evidence.effect == MADE
    assert not evidence.lease_is_live
    with pytest.raises(AlreadyEnded):
        await bench.claims.acquire(claim.operation_id, "owner-2", LEASE)


async def test_an_effect_that_is_refused_for_good_closes_the_claim(bench: Bench) -> None:
    claim = await claimed(bench)
    await bench.claims.conclude(claim, Effect.rejected("refund_amount_exceeded"))
    evidence = await bench.claims.evidence(claim.operation_id)
    assert evidence is not None
    assert evidence.effect is not None
    assert (evidence.effect.outcome, evidence.effect.code) == (Outcome.REJECTED, "refund_amount_exceeded")
    with pytest.raises(AlreadyEnded):
        await bench.claims.acquire(claim.operation_id, "owner-2", LEASE)


async def test_an_unknown_effect_leaves_the_claim_open_and_the_operation_unconfirmed(bench: Bench) -> None:
    claim = await claimed(bench)
    await bench.claims.begin_send(claim, ATTEMPT_SECONDS)
    await bench.claims.conclude(claim, Effect.unknown())
    assert (await bench.found(claim.operation_id)).state is State.UNCONFIRMED
    evidence = await bench.claims.evidence(claim.operation_id)
    assert evidence is not None
    assert evidence.effect is None
    assert not evidence.lease_is_live
    assert evidence.uncertain
    with pytest.raises(LookFirst):
        await bench.claims.acquire(claim.operation_id, "owner-2", LEASE)


async def test_an_effect_that_is_refused_for_now_gives_the_lease_back(bench: Bench) -> None:
    claim = await claimed(bench)
    await bench.claims.begin_send(claim, ATTEMPT_SECONDS)
    await bench.claims.conclude(claim, RATE_LIMITED)
    assert (await bench.found(claim.operation_id)).state is State.STARTED
    successor = await bench.claims.acquire(claim.operation_id, "owner-2", LEASE)
    assert (successor.generation, successor.sends) == (2, 1)


async def test_a_conclusion_is_drawn_once(bench: Bench) -> None:
    claim = await claimed(bench)
    await bench.claims.conclude(claim, MADE)
    with pytest.raises(StaleGeneration):
        await bench.claims.conclude(claim, Effect.rejected("downstream_rejected"))
    evidence = await bench.claims.evidence(claim.operation_id)
    assert evidence is not None
    assert evidence.effect == MADE


async def test_evidence_outranks_a_live_owner(bench: Bench) -> None:
    claim = await claimed(bench)
    await bench.claims.begin_send(claim, ATTEMPT_SECONDS)
    await bench.claims.conclude_by_evidence(claim.operation_id, claim.generation, MADE)
    evidence = await bench.claims.evidence(claim.operation_id)
    assert evidence is not None
    assert (evidence.effect, evidence.generation) == (MADE, 2)
    await assert_powerless(bench, claim)


async def test_later_evidence_does_not_change_the_first(bench: Bench) -> None:
    claim = await claimed(bench)
    await bench.claims.conclude_by_evidence(claim.operation_id, claim.generation, MADE)
    await bench.claims.conclude_by_evidence(
        claim.operation_id, claim.generation, Effect.rejected("downstream_rejected")
    )
    evidence = await bench.claims.evidence(claim.operation_id)
    assert evidence is not None
    assert (evidence.effect, evidence.generation) == (MADE, 2)


async def test_evidence_about_what_was_never_claimed_leaves_no_trace(bench: Bench) -> None:
    operation = await proposed(bench)
    before = await bench.found(operation.operation_id)
    await bench.claims.conclude_by_evidence(operation.operation_id, 1, MADE)
    assert await bench.claims.evidence(operation.operation_id) is None
    assert await bench.found(operation.operation_id) == before


async def test_an_operation_that_has_ended_is_never_claimed(bench: Bench) -> None:
    operation = await cleared(bench)
    await bench.operations.settle(operation.operation_id, Settlement(State.FAILED_TERMINAL, "approval_denied"))
    with pytest.raises(AlreadyEnded):
        await bench.claims.acquire(operation.operation_id, "owner-1", LEASE)
    assert (await bench.found(operation.operation_id)).claim is None


async def test_what_is_not_there_is_never_claimed(bench: Bench) -> None:
    with pytest.raises(CallRefused) as refused:
        await bench.claims.acquire("op_invented", "owner-1", LEASE)
    assert refused.value.code == "not_found"


async def test_of_twenty_at_once_exactly_one_gets_the_claim(bench: Bench) -> None:
    operation, _ = await granted(bench)
    attempts = [bench.claims.acquire(operation.operation_id, f"owner-{number}", LEASE) for number in range(20)]
    outcomes = await asyncio.gather(*attempts, return_exceptions=True)
    winners = [outcome for outcome in outcomes if isinstance(outcome, Claim)]
    assert len(winners) == 1
    assert all(isinstance(outcome, Claim | ClaimHeld) for outcome in outcomes)
    found = await bench.found(operation.operation_id)
    assert found.claim == (winners[0].owner, 1, 0)
    assert found.approvals == (ApprovalState.CONSUMED,)


async def test_of_twenty_successors_at_once_exactly_one_takes_over(bench: Bench) -> None:
    first = await claimed(bench)
    await bench.pass_time(first.operation_id, LEASE + 1)
    attempts = [bench.claims.acquire(first.operation_id, f"next-{number}", LEASE) for number in range(20)]
    outcomes = await asyncio.gather(*attempts, return_exceptions=True)
    assert [outcome.generation for outcome in outcomes if isinstance(outcome, Claim)] == [2]
    assert sum(isinstance(outcome, ClaimHeld) for outcome in outcomes) == 19


async def test_a_conclusion_and_a_takeover_at_once_leave_one_story(bench: Bench) -> None:
    claim = await claimed(bench)
    await bench.claims.begin_send(claim, ATTEMPT_SECONDS)
    await bench.pass_time(claim.operation_id, LEASE + 1)
    concluded, taken = await asyncio.gather(
        bench.claims.conclude(claim, MADE),
        bench.claims.acquire(claim.operation_id, "owner-2", LEASE),
        return_exceptions=True,
    )
    evidence = await bench.claims.evidence(claim.operation_id)
    assert evidence is not None
    # Whichever comes first: while the send is uncertain nobody takes over, and once it is recorded nobody needs to.
    assert concluded is None
    assert isinstance(taken, LookFirst | AlreadyEnded)
    assert evidence.effect == MADE
    assert evidence.generation == claim.generation


async def assert_refused_without_a_trace(bench: Bench, operation_id: str) -> None:
    before: Found = await bench.found(operation_id)
    with pytest.raises(ApprovalMissing):
        await bench.claims.acquire(operation_id, "owner-1", LEASE)
    assert before.claim is None
    assert await bench.found(operation_id) == before
    assert await bench.claims.evidence(operation_id) is None


async def assert_powerless(bench: Bench, claim: Claim) -> None:
    with pytest.raises(StaleGeneration):
        await bench.claims.begin_send(claim, ATTEMPT_SECONDS)
    with pytest.raises(StaleGeneration):
        await bench.claims.renew(claim, LEASE)
    for effect in (MADE, Effect.unknown(), RATE_LIMITED):
        with pytest.raises(StaleGeneration):
            await bench.claims.conclude(claim, effect)


async def taken_over(bench: Bench, successor: str = "owner-2") -> tuple[Claim, Claim]:
    first = await claimed(bench, owner="owner-1")
    await bench.pass_time(first.operation_id, LEASE + 1)
    return first, await bench.claims.acquire(first.operation_id, successor, LEASE)


async def test_evidence_that_nothing_happened_does_not_outrank_a_claim_taken_since(bench: Bench) -> None:
    claim = await claimed(bench)
    await bench.pass_time(claim.operation_id, LEASE_SECONDS + 1)
    successor = await bench.claims.acquire(claim.operation_id, "owner-2", LEASE_SECONDS)
    nothing = Effect.rejected("upstream_unavailable")
    with pytest.raises(StaleGeneration):
        await bench.claims.conclude_by_evidence(claim.operation_id, claim.generation, nothing)
    await bench.claims.begin_send(successor, ATTEMPT_SECONDS)
    await bench.claims.conclude(successor, MADE)
    evidence = await bench.claims.evidence(claim.operation_id)
    assert evidence is not None
    assert evidence.effect is not None
    assert evidence.effect.outcome is Outcome.APPLIED


async def test_evidence_that_it_happened_is_true_whoever_holds_the_claim(bench: Bench) -> None:
    claim = await claimed(bench)
    await bench.pass_time(claim.operation_id, LEASE_SECONDS + 1)
    await bench.claims.acquire(claim.operation_id, "owner-2", LEASE_SECONDS)
    await bench.claims.conclude_by_evidence(claim.operation_id, claim.generation, MADE)
    assert (await bench.found(claim.operation_id)).claim == ("evidence", 3, 0)
