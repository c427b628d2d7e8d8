"""Every act that the console and the command line offer, tried on an operation wherever it may stand.

`TABLE` says which of them the server takes at all. Whatever it says, afterwards the effects are those that were
approved, the operation comes to its true end, and whoever asks twice reads one answer.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress

import pytest
from temporalio.client import WorkflowExecutionStatus
from temporalio.service import RPCError, RPCStatusCode

from tests.faults.console import (
    Act,
    Console,
    allow_the_step_more_attempts,
    cancel,
    delete,
    nudge_with_garbage,
    pause_the_step_and_let_it_go_on,
    reset_the_step,
    reset_to_the_first_task,
    reset_to_the_last_task,
    say_that_the_step_has_failed,
    say_that_the_step_is_done,
    start_by_hand,
    start_by_hand_with_another_meaning,
    terminate,
    until_closed,
)
from tests.faults.moments import MOMENTS, until_waiting_for_a_lock
from tests.faults.refunds import Refund
from tests.integration.test_batches import given, held, opened, proposed, wishes
from tests.integration.test_cancelling import cancel as cancelled_by_its_caller
from tests.support.ledger import LedgerAdmin
from tests.support.locks import locked
from tests.support.onceward import Onceward
from tests.support.parked import Parked
from tests.support.waiting import until
from workflows import contracts

State = Callable[[Onceward], AbstractAsyncContextManager[Refund]]
"""The block runs while the refund stands there; what holds it there is let go afterwards."""


@asynccontextmanager
async def finished(onceward: Onceward) -> AsyncIterator[Refund]:
    refund = await Refund.approved(onceward)
    first = await refund.require_once(posts=1)
    await until_closed(Console(refund).handle)
    yield refund
    with suppress(RPCError):
        # What was begun anew comes to its end first; what was deleted is not there to be asked.
        await until_closed(Console(refund).handle)
    assert (await refund.hand_in_again()).only == first.only


@asynccontextmanager
async def in_flight(onceward: Onceward) -> AsyncIterator[Refund]:
    """The provider has made it; what came of it is not on record yet. Nothing went wrong: the task is at work."""
    refund = await Refund.proposed(onceward)
    async with MOMENTS["answered and not recorded"](onceward, refund):
        yield refund


@asynccontextmanager
async def in_flight_in_sight(onceward: Onceward) -> AsyncIterator[Refund]:
    """The same by a step that the console shows."""
    refund = await Refund.proposed(onceward)
    await start_by_hand(Console(refund))
    async with MOMENTS["answered and not recorded"](onceward, refund):
        yield refund


@asynccontextmanager
async def unconfirmed(onceward: Onceward) -> AsyncIterator[Refund]:
    """The reply is lost and no look-up is answered; one more look is in flight."""
    refund = await Refund.proposed(onceward)
    unseen = {"on": "lookup", "do": "503", "times": None}
    async with onceward.provider.switched({"on": "refund", "do": "commit-then-drop"}, unseen):
        await refund.approve()
        await onceward.until(refund.operation_id, "unconfirmed")
        async with looking(refund):
            yield refund


@asynccontextmanager
async def looking(refund: Refund) -> AsyncIterator[None]:
    """A look has begun and cannot get at the operation."""
    statement = f"SELECT 1 FROM operations WHERE operation_id = '{refund.operation_id}' FOR UPDATE"
    async with locked(refund.onceward.owner, statement):
        await Console(refund).handle.signal(contracts.NUDGE)
        # The look before may still be under way; the one that waits for the row is the one that is meant.
        await until_waiting_for_a_lock(refund.onceward)
        await until(Console(refund).attempt, lambda begun: begun is not None)
        yield


@asynccontextmanager
async def awaiting_approval(onceward: Onceward) -> AsyncIterator[Refund]:
    refund = await Refund.proposed(onceward)
    # The question is on record before the task that asked it is.
    await until(Console(refund).workflow_tasks, bool)
    yield refund
    await refund.hand_in_again(wait_seconds=0)
    await refund.approve()


STATES: dict[str, State] = {
    "finished": finished,
    "in flight": in_flight,
    "in flight in sight": in_flight_in_sight,
    "unconfirmed": unconfirmed,
    "awaiting approval": awaiting_approval,
}

TABLE: dict[Act, tuple[str, str, str, str, str]] = {
    # act                                finished   in flight  in sight  unconfirmed  awaiting approval
    reset_to_the_first_task:            ("taken",   "taken",   "taken",  "taken",     "taken"),
    reset_to_the_last_task:             ("taken",   "taken",   "taken",  "taken",     "taken"),
    terminate:                          ("refused", "taken",   "taken",  "taken",     "taken"),
    cancel:                             ("taken",   "taken",   "taken",  "taken",     "taken"),
    delete:                             ("taken",   "taken",   "taken",  "taken",     "taken"),
    start_by_hand:                      ("taken",   "taken",   "taken",  "taken",     "taken"),
    start_by_hand_with_another_meaning: ("taken",   "taken",   "taken",  "taken",     "taken"),
    nudge_with_garbage:                 ("refused", "taken",   "taken",  "taken",     "taken"),
    reset_the_step:                     ("refused", "refused", "taken",  "taken",     "refused"),
    pause_the_step_and_let_it_go_on:    ("refused", "refused", "taken",  "taken",     "refused"),
    allow_the_step_more_attempts:       ("refused", "refused", "taken",  "taken",     "refused"),
    say_that_the_step_is_done:          ("refused", "refused", "taken",  "taken",     "refused"),
    say_that_the_step_has_failed:       ("refused", "refused", "taken",  "taken",     "refused"),
}  # fmt: skip

CELLS = [
    pytest.param(act, state, answer, id=f"{act.__name__}-{state}")
    for act, answers in TABLE.items()
    for state, answer in zip(STATES, answers, strict=True)
]

IN_A_BATCH = (
    reset_to_the_first_task,
    reset_to_the_last_task,
    terminate,
    cancel,
    start_by_hand,
    say_that_the_step_is_done,
)


async def answer_to(act: Act, parked: Parked) -> str:
    try:
        await act(Console(parked))
    except RPCError as error:
        return "refused" if error.status is RPCStatusCode.NOT_FOUND else str(error)
    return "taken"


@pytest.mark.parametrize(("act", "state", "answer"), CELLS)
async def test_the_refund_is_made_once_whatever_is_done_in_the_console(
    faulty: Onceward, act: Act, state: str, answer: str
) -> None:
    async with STATES[state](faulty) as refund:
        assert await answer_to(act, refund) == answer
    await refund.hand_in_again(wait_seconds=0)
    await refund.require_once(posts=1)


@pytest.mark.parametrize("act", [reset_to_the_first_task, start_by_hand])
async def test_a_second_run_beside_a_send_that_is_still_out_sends_nothing(faulty: Onceward, act: Act) -> None:
    refund = await Refund.proposed(faulty)
    async with MOMENTS["made and not answered"](faulty, refund):
        await act(Console(refund))
        await until(lambda: applies(refund), lambda number: number == 1)
        await Console(refund).handle.signal(contracts.NUDGE)
        await refund.require_once(posts=1)


async def applies(refund: Refund) -> int:
    """How often the newest run has come back from the step that sends."""
    events = (await Console(refund).handle.fetch_history()).events
    sending = {
        event.event_id
        for event in events
        if event.activity_task_scheduled_event_attributes.activity_type.name == contracts.APPLY
    }
    ended = (event.activity_task_completed_event_attributes.scheduled_event_id for event in events)
    return len(sending.intersection(ended))


@pytest.mark.parametrize("act", IN_A_BATCH)
async def test_each_account_gets_its_credit_once_whatever_is_done_in_the_middle_of_a_batch(
    faulty: Onceward, act: Act
) -> None:
    books = LedgerAdmin(faulty.owner)
    batch = await proposed(faulty, books, await opened(books, 6))
    async with held(faulty, *batch.accounts[3:]):
        await batch.approve()
        await until(lambda: given(batch), lambda number: number == 3)
        assert await answer_to(act, batch) == "taken"
    await batch.hand_in_again(wait_seconds=0)
    data = (await batch.result())["data"]
    assert (data["outcome"], data["succeeded"]) == ("complete", list(batch.accounts))
    assert set((await batch.credits()).values()) == {1}


async def test_a_batch_that_ended_in_part_ends_so_again_when_it_is_carried_anew(faulty: Onceward) -> None:
    books = LedgerAdmin(faulty.owner)
    batch = await proposed(faulty, books, await opened(books, 20))
    async with held(faulty, *batch.accounts[8:]), asyncio.TaskGroup() as meanwhile:
        await batch.approve()
        await until(lambda: given(batch), lambda number: number == 8)
        meanwhile.create_task(cancelled_by_its_caller(faulty, batch.operation_id))
        await until(lambda: wishes(faulty, batch), lambda number: number == 1)
    first = await batch.result(within=120)
    await until_closed(Console(batch).handle)
    await reset_to_the_first_task(Console(batch))
    assert (await until_closed(Console(batch).handle)).status is WorkflowExecutionStatus.COMPLETED
    assert ((await batch.hand_in_again()).only, first["data"]["outcome"]) == (first, "partial")
