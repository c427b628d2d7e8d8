"""A caller takes an operation back: at each moment either nothing is sent any more, or the wish came too late."""

import pytest

from tests.support.acts import ATTEMPT_SECONDS, LEASE_SECONDS, claimed, cleared, proposed, proposed_read
from tests.support.benches import Bench
from workflows.domain.effect import Effect
from workflows.domain.errors import Canceled, EffectUncertain, LookFirst, StaleGeneration
from workflows.domain.lifecycle import State
from workflows.domain.operation import Settlement

STOPPED = Settlement.failed_with("canceled")
MADE = Effect.applied("rf-204", {"refund_id": "rf-204"})


@pytest.mark.parametrize("times", [1, 2])
async def test_the_wish_is_known_to_whoever_loads_the_operation(bench: Bench, times: int) -> None:
    for operation in (await proposed(bench), await proposed_read(bench)):
        assert not operation.cancel_wanted
        for _ in range(times):
            await bench.cancel(operation.operation_id)
        assert (await bench.operations.load(operation.operation_id)).cancel_wanted


async def test_what_was_let_pass_before_the_wish_is_not_claimed_after_it(bench: Bench) -> None:
    operation = await cleared(bench)
    await bench.cancel(operation.operation_id)
    with pytest.raises(Canceled):
        await bench.claims.acquire(operation.operation_id, "owner-1", LEASE_SECONDS)


async def test_what_was_claimed_before_the_wish_is_not_sent_after_it(bench: Bench) -> None:
    claim = await claimed(bench)
    await bench.cancel(claim.operation_id)
    with pytest.raises(StaleGeneration):
        await bench.claims.begin_send(claim, ATTEMPT_SECONDS)
    assert (await bench.operations.settle(claim.operation_id, STOPPED)).code == "canceled"


async def test_what_was_sent_before_the_wish_goes_on_to_its_true_end(bench: Bench) -> None:
    claim = await claimed(bench)
    await bench.claims.begin_send(claim, ATTEMPT_SECONDS)
    await bench.cancel(claim.operation_id)
    with pytest.raises(EffectUncertain):
        await bench.operations.settle(claim.operation_id, STOPPED)
    await bench.claims.conclude(claim, MADE)
    ended = await bench.operations.settle(claim.operation_id, Settlement(State.SUCCEEDED, data={}, reference="rf-204"))
    assert ended.state is State.SUCCEEDED


async def test_what_is_uncertain_when_the_wish_comes_is_looked_for_first(bench: Bench) -> None:
    claim = await claimed(bench)
    await bench.claims.begin_send(claim, ATTEMPT_SECONDS)
    await bench.claims.conclude(claim, Effect.unknown())
    await bench.cancel(claim.operation_id)
    with pytest.raises(LookFirst):
        await bench.claims.acquire(claim.operation_id, "owner-2", LEASE_SECONDS)


async def test_what_is_proven_absent_after_the_wish_is_not_sent_again(bench: Bench) -> None:
    claim = await claimed(bench)
    await bench.claims.begin_send(claim, ATTEMPT_SECONDS)
    await bench.claims.conclude(claim, Effect.unknown())
    await bench.cancel(claim.operation_id)
    await bench.claims.prove_absent(claim.operation_id, claim.generation)
    with pytest.raises(Canceled):
        await bench.claims.acquire(claim.operation_id, "owner-2", LEASE_SECONDS)
    assert (await bench.operations.settle(claim.operation_id, STOPPED)).code == "canceled"
