"""The stored operations: legal steps only, and one ending."""

import asyncio
from dataclasses import replace
from decimal import Decimal

import pytest

from tests.support.acts import ATTEMPT_SECONDS, asked, binding_of, claimed, cleared, proposed, proposed_read
from tests.support.benches import Bench
from tests.support.proposals import CALLER, REFUND, fresh
from workflows.domain.approval import ApprovalState, Clearance
from workflows.domain.effect import Effect
from workflows.domain.errors import CallRefused, ClearanceMissing, Detail, EffectUncertain, IllegalTransition
from workflows.domain.gate import Layer, Verdict
from workflows.domain.lifecycle import State
from workflows.domain.operation import Settlement

MADE = Settlement(State.SUCCEEDED, data={"refund_id": "rf-204", "amount": 12_000}, reference="rf-204")
DENIED = Settlement(State.FAILED_TERMINAL, "approval_denied")


async def test_what_was_registered_is_what_is_loaded(bench: Bench) -> None:
    operation = await proposed(bench, order_id=(order_id := fresh("O")))
    stored = await bench.operations.load(operation.operation_id)
    assert stored.principal == replace(CALLER, name="")
    assert (stored.tool, stored.tool_version, stored.resource) == ("refund_payment", "1", f"order:{order_id}")
    assert stored.arguments == REFUND | {"order_id": order_id}
    assert stored.state is State.PROPOSED
    assert len(stored.intent_hash) == 64


async def test_what_is_not_there_is_not_found(bench: Bench) -> None:
    with pytest.raises(CallRefused) as refused:
        await bench.operations.load("op_invented")
    assert refused.value.code == "not_found"


async def test_a_legal_step_is_taken(bench: Bench) -> None:
    claim = await claimed(bench)
    assert await bench.operations.move(claim.operation_id, State.UNCONFIRMED) is State.UNCONFIRMED
    assert await bench.operations.move(claim.operation_id, State.MANUAL_REVIEW) is State.MANUAL_REVIEW
    assert (await bench.found(claim.operation_id)).state is State.MANUAL_REVIEW


@pytest.mark.parametrize("state", [State.UNCONFIRMED, State.MANUAL_REVIEW, State.SUCCEEDED, State.PROPOSED])
async def test_an_illegal_step_is_not_taken(bench: Bench, state: State) -> None:
    operation = await proposed(bench)
    assert await bench.operations.move(operation.operation_id, state) is State.PROPOSED
    assert (await bench.found(operation.operation_id)).state is State.PROPOSED


async def test_what_has_ended_without_an_effect_may_be_taken_up_again(bench: Bench) -> None:
    operation = await proposed(bench)
    await bench.operations.settle(operation.operation_id, Settlement(State.FAILED_RETRYABLE, "upstream_unavailable"))
    assert await bench.operations.move(operation.operation_id, State.PROPOSED) is State.PROPOSED


async def test_a_success_is_never_left(bench: Bench) -> None:
    claim = await claimed(bench)
    await bench.operations.settle(claim.operation_id, MADE)
    for state in State:
        assert await bench.operations.move(claim.operation_id, state) is State.SUCCEEDED


async def test_an_ending_is_stored_with_its_event(bench: Bench) -> None:
    claim = await claimed(bench)
    assert await bench.operations.settle(claim.operation_id, MADE) == MADE
    stored = await bench.operations.load(claim.operation_id)
    assert (stored.state, stored.result, stored.reference) == (State.SUCCEEDED, MADE.data, "rf-204")
    assert (await bench.found(claim.operation_id)).outbox == ("start", "operation.ended")


async def test_the_second_ending_gets_the_first_one_back(bench: Bench) -> None:
    claim = await claimed(bench)
    await bench.operations.settle(claim.operation_id, MADE)
    assert await bench.operations.settle(claim.operation_id, DENIED) == MADE
    assert (await bench.operations.load(claim.operation_id)).code is None
    assert (await bench.found(claim.operation_id)).outbox == ("start", "operation.ended")


async def test_of_ten_endings_at_once_one_counts(bench: Bench) -> None:
    claim = await claimed(bench)
    endings = [Settlement(State.FAILED_TERMINAL, "downstream_rejected", reference=f"rf-{n}") for n in range(10)]
    told = await asyncio.gather(*(bench.operations.settle(claim.operation_id, ending) for ending in endings))
    assert len(set(map(repr, told))) == 1
    assert (await bench.found(claim.operation_id)).outbox == ("start", "operation.ended")


async def test_an_ending_keeps_its_details_and_every_digit(bench: Bench) -> None:
    claim = await claimed(bench)
    details = (Detail("/amount", "invalid_value", "at most 12000"),)
    exact = Settlement(State.SUCCEEDED, None, details, {"big": 2**80, "rate": Decimal("0.1000")}, "rf-1")
    await bench.operations.settle(claim.operation_id, exact)
    assert await bench.operations.settle(claim.operation_id, DENIED) == exact
    standings = await bench.progress.standings(CALLER, [claim.operation_id])
    assert standings[claim.operation_id].details == details


async def test_a_success_needs_a_start(bench: Bench) -> None:
    operation = await proposed(bench)
    with pytest.raises(IllegalTransition):
        await bench.operations.settle(operation.operation_id, MADE)
    found = await bench.found(operation.operation_id)
    assert (found.state, found.outbox) == (State.PROPOSED, ("start",))


async def test_a_refusal_may_end_what_waits_for_a_person(bench: Bench) -> None:
    operation, _ = await asked(bench)
    await bench.operations.settle(operation.operation_id, DENIED)
    assert (await bench.operations.load(operation.operation_id)).code == "approval_denied"


async def test_an_unconfirmed_effect_may_turn_out_to_have_been_made(bench: Bench) -> None:
    claim = await claimed(bench)
    await bench.claims.conclude(claim, Effect.unknown())
    await bench.operations.settle(claim.operation_id, MADE)
    assert (await bench.found(claim.operation_id)).state is State.SUCCEEDED


async def test_the_newest_word_of_the_gate_counts(bench: Bench) -> None:
    operation = await cleared(bench)
    await bench.operations.record(operation, [Verdict(Layer.BUSINESS, "quote_expired")], None)
    with pytest.raises(ClearanceMissing):
        await bench.claims.acquire(operation.operation_id, "owner-1", 12.0)
    await bench.operations.record(operation, [Verdict(Layer.RISK)], Clearance(binding_of(operation)))
    assert (await bench.claims.acquire(operation.operation_id, "owner-1", 12.0)).generation == 1


async def test_a_read_has_no_start_in_the_outbox(bench: Bench) -> None:
    operation = await proposed_read(bench)
    assert (await bench.found(operation.operation_id)).outbox == ()


async def test_a_refusal_is_not_written_over_an_effect_that_somebody_has_just_recorded(bench: Bench) -> None:
    claim = await claimed(bench)
    await bench.claims.begin_send(claim, ATTEMPT_SECONDS)
    await bench.claims.conclude(claim, Effect.applied("rf-204", {}))
    with pytest.raises(EffectUncertain):
        await bench.operations.settle(claim.operation_id, DENIED)
    assert await bench.operations.settle(claim.operation_id, MADE) == MADE


async def test_a_success_leaves_nobody_with_a_question(bench: Bench) -> None:
    operation, _ = await asked(bench)
    await bench.operations.record(operation, [Verdict(Layer.RISK)], Clearance(binding_of(operation)))
    claim = await bench.claims.acquire(operation.operation_id, "owner-1", 12.0)
    await bench.claims.conclude(claim, Effect.applied("rf-204", {}))
    await bench.operations.settle(operation.operation_id, MADE)
    assert (await bench.found(operation.operation_id)).approvals == (ApprovalState.VOID,)
