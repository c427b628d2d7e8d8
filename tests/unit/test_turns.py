"""A turn through the intake over fakes: what is started, what is waited for, what is answered."""

import asyncio
import threading
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from adapters.envelopes import SURFACES
from adapters.intake import turns
from adapters.intake.judging import judge
from adapters.intake.offers import Offers
from adapters.intake.ports import Budget, Judged, Registered, Turn
from adapters.intake.room import Room
from adapters.intake.searches import Searches
from adapters.intake.turns import TurnAnswer, TurnOrder, Turns
from adapters.intake.watch import Watch
from tests.fakes.inbox import MemoryInbox
from tests.fakes.operations import MemoryOperations, MemoryProgress
from tests.fakes.world import World
from tests.support.proposals import AUTHORIZER, CALLER, CATALOG, CLOSED_CATALOG, REFUND
from tests.support.responses import Call, call, response_with
from tests.support.waiting import until
from workflows.domain.catalog import Catalog
from workflows.domain.errors import Overloaded, ResponseRefused
from workflows.domain.lifecycle import State
from workflows.domain.operation import Settlement
from workflows.domain.principal import Principal
from workflows.domain.proposal import Status
from workflows.messages import TurnRef

ORDER = {"order_id": "O-17"}
OFFERS = Offers(SURFACES, CATALOG)


@dataclass
class Starter:
    """Remembers what it was told to start; may have lost its Temporal."""

    writes: list[str] = field(default_factory=list)
    reads: list[str] = field(default_factory=list)
    turns: list[TurnRef] = field(default_factory=list)
    gone: bool = False
    over: bool = False
    called: asyncio.Event = field(default_factory=asyncio.Event)

    async def start_write(self, operation_id: str, intent_hash: str, tool: str, tenant: str) -> None:
        self.writes.append(operation_id)
        self.called.set()
        if self.gone:
            raise ConnectionError

    async def start_read(self, operation_id: str, intent_hash: str, tool: str, tenant: str) -> None:
        self.reads.append(operation_id)
        if self.gone:
            raise ConnectionError

    async def start_turn(self, turn_id: str, ref: TurnRef) -> bool:
        self.turns.append(ref)
        if self.gone:
            raise ConnectionError
        return not self.over


class Noting(MemoryInbox):
    """Remembers what it was handed."""

    def __init__(self, world: World, seen: list[Turn]) -> None:
        super().__init__(world)
        self._seen = seen

    async def register(self, turn: Turn) -> list[Registered]:
        self._seen.append(turn)
        return await super().register(turn)


@dataclass
class Intake:
    """The intake over one world; the waiting goes by `clock`, which each look at it moves on."""

    world: World = field(default_factory=World)
    starter: Starter = field(default_factory=Starter)
    parallel: bool = True
    budget: Budget | None = None
    seen: list[Turn] = field(default_factory=list)
    room: Room | None = None
    clock: float = 0.0
    seconds_between_looks: float = 0.0

    def now(self) -> float:
        self.clock += self.seconds_between_looks
        return self.clock

    async def take(
        self,
        *asked: Call,
        caller: Principal = CALLER,
        catalog: Catalog = CATALOG,
        stop: str = "",
        more: dict[str, Any] | None = None,
        surface: str = "anthropic-messages",
        **order: Any,
    ) -> TurnAnswer:
        offers = OFFERS if catalog is CATALOG else Offers(SURFACES, catalog)
        taking = Turns(
            SURFACES,
            catalog,
            Noting(self.world, self.seen),
            self.starter,
            Watch(MemoryProgress(self.world), self.now),
            self.budget,
            offers=offers,
            searches=Searches(catalog, offers),
            parallel=self.parallel,
            room=self.room,
        )
        response = response_with("anthropic-messages", *asked, stop=stop) | (more or {})
        given = {"wait_seconds": 0.0} | order
        return await taking.take(caller, TurnOrder(surface, response, **given))

    async def end(self, operation_id: str, ending: Settlement) -> None:
        operations = MemoryOperations(self.world)
        await operations.move(operation_id, State.STARTED)
        await operations.settle(operation_id, ending)

    @property
    def started(self) -> tuple[list[str], list[str]]:
        return self.starter.writes, self.starter.reads


@pytest.fixture
def intake() -> Intake:
    return Intake()


async def test_what_is_registered_is_started(intake: Intake) -> None:
    (read,) = (await intake.take(call("get_order", ORDER), request_id="first")).results
    (write,) = (await intake.take(call("refund_payment", REFUND), request_id="second")).results
    assert intake.started == ([write.operation_id], [read.operation_id])


async def test_a_write_beside_a_read_is_started_by_their_turn_and_the_read_at_once(intake: Intake) -> None:
    answer = await intake.take(call("refund_payment", REFUND, "write"), call("get_order", ORDER, "read"))
    write, read = (result.operation_id for result in answer.results)
    assert intake.started == ([], [read])
    [turn] = intake.starter.turns
    assert ([each.operation_id for each in turn.reads], [each.operation_id for each in turn.writes]) == (
        [read],
        [write],
    )
    assert (turn.tools, turn.tenant, turn.one_by_one) == (["refund_payment"], CALLER.tenant, False)


async def test_reads_alone_need_no_turn(intake: Intake) -> None:
    answer = await intake.take(call("get_order", ORDER, "a"), call("get_order", {"order_id": "O-18"}, "b"))
    assert intake.started == ([], [result.operation_id for result in answer.results])
    assert intake.starter.turns == []


async def test_one_switch_leaves_everything_to_the_turn_so_that_nothing_runs_side_by_side(intake: Intake) -> None:
    intake.parallel = False
    answer = await intake.take(call("get_order", ORDER, "a"), call("get_order", {"order_id": "O-18"}, "b"))
    assert intake.started == ([], [])
    [turn] = intake.starter.turns
    assert [each.operation_id for each in turn.reads] == [result.operation_id for result in answer.results]
    assert turn.one_by_one


async def test_with_the_switch_a_read_that_its_turn_gave_up_is_started_by_the_next_delivery(intake: Intake) -> None:
    intake.parallel = False
    asked = call("refund_payment", REFUND, "write"), call("get_order", ORDER, "read")
    _, read = (await intake.take(*asked)).results
    assert intake.started == ([], [])
    intake.starter.over = True
    await intake.take(*asked)
    assert intake.started == ([], [read.operation_id])


async def test_with_the_switch_a_call_by_itself_is_started_as_ever(intake: Intake) -> None:
    intake.parallel = False
    (read,) = (await intake.take(call("get_order", ORDER))).results
    assert (intake.started, intake.starter.turns) == (([], [read.operation_id]), [])


async def test_the_same_read_twice_is_one_execution_and_both_calls_are_answered_and_told_so(intake: Intake) -> None:
    answer = await intake.take(call("get_order", ORDER, "a"), call("get_order", ORDER, "b"))
    first, second = answer.results
    assert first.operation_id == second.operation_id
    assert intake.started == ([], [first.operation_id])
    assert answer.duplicates == {"b": "a"}


async def test_the_same_write_twice_is_one_execution(intake: Intake) -> None:
    answer = await intake.take(call("refund_payment", REFUND, "a"), call("refund_payment", REFUND, "b"))
    first, second = answer.results
    assert first.operation_id == second.operation_id
    assert intake.started == ([first.operation_id], [])
    assert answer.duplicates == {"b": "a"}


async def test_a_call_behind_one_that_waits_for_a_person_is_not_waited_for(intake: Intake) -> None:
    refunds = call("refund_payment", REFUND, "a"), call("refund_payment", REFUND | {"order_id": "O-18"}, "b")
    first, _ = (await intake.take(*refunds)).results
    kept = intake.world.operations[first.operation_id or ""]
    kept.operation = replace(kept.operation, state=State.AWAITING_APPROVAL)
    # The clock stands still, so only the states can end this.
    answer = await intake.take(*refunds, wait_seconds=60.0)
    codes = [result.error.code for result in answer.results if result.error]
    assert codes == ["approval_required", "earlier_call_open"]
    assert not answer.complete


async def test_what_is_ours_in_what_is_appended_is_told_apart_from_the_models_own(intake: Intake) -> None:
    answer = await intake.take(call("get_order", ORDER))
    assert [message["role"] for message in answer.append] == ["assistant", "user"]
    assert list(answer.answers) == list(answer.append)[1:]


async def test_a_paused_response_runs_nothing_and_is_sent_back_as_it_came(intake: Intake) -> None:
    answer = await intake.take(call("refund_payment", REFUND), stop="pause_turn")
    assert (answer.paused, list(answer.results), len(answer.append)) == (True, [], 1)
    assert intake.world.operations == {}


async def test_a_budget_holds_within_a_conversation_that_has_a_name_only(intake: Intake) -> None:
    intake.budget = Budget(calls=3)
    await intake.take(call("get_order", ORDER))
    assert [turn.budget for turn in intake.seen] == [None]
    await intake.take(call("get_order", ORDER), conversation="talk-1", request_id="second")
    assert [turn.budget for turn in intake.seen] == [None, Budget(calls=3)]


async def test_a_refused_call_is_not_started(intake: Intake) -> None:
    answer = await intake.take(call("refund_payment", REFUND | {"amount": "12000"}))
    assert intake.started == ([], [])
    assert answer.complete


async def test_a_redelivery_starts_again_whatever_nobody_may_be_carrying_any_more(intake: Intake) -> None:
    write = call("refund_payment", REFUND)
    (first,) = (await intake.take(write)).results
    await intake.take(write)
    assert intake.started == ([first.operation_id] * 2, [])
    turn = call("get_order", ORDER, "read"), call("refund_payment", REFUND, "write")
    await intake.take(*turn, request_id="second")
    await intake.take(*turn, request_id="second")
    assert len(intake.starter.turns) == len(intake.starter.reads) == 2


@pytest.mark.parametrize(
    "later",
    [
        {"caller": replace(CALLER, roles=frozenset())},
        {"catalog": Catalog([], AUTHORIZER)},
        {"catalog": CLOSED_CATALOG},
    ],
    ids=["the role was lost", "the tool was taken away", "the tool is for others now"],
)
async def test_a_write_is_never_started_as_a_read(intake: Intake, later: dict[str, Any]) -> None:
    write = call("refund_payment", REFUND)
    (first,) = (await intake.take(write)).results
    (again,) = (await intake.take(write, **later)).results
    assert again.operation_id == first.operation_id
    assert intake.started == ([first.operation_id] * 2, [])


async def test_a_start_that_fails_is_no_failure_of_the_turn(intake: Intake) -> None:
    intake.starter.gone = True
    (result,) = (await intake.take(call("refund_payment", REFUND))).results
    assert (result.status, result.final) == (Status.FAILED_RETRYABLE, False)
    assert intake.world.outbox == [(result.operation_id, "start")]


async def test_a_caller_who_redelivers_under_another_name_is_told_of_a_conflict(intake: Intake) -> None:
    await intake.take(call("refund_payment", REFUND))
    for stranger in (replace(CALLER, subject="user-18"), replace(CALLER, subject="user-18", roles=frozenset())):
        (result,) = (await intake.take(call("refund_payment", REFUND), caller=stranger)).results
        assert result.error is not None
        assert (result.error.code, result.operation_id) == ("idempotency_conflict", None)


async def test_an_ended_operation_is_answered_with_its_end(intake: Intake) -> None:
    (first,) = (await intake.take(call("refund_payment", REFUND))).results
    assert first.operation_id is not None
    await intake.end(first.operation_id, Settlement(State.SUCCEEDED, data={"refund_id": "rf-204"}, reference="rf-204"))
    (again,) = (await intake.take(call("refund_payment", REFUND))).results
    assert (again.status, again.data, again.final, again.replayed) == (
        Status.SUCCEEDED, {"refund_id": "rf-204"}, True, True,
    )  # fmt: skip


async def test_results_keep_the_order_of_their_calls(intake: Intake) -> None:
    answer = await intake.take(*(call("get_order", ORDER, name) for name in ("c", "a", "b")))
    assert [result.call_id for result in answer.results] == ["c", "a", "b"]
    assert [block["tool_use_id"] for block in answer.append[-1]["content"]] == ["c", "a", "b"]


async def test_waiting_ends_with_the_result(intake: Intake) -> None:
    waiting = asyncio.create_task(intake.take(call("refund_payment", REFUND), wait_seconds=10.0))
    await intake.starter.called.wait()
    await intake.end(intake.starter.writes[0], Settlement(State.FAILED_TERMINAL, "quote_expired"))
    (result,) = (await waiting).results
    assert result.error is not None
    assert result.error.code == "quote_expired"


@pytest.mark.parametrize(
    ("state", "code"),
    [
        (State.PROPOSED, "operation_in_progress"),
        (State.AWAITING_APPROVAL, "approval_required"),
        (State.STARTED, "operation_in_progress"),
        (State.UNCONFIRMED, "reconciliation_pending"),
        (State.MANUAL_REVIEW, "reconciliation_pending"),
    ],
)
async def test_an_open_operation_is_answered_with_where_it_stands(intake: Intake, state: State, code: str) -> None:
    (first,) = (await intake.take(call("refund_payment", REFUND))).results
    kept = intake.world.operations[first.operation_id or ""]
    kept.operation = replace(kept.operation, state=state)
    (again,) = (await intake.take(call("refund_payment", REFUND))).results
    assert again.error is not None
    assert (again.error.code, again.status, again.final) == (code, Status.FAILED_RETRYABLE, False)


@pytest.mark.parametrize("state", [State.AWAITING_APPROVAL, State.MANUAL_REVIEW])
async def test_what_waits_for_people_is_not_waited_for_unless_asked(intake: Intake, state: State) -> None:
    (first,) = (await intake.take(call("refund_payment", REFUND))).results
    kept = intake.world.operations[first.operation_id or ""]
    kept.operation = replace(kept.operation, state=state)
    # The clock stands still, so only the state can end this.
    answer = await intake.take(call("refund_payment", REFUND), wait_seconds=60.0)
    assert not answer.complete


async def test_patience_ends(intake: Intake) -> None:
    intake.seconds_between_looks = 1.0
    answer = await intake.take(call("refund_payment", REFUND), wait_seconds=3.0, wait_for_people=True)
    assert not answer.complete
    assert intake.clock == pytest.approx(4.0, abs=1)


async def test_an_unknown_surface_is_refused_with_the_names_of_those_that_there_are(intake: Intake) -> None:
    with pytest.raises(ResponseRefused) as refused:
        await intake.take(call("get_order", ORDER), surface="carrier-pigeon")
    assert refused.value.code == "unknown_surface"
    assert [detail.expected for detail in refused.value.details] == [" or ".join(sorted(SURFACES))]


async def test_a_response_is_judged_beside_the_loop_that_serves_the_others(
    intake: Intake, monkeypatch: pytest.MonkeyPatch
) -> None:
    judging = []
    real = judge

    def noted(*asked: Any) -> Judged:
        judging.append(threading.current_thread())
        return real(*asked)

    monkeypatch.setattr(turns, "judge", noted)
    await intake.take(call("get_order", {"order_id": "O-17"}))
    assert len(judging) == 1
    assert judging[0] is not threading.main_thread()


async def test_a_turn_for_which_there_is_no_place_is_refused_and_leaves_nothing(intake: Intake) -> None:
    intake.room = Room(1, patience=0.05)
    async with intake.room.place("tenant-b"):
        with pytest.raises(Overloaded):
            await intake.take(call("refund_payment", REFUND))
    assert intake.seen == []
    assert len((await intake.take(call("refund_payment", REFUND))).results) == 1


@pytest.mark.parametrize("state", [State.AWAITING_APPROVAL, State.STARTED])
async def test_who_waits_for_people_or_the_downstream_keeps_no_place_from_others(intake: Intake, state: State) -> None:
    intake.room = Room(1, patience=0.05)
    (asked,) = (await intake.take(call("refund_payment", REFUND), request_id="asked")).results
    await MemoryOperations(intake.world).move(asked.operation_id or "", state)
    patient: dict[str, Any] = {"request_id": "asked", "wait_seconds": 60.0, "wait_for_people": True}
    waiting = asyncio.create_task(intake.take(call("refund_payment", REFUND), **patient))
    await until(lambda: deliveries(intake), lambda number: number == 2)
    await intake.take(call("get_order", ORDER), request_id="another")
    await intake.end(asked.operation_id or "", Settlement(State.SUCCEEDED, data={}))
    assert (await waiting).complete


async def deliveries(intake: Intake) -> int:
    return len(intake.seen)
