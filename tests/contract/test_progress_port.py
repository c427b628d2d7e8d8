"""Where operations stand, for those whose operations they are."""

from dataclasses import replace

import pytest

from tests.support.acts import asked, claimed, proposed
from tests.support.benches import Bench
from tests.support.proposals import CALLER
from workflows.domain.errors import Detail
from workflows.domain.lifecycle import State
from workflows.domain.operation import Settlement
from workflows.domain.principal import Principal


async def test_an_open_operation_shows_its_state_alone(bench: Bench) -> None:
    operation, _ = await asked(bench)
    (standing,) = (await bench.progress.standings(CALLER, [operation.operation_id])).values()
    assert (standing.tool, standing.state) == ("refund_payment", State.AWAITING_APPROVAL)
    assert (standing.code, standing.details, standing.data, standing.reference) == (None, (), None, None)


async def test_a_success_shows_data_and_receipt(bench: Bench) -> None:
    claim = await claimed(bench)
    data = {"refund_id": "rf-204", "amount": 2**60}
    await bench.operations.settle(claim.operation_id, Settlement(State.SUCCEEDED, data=data, reference="rf-204"))
    standing = (await bench.progress.standings(CALLER, [claim.operation_id]))[claim.operation_id]
    assert (standing.state, standing.data, standing.reference) == (State.SUCCEEDED, data, "rf-204")


async def test_a_failure_shows_code_and_details(bench: Bench) -> None:
    operation = await proposed(bench)
    details = (Detail("/amount", "invalid_value", "less"),)
    await bench.operations.settle(operation.operation_id, Settlement(State.FAILED_TERMINAL, "amount_mismatch", details))
    standing = (await bench.progress.standings(CALLER, [operation.operation_id]))[operation.operation_id]
    assert (standing.state, standing.code, standing.details) == (State.FAILED_TERMINAL, "amount_mismatch", details)


@pytest.mark.parametrize(
    "stranger",
    [replace(CALLER, tenant="tenant-b"), replace(CALLER, subject="user-18")],
    ids=["another tenant", "another user"],
)
async def test_a_stranger_sees_nothing(bench: Bench, stranger: Principal) -> None:
    operation = await proposed(bench)
    assert await bench.progress.standings(stranger, [operation.operation_id]) == {}


async def test_what_is_not_there_is_left_out(bench: Bench) -> None:
    operation = await proposed(bench)
    standings = await bench.progress.standings(CALLER, ["op_invented", operation.operation_id])
    assert list(standings) == [operation.operation_id]


async def test_asking_about_nothing_finds_nothing(bench: Bench) -> None:
    assert await bench.progress.standings(CALLER, []) == {}
