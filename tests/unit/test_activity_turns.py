"""The steps that keep a turn's order: the gate's hold on a write behind others, and waiting for others to end."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from activities import follow
from activities.follow import Follow
from tests.support.proposals import fresh, lookup, refund, turn_of
from tests.support.steps import GO, Stage
from workflows import contracts
from workflows.domain.effect import Effect
from workflows.domain.lifecycle import ENDS, State
from workflows.domain.operation import Operation, Settlement
from workflows.messages import Followed, FollowOrder, Judgement, Step

REFUND_DATA = {"refund_id": "rf-1", "status": "completed", "order_id": "O-17", "amount": 12_000, "currency": "KRW"}
NOT_DONE = Judgement(Step.SETTLE, "earlier_write_not_done")


@dataclass
class Turn:
    """A read and two writes of one turn."""

    read: Operation
    first: Operation
    second: Operation


async def turn_on(stage: Stage) -> Turn:
    calls = refund("call-1", order_id=fresh("O")), refund("call-2", order_id=fresh("O")), lookup("call-3")
    names = [each.operation_id or "" for each in await stage.inbox.register(turn_of(*calls))]
    first, second, read = [await stage.operations.load(name) for name in names]
    return Turn(read, first, second)


async def end(stage: Stage, operation: Operation, state: State = State.SUCCEEDED) -> None:
    await stage.operations.move(operation.operation_id, State.STARTED)
    await stage.operations.settle(operation.operation_id, Settlement(state, data={}))


def held_up(judgement: Judgement) -> bool:
    return (judgement.step, judgement.code) == (Step.WAIT, "earlier_call_open")


async def test_a_write_begins_when_the_reads_and_writes_before_it_are_done() -> None:
    stage = Stage()
    turn = await turn_on(stage)
    assert held_up(await stage.validate(turn.first))
    assert held_up(await stage.validate(turn.second))
    await end(stage, turn.read)
    assert await stage.validate(turn.first) == GO
    assert held_up(await stage.validate(turn.second))
    await end(stage, turn.first)
    assert await stage.validate(turn.second) == GO


async def test_nobody_is_asked_about_a_write_whose_time_has_not_come() -> None:
    stage = Stage()
    turn = await turn_on(stage)
    assert held_up(await stage.validate(turn.second))
    assert (stage.till.inspections, stage.world.questions(turn.second.operation_id)) == (0, [])


@pytest.mark.parametrize("state", [State.FAILED_TERMINAL, State.FAILED_RETRYABLE])
async def test_a_write_after_one_that_failed_is_refused_and_nothing_is_sent(state: State) -> None:
    stage = Stage()
    turn = await turn_on(stage)
    await end(stage, turn.read)
    await end(stage, turn.first, state)
    assert await stage.validate(turn.second) == NOT_DONE
    assert (await stage.settle(turn.second, "earlier_write_not_done")).code == "earlier_write_not_done"
    assert stage.till.sent == []


async def test_a_failed_read_holds_nobody_up() -> None:
    stage = Stage()
    turn = await turn_on(stage)
    await end(stage, turn.read, State.FAILED_TERMINAL)
    assert await stage.validate(turn.first) == GO


async def test_a_read_that_nobody_carries_holds_a_write_up_for_a_while_only() -> None:
    stage = Stage()
    turn = await turn_on(stage)
    stage.world.advance(1_000.0)
    assert await stage.validate(turn.first) == GO


async def test_a_wish_to_cancel_counts_at_once_for_a_write_that_waits_for_its_turn() -> None:
    stage = Stage()
    turn = await turn_on(stage)
    await stage.cancel(turn.second.operation_id)
    assert await stage.validate(turn.second) == Judgement(Step.SETTLE, "canceled")


async def test_what_has_begun_is_not_taken_back_by_what_came_before_it() -> None:
    stage = Stage()
    turn = await turn_on(stage)
    await end(stage, turn.read)
    await end(stage, turn.first)
    await stage.validate(turn.second)
    claim = await stage.claims.acquire(turn.second.operation_id, "owner-0", 12.0)
    await stage.claims.begin_send(claim, 10.0)
    await stage.claims.conclude(claim, Effect.unknown("timeout"))
    first = stage.world.kept(turn.first.operation_id)
    first.operation = turn.first
    assert await stage.validate(turn.second) == Judgement(Step.GO)


# -- following


async def followed(
    stage: Stage, *operations: Operation, patience_seconds: float = 0.0, attempt: int = 1, waited: float = 0.0
) -> Followed:
    order = FollowOrder([each.operation_id for each in operations], patience_seconds)
    environment = ActivityEnvironment()
    begun = datetime.now(UTC) - timedelta(seconds=waited)
    environment.info = replace(environment.info, attempt=attempt, scheduled_time=begun)
    return await environment.run(Follow(stage.operations).follow, order)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for real."""
    monkeypatch.setattr(follow, "HELD_SECONDS", 0.0)


async def test_who_follows_is_told_the_ends_in_the_order_asked_for() -> None:
    stage = Stage()
    turn = await turn_on(stage)
    await end(stage, turn.first, State.FAILED_TERMINAL)
    await end(stage, turn.read)
    assert (await followed(stage, turn.read, turn.first)).states == ["succeeded", "failed_terminal"]


async def test_who_follows_is_told_nothing_once_patience_is_over_and_one_is_open() -> None:
    stage = Stage()
    turn = await turn_on(stage)
    await end(stage, turn.read)
    assert (await followed(stage, turn.read, turn.first, patience_seconds=100.0, waited=101.0)).states == []


async def test_who_follows_looks_again_and_again_at_first(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage()
    turn = await turn_on(stage)

    async def pause(_: float) -> None:
        if stage.world.kept(turn.read.operation_id).operation.state not in ENDS:
            await end(stage, turn.read)

    monkeypatch.setattr(follow, "HELD_SECONDS", 60.0)
    monkeypatch.setattr("activities.follow.asyncio.sleep", pause)
    assert (await followed(stage, turn.read, patience_seconds=100.0)).states == ["succeeded"]


@pytest.mark.parametrize(("attempt", "waited", "pause"), [(1, 0.0, 0.5), (2, 8.0, 2.0), (9, 80.0, 20.0)])
async def test_who_follows_longer_makes_room_for_others_meanwhile(
    monkeypatch: pytest.MonkeyPatch, attempt: int, waited: float, pause: float
) -> None:
    stage = Stage()
    turn = await turn_on(stage)
    if attempt > 1:
        monkeypatch.setattr(follow, "HELD_SECONDS", 60.0)
    with pytest.raises(ApplicationError) as later:
        await followed(stage, turn.read, patience_seconds=100.0, attempt=attempt, waited=waited)
    assert (later.value.type, later.value.non_retryable) == ("not_ended_yet", False)
    assert later.value.next_retry_delay is not None
    assert later.value.next_retry_delay.total_seconds() == pytest.approx(pause, abs=0.3)


async def test_following_ends_with_an_answer_even_when_its_attempts_do() -> None:
    stage = Stage()
    turn = await turn_on(stage)
    last = contracts.CALLS[contracts.FOLLOW].retry.maximum_attempts
    assert (await followed(stage, turn.read, patience_seconds=100.0, attempt=last)).states == []


def test_patience_is_over_before_the_attempts_are() -> None:
    waited, attempts = follow.HELD_SECONDS, 1
    while waited < contracts.FOLLOW_PATIENCE.total_seconds():
        waited += max(follow.SHORTEST_PAUSE_SECONDS, follow.SHARE_OF_THE_WAIT * waited)
        attempts += 1
    assert attempts < contracts.CALLS[contracts.FOLLOW].retry.maximum_attempts * 0.8
