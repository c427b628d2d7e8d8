"""The journal: every call of a handler is counted before it is made."""

import pytest

from tests.support.acts import claimed, proposed_read
from tests.support.benches import Bench
from workflows.domain.errors import AlreadyEnded
from workflows.domain.lifecycle import State
from workflows.domain.operation import Settlement


async def test_a_call_is_on_record_before_it_has_answered(bench: Bench) -> None:
    operation = await proposed_read(bench)
    await bench.journal.began(operation, 0)
    assert await bench.calls_of(operation.operation_id) == [(0, None)]


async def test_a_read_is_started_by_its_call(bench: Bench) -> None:
    operation = await proposed_read(bench)
    await bench.journal.began(operation, 0)
    assert (await bench.found(operation.operation_id)).state is State.STARTED


async def test_a_second_call_of_a_read_is_counted_too(bench: Bench) -> None:
    operation = await proposed_read(bench)
    first = await bench.journal.began(operation, 0)
    await bench.journal.ended(first, "refused")
    second = await bench.journal.began(operation, 0)
    await bench.journal.ended(second, "answered")
    assert first != second
    assert await bench.calls_of(operation.operation_id) == [(0, "refused"), (0, "answered")]


async def test_a_write_keeps_the_state_that_its_claim_gave_it(bench: Bench) -> None:
    claim = await claimed(bench)
    operation = await bench.operations.load(claim.operation_id)
    await bench.operations.move(claim.operation_id, State.UNCONFIRMED)
    await bench.journal.began(operation, claim.generation)
    assert (await bench.found(claim.operation_id)).state is State.UNCONFIRMED


@pytest.mark.parametrize("outcome", ["applied", "unknown", "raised"])
async def test_the_outcome_is_written_to_its_own_entry(bench: Bench, outcome: str) -> None:
    claim = await claimed(bench)
    operation = await bench.operations.load(claim.operation_id)
    first = await bench.journal.began(operation, 1)
    await bench.journal.began(operation, 2)
    await bench.journal.ended(first, outcome)
    assert await bench.calls_of(claim.operation_id) == [(1, outcome), (2, None)]


async def test_nothing_is_called_for_what_has_ended(bench: Bench) -> None:
    operation = await proposed_read(bench)
    await bench.operations.settle(operation.operation_id, Settlement.failed_with("upstream_unavailable"))
    with pytest.raises(AlreadyEnded):
        await bench.journal.began(operation, 0)
    assert await bench.calls_of(operation.operation_id) == []


async def test_what_the_other_side_knows_a_call_by_is_kept_with_that_call(bench: Bench) -> None:
    operation = await proposed_read(bench)
    first = await bench.journal.began(operation, 0)
    second = await bench.journal.began(operation, 0)
    await bench.journal.sent(second, "c-1:7", "")
    await bench.journal.sent(second, "c-1:7", "task-3")
    await bench.journal.ended(first, "refused")
    assert await bench.requests_of(operation.operation_id) == [(None, None), ("c-1:7", "task-3")]
