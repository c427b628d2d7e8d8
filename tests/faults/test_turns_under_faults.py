"""Several writes of one response under kill -9, outages and the console: each once, in order, and all to their end."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from datetime import datetime
from functools import partial
from typing import cast

import httpx2
import pytest
from sqlalchemy import select

from adapters.postgres.tables import operations, outbox
from tests.faults.console import (
    Act,
    cancel,
    reset_to_the_first_task,
    reset_to_the_last_task,
    terminate,
)
from tests.faults.turns import Turn, approve, carry_to_the_end, due_for_the_sweep, parked
from tests.support.locks import locked
from tests.support.onceward import Onceward
from tests.support.waiting import until
from workflows import contracts
from workflows.messages import OperationRef

EVERYTHING = ("postgres", "temporal", "provider", "issuer", "api", "relay", "worker")

UNSEEN = {"on": "lookup", "do": "503", "times": None}


def at_the_provider(turn: Turn, seconds: int) -> dict[str, object]:
    """The first refund of this turn is made, and its reply comes so many seconds later."""
    return {
        "on": "refund",
        "do": "commit-then-hang",
        "seconds": seconds,
        "match": {"client_reference": turn.first},
    }


async def until_made(*turns: Turn) -> None:
    """Wait until the provider has made the first refund of each."""
    for turn in turns:
        await until(turn.effects, lambda effects: effects == [1, 0])


# -- processes


async def test_the_second_write_begins_only_once_it_is_proven_that_the_first_is_done(faulty: Onceward) -> None:
    turn = await Turn.parked(faulty)
    async with faulty.provider.switched(at_the_provider(turn, 30), UNSEEN):
        await approve(faulty, [turn.first])
        await until_made(turn)
        await faulty.stack.kill("worker")
        await faulty.stack.start("worker")
        await faulty.until(turn.first, "unconfirmed")
        told = {name: result.get("error", {}).get("code") for name, result in (await turn.hand_in()).results.items()}
        assert told == {"first": "reconciliation_pending", "look": None, "second": "earlier_call_open"}
        await start_by_hand(turn, "second")
        await until(lambda: turn.says("second"), lambda words: "an earlier call of the same turn" in words)
        await turn.require_that_the_second_has_not_begun()
    await look_again(turn, "first")
    await faulty.until(turn.first, "succeeded")
    await look_again(turn, "second")
    await carry_to_the_end(faulty, turn)
    await turn.require_in_order()


async def start_by_hand(turn: Turn, name: str) -> None:
    """As `temporal workflow start` does."""
    (row,) = await turn.onceward.rows(select(operations).where(operations.c.operation_id == turn.names[name]))
    ref = OperationRef(row.operation_id, row.intent_hash)
    await turn.onceward.temporal.start_workflow(
        contracts.EXECUTE_OPERATION, ref, id=row.operation_id, task_queue="onceward"
    )


async def look_again(turn: Turn, name: str) -> None:
    await turn.console(name).handle.signal(contracts.NUDGE)


async def test_a_turn_of_which_only_the_door_that_died_had_heard_is_begun_by_the_relay(faulty: Onceward) -> None:
    turn = await Turn.meant(faulty)
    await faulty.stack.kill("temporal")
    caller = asyncio.create_task(turn.hand_in(wait_seconds=20))
    await turn.learn_its_operations()
    await faulty.stack.kill("api")
    with suppress(httpx2.HTTPError):
        await caller
    for process in ("temporal", "api"):
        await faulty.stack.start(process)
    await faulty.until(turn.first, "awaiting_approval")
    assert await faulty.state(turn.names["look"]) == "succeeded"
    await turn.require_that_the_second_has_not_begun()
    await until(lambda: kinds_sent(turn), lambda kinds: kinds == ["read", "turn"])
    await carry_to_the_end(faulty, turn)
    await turn.require_in_order()


async def kinds_sent(turn: Turn) -> list[str]:
    """The messages by which the relay has started something of the turn."""
    started = outbox.c.operation_id.in_(turn.names.values()) & outbox.c.kind.in_(("start", "read", "turn"))
    rows = await turn.onceward.rows(select(outbox.c.kind).where(started, outbox.c.sent_at.is_not(None)))
    return sorted(row.kind for row in rows)


async def test_turns_in_whose_middle_everything_dies_at_once_go_on_in_order(faulty: Onceward) -> None:
    waiting, sent, behind = await parked(faulty, 3)
    await approve(faulty, [behind.first])
    await faulty.until(behind.second, "awaiting_approval")
    async with faulty.provider.switched(at_the_provider(sent, 30)):
        await approve(faulty, [sent.first])
        await until_made(sent)
        await asyncio.gather(*(faulty.stack.kill(process) for process in EVERYTHING))
        for process in EVERYTHING:
            await faulty.stack.start(process)
    await carry_to_the_end(faulty, waiting, sent, behind)
    for turn in (waiting, sent, behind):
        await turn.require_in_order()


# -- whoever starts a write before its time


async def test_the_relay_leaves_alone_what_waits_for_its_turn(faulty: Onceward) -> None:
    turn = await Turn.parked(faulty)
    await due_for_the_sweep(faulty, turn.names.values())
    before = await swept_at(turn, "second")
    # It has looked over what is due, and the second write was due.
    await until(lambda: swept_at(turn, "first"), lambda moment: moment > before)
    assert await swept_at(turn, "second") == before
    await carry_to_the_end(faulty, turn)
    await turn.require_in_order()


async def swept_at(turn: Turn, name: str) -> datetime:
    mine = select(operations.c.swept_at).where(operations.c.operation_id == turn.names[name])
    (row,) = await turn.onceward.rows(mine)
    return cast(datetime, row.swept_at)


# -- the console

Moment = Callable[[Onceward, int], AbstractAsyncContextManager[list[Turn]]]
"""The block runs while so many turns stand there; what holds them there is let go afterwards."""


@asynccontextmanager
async def reads_are_under_way(onceward: Onceward, number: int) -> AsyncIterator[list[Turn]]:
    """No read can note that it has begun."""
    async with locked(onceward.owner, "LOCK TABLE handler_calls IN EXCLUSIVE MODE"):
        turns = await asyncio.gather(*(Turn.registered(onceward) for _ in range(number)))
        for turn in turns:
            await until(partial(turn.says, "turn"), lambda words: "Waiting for 1 read of the same turn" in words)
        yield turns


@asynccontextmanager
async def the_first_waits_for_a_person(onceward: Onceward, number: int) -> AsyncIterator[list[Turn]]:
    yield await parked(onceward, number)


@asynccontextmanager
async def the_first_is_at_the_provider(onceward: Onceward, number: int) -> AsyncIterator[list[Turn]]:
    turns = await parked(onceward, number)
    async with onceward.provider.switched(*(at_the_provider(turn, 6) for turn in turns)):
        await approve(onceward, [turn.first for turn in turns])
        await until_made(*turns)
        yield turns


@asynccontextmanager
async def the_second_waits_for_a_person(onceward: Onceward, number: int) -> AsyncIterator[list[Turn]]:
    turns = await parked(onceward, number)
    await approve(onceward, [turn.first for turn in turns])
    for turn in turns:
        await onceward.until(turn.second, "awaiting_approval")
    yield turns


ACTS: tuple[Act, ...] = (reset_to_the_first_task, reset_to_the_last_task, terminate, cancel)

MOMENTS: dict[Moment, tuple[str, ...]] = {
    reads_are_under_way: ("turn",),
    the_first_waits_for_a_person: ("turn", "first"),
    the_first_is_at_the_provider: ("turn", "first"),
    the_second_waits_for_a_person: ("turn", "second"),
}
"""Each with the workflows that are at work then."""


@pytest.mark.parametrize("moment", MOMENTS, ids=lambda moment: moment.__name__)
async def test_the_order_is_kept_whatever_is_done_in_the_console(faulty: Onceward, moment: Moment) -> None:
    cells = [(act, of) for act in ACTS for of in MOMENTS[moment]]
    async with moment(faulty, len(cells)) as turns:
        await asyncio.gather(*(act(turn.console(of)) for turn, (act, of) in zip(turns, cells, strict=True)))
    await carry_to_the_end(faulty, *turns)
    await asyncio.gather(*(turn.require_in_order() for turn in turns))
