"""What leaves within a day, and acts that come twice: on the fakes and on PostgreSQL."""

import asyncio

import pytest

from tests.support.acts import proposed, proposed_read
from tests.support.benches import Bench
from tests.support.proposals import fresh, lookup, refund, turn_of
from workflows.domain.effect import ABANDONED
from workflows.domain.impact import Money
from workflows.domain.lifecycle import State
from workflows.domain.operation import Operation, Settlement
from workflows.domain.policy import Circumstances, Totals
from workflows.domain.principal import Principal

REPEAT_SECONDS = 600.0
A_DAY = 24 * 3600.0


def caller(tenant: str, subject: str = "user-17") -> Principal:
    return Principal(tenant, subject, frozenset({"support"}), agent="support-agent")


def won(amount: int) -> Money:
    return Money(amount, "KRW")


async def ended(bench: Bench, operation: Operation, state: State) -> None:
    if state is State.SUCCEEDED:
        await bench.operations.move(operation.operation_id, State.STARTED)
    await bench.operations.settle(operation.operation_id, Settlement(state))


async def reserve(bench: Bench, operation: Operation, money: Money | None) -> Circumstances:
    return await bench.spendings.reserve(operation, money, REPEAT_SECONDS)


async def test_what_is_on_its_way_counts_as_spent_for_the_next_one(bench: Bench) -> None:
    tenant = fresh("tenant")
    first, second = [await proposed(bench, caller=caller(tenant)) for _ in range(2)]
    assert (await reserve(bench, first, won(700))).totals == Totals(0, 0)
    assert (await reserve(bench, second, won(500))).totals == Totals(700, 700)


async def test_an_operation_does_not_count_against_itself_however_often_it_looks(bench: Bench) -> None:
    operation = await proposed(bench, caller=caller(fresh("tenant")))
    for _ in range(3):
        assert (await reserve(bench, operation, won(700))).totals == Totals(0, 0)


async def test_another_user_counts_for_the_tenant_only(bench: Bench) -> None:
    tenant = fresh("tenant")
    await reserve(bench, await proposed(bench, caller=caller(tenant, "user-18")), won(700))
    mine = await proposed(bench, caller=caller(tenant, "user-17"))
    assert (await reserve(bench, mine, won(500))).totals == Totals(0, 700)


async def test_another_tenant_or_currency_does_not_count(bench: Bench) -> None:
    tenant = fresh("tenant")
    await reserve(bench, await proposed(bench, caller=caller(fresh("tenant"))), won(700))
    await reserve(bench, await proposed(bench, caller=caller(tenant)), Money(700, "USD"))
    assert (await reserve(bench, await proposed(bench, caller=caller(tenant)), won(1))).totals == Totals(0, 0)


@pytest.mark.parametrize(("state", "counted"), [(State.SUCCEEDED, 700), (State.FAILED_TERMINAL, 0)])
async def test_what_provably_did_not_happen_is_given_back(bench: Bench, state: State, counted: int) -> None:
    tenant = fresh("tenant")
    first = await proposed(bench, caller=caller(tenant))
    await reserve(bench, first, won(700))
    await ended(bench, first, state)
    second = await proposed(bench, caller=caller(tenant))
    assert (await reserve(bench, second, won(1))).totals == Totals(counted, counted)


async def test_what_left_more_than_a_day_ago_no_longer_counts(bench: Bench) -> None:
    tenant = fresh("tenant")
    first = await proposed(bench, caller=caller(tenant))
    await reserve(bench, first, won(700))
    await ended(bench, first, State.SUCCEEDED)
    await bench.pass_time(first.operation_id, A_DAY + 1)
    assert (await reserve(bench, await proposed(bench, caller=caller(tenant)), won(1))).totals == Totals(0, 0)


@pytest.mark.parametrize("state", [None, State.SUCCEEDED], ids=["still open", "just done"])
async def test_what_waited_for_longer_than_a_day_counts_on_the_day_on_which_it_leaves(
    bench: Bench, state: State | None
) -> None:
    tenant = fresh("tenant")
    first = await proposed(bench, caller=caller(tenant))
    await reserve(bench, first, won(700))
    await bench.pass_time(first.operation_id, A_DAY + 1)
    if state is not None:
        await ended(bench, first, state)
    second = await proposed(bench, caller=caller(tenant))
    assert (await reserve(bench, second, won(1))).totals == Totals(700, 700)


async def test_of_twenty_at_once_each_sees_those_before_it(bench: Bench) -> None:
    tenant = fresh("tenant")
    operations = [await proposed(bench, caller=caller(tenant)) for _ in range(20)]
    seen = await asyncio.gather(*(reserve(bench, operation, won(10)) for operation in operations))
    assert sorted(each.totals.by_tenant for each in seen) == [10 * number for number in range(20)]


async def test_an_open_act_that_is_proposed_again_is_no_second_operation(bench: Bench) -> None:
    first = await proposed(bench, order_id=(order_id := fresh("O")))
    again = turn_of(refund(order_id=order_id, quote_id="qt-999"), request_id=fresh("request"))
    (attached,) = await bench.inbox.register(again)
    assert attached.operation_id == first.operation_id
    assert (await bench.found(first.operation_id)).outbox == ("start",)
    # The later delivery itself may come again, too.
    assert [each.operation_id for each in await bench.inbox.register(again)] == [first.operation_id]


async def test_twenty_proposals_of_one_act_at_once_are_one_operation(bench: Bench) -> None:
    order_id = fresh("O")
    turns = [turn_of(refund(order_id=order_id), request_id=fresh("request")) for _ in range(20)]
    registered = await asyncio.gather(*(bench.inbox.register(turn) for turn in turns))
    assert len({each.operation_id for (each,) in registered}) == 1


async def test_another_amount_on_the_same_order_is_another_act(bench: Bench) -> None:
    first = await proposed(bench, order_id=(order_id := fresh("O")))
    other = turn_of(refund(order_id=order_id, amount=1), request_id=fresh("request"))
    (registered,) = await bench.inbox.register(other)
    assert registered.operation_id != first.operation_id


@pytest.mark.parametrize(
    ("state", "age", "repeated"),
    [
        (State.SUCCEEDED, 0.0, True),
        (State.SUCCEEDED, REPEAT_SECONDS + 1, False),
        (State.FAILED_TERMINAL, 0.0, False),
    ],
)
async def test_the_same_act_soon_after_its_success_is_noticed(
    bench: Bench, state: State, age: float, repeated: bool
) -> None:
    first = await proposed(bench, order_id=(order_id := fresh("O")))
    await ended(bench, first, state)
    await bench.pass_time(first.operation_id, age)
    second = await proposed(bench, order_id=order_id)
    assert second.operation_id != first.operation_id
    assert (await reserve(bench, second, None)).repeated is repeated


@pytest.mark.parametrize(("age", "noticed"), [(0.0, True), (REPEAT_SECONDS + 1, True), (A_DAY + 1, False)])
async def test_the_same_act_is_noticed_for_a_day_after_nobody_could_find_out_whether_it_happened(
    bench: Bench, age: float, noticed: bool
) -> None:
    first = await proposed(bench, order_id=(order_id := fresh("O")))
    await bench.operations.settle(first.operation_id, Settlement.failed_with(ABANDONED))
    await bench.pass_time(first.operation_id, age)
    circumstances = await reserve(bench, await proposed(bench, order_id=order_id), None)
    assert (circumstances.repeated, circumstances.given_up) == (False, noticed)


# -- what the conversation was told before


async def read_in(bench: Bench, lineage: str, *, succeeds: bool = True) -> Operation:
    """A look-up of that conversation that has ended."""
    operation = await proposed_read(bench, lineage)
    await bench.journal.began(operation, 0)
    await ended(bench, operation, State.SUCCEEDED if succeeds else State.FAILED_TERMINAL)
    return operation


async def reads_before(bench: Bench, operation: Operation) -> tuple[str, ...]:
    return (await reserve(bench, operation, None)).reads


async def test_what_the_conversation_was_told_before_is_known(bench: Bench) -> None:
    lineage = fresh("lineage")
    read = await read_in(bench, lineage)
    await bench.pass_time(read.operation_id, 1)
    assert await reads_before(bench, await proposed(bench, lineage=lineage)) == ("get_order",)


async def test_another_conversation_and_a_read_that_told_nothing_are_of_no_influence(bench: Bench) -> None:
    lineage = fresh("lineage")
    others = [await read_in(bench, fresh("lineage")), await read_in(bench, lineage, succeeds=False)]
    for read in others:
        await bench.pass_time(read.operation_id, 1)
    assert await reads_before(bench, await proposed(bench, lineage=lineage)) == ()


async def test_a_read_of_the_same_response_is_of_no_influence(bench: Bench) -> None:
    turn = turn_of(lookup("call-1"), refund("call-2"), lineage=fresh("lineage"))
    read, write = [await bench.operations.load(each.operation_id or "") for each in await bench.inbox.register(turn)]
    await bench.journal.began(read, 0)
    await ended(bench, read, State.SUCCEEDED)
    assert await reads_before(bench, write) == ()


async def test_what_was_read_hours_ago_is_of_no_influence(bench: Bench) -> None:
    lineage = fresh("lineage")
    read = await read_in(bench, lineage)
    await bench.pass_time(read.operation_id, 2 * 3600)
    assert await reads_before(bench, await proposed(bench, lineage=lineage)) == ()
