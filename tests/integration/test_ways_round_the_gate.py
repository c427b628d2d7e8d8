"""What somebody starts by hand with a Temporal client leads through the gate, or to nothing.

Its console and its command line can start the workflow under any id, and each step as an activity of its own, for any
operation whose id and intent hash they know. Nothing of it sends, nothing of it is written over what people said, and
what waited for a person still waits for them.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NamedTuple

import pytest
from sqlalchemy import select
from temporalio.client import ActivityFailureError, WorkflowFailureError, WorkflowHandle
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError
from temporalio.service import RPCError, RPCStatusCode

from adapters.postgres.tables import claims, handler_calls, operations
from tests.faults.refunds import Refund
from tests.support.onceward import Onceward
from tests.support.proposals import fresh
from tests.support.responses import call
from tests.support.waiting import until
from workflows import contracts
from workflows.messages import Ending, Judgement, OperationRef, Report, SettleOrder

QUEUE = "onceward"
ONCE = RetryPolicy(maximum_attempts=1)
A_WHILE = timedelta(seconds=30)

ANSWERS: dict[str, type[Judgement] | type[Report] | type[Ending]] = {
    contracts.VALIDATE: Judgement,
    contracts.APPLY: Report,
    contracts.RECONCILE: Report,
    contracts.SETTLE: Ending,
    contracts.READ: Ending,
}


class Counted(NamedTuple):
    """How an operation stands, and everything that has come of it."""

    state: str
    code: str | None
    questions: tuple[str, ...]
    claims: int
    handler_calls: int
    posts: int
    effects: int

    @classmethod
    async def of(cls, onceward: Onceward, operation_id: str) -> "Counted":
        (stored,) = await onceward.rows(select(operations).where(operations.c.operation_id == operation_id))
        return cls(
            state=stored.state,
            code=stored.code,
            questions=tuple(each.state for each in await onceward.approvals(operation_id)),
            claims=len(await onceward.rows(select(claims).where(claims.c.operation_id == operation_id))),
            handler_calls=await onceward.handler_calls(operation_id),
            posts=await onceward.provider.posts(operation_id),
            effects=await onceward.provider.effects(operation_id),
        )


WAITING = Counted("awaiting_approval", None, ("pending",), 0, 0, 0, 0)
DENIED = Counted("failed_terminal", "approval_denied", ("denied",), 0, 0, 0, 0)
REFUSED = Counted("failed_terminal", "quote_expired", (), 0, 0, 0, 0)


@dataclass(frozen=True)
class Stranger:
    """Somebody with a Temporal client, before one operation. `meaning` is the intent hash that they name."""

    onceward: Onceward
    operation_id: str
    meaning: str

    @classmethod
    async def before(cls, onceward: Onceward, operation_id: str, meaning: str = "") -> "Stranger":
        """With the operation's own intent hash unless they name another."""
        wanted = select(operations.c.intent_hash).where(operations.c.operation_id == operation_id)
        (stored,) = await onceward.rows(wanted)
        return cls(onceward, operation_id, meaning or str(stored.intent_hash))

    @property
    def ref(self) -> OperationRef:
        return OperationRef(self.operation_id, self.meaning)

    async def step(self, name: str, code: str | None = None) -> str:
        """Start a step as an activity of its own; what it says comes next, or the code in which it fails."""
        message: Any = SettleOrder(self.ref, code) if name == contracts.SETTLE else self.ref
        try:
            said = await self.onceward.temporal.execute_activity(
                name,
                message,
                id=fresh("by-hand"),
                task_queue=QUEUE,
                result_type=ANSWERS[name],
                start_to_close_timeout=A_WHILE,
                retry_policy=ONCE,
            )
        except ActivityFailureError as failure:
            return code_of(failure.cause)
        return said.state if isinstance(said, Ending) else said.step.value

    async def start_workflow(self, workflow_id: str = "") -> WorkflowHandle[Any, Ending]:
        """Start the whole operation under an id of its own, or again under the operation's."""
        return await self.onceward.temporal.start_workflow(
            contracts.EXECUTE_OPERATION,
            self.ref,
            id=workflow_id or fresh("by-hand"),
            task_queue=QUEUE,
            result_type=Ending,
        )

    async def nudge(self) -> None:
        await self.onceward.temporal.get_workflow_handle(self.operation_id).signal(contracts.NUDGE)

    async def counted(self) -> Counted:
        return await Counted.of(self.onceward, self.operation_id)


def code_of(failure: BaseException | None) -> str:
    inner = failure.cause if isinstance(failure, ActivityError) else failure
    assert isinstance(inner, ApplicationError)
    return inner.type or ""


async def ending_of(workflow: WorkflowHandle[Any, Ending]) -> str:
    """The state in which it ends, or the code in which it fails."""
    try:
        return (await workflow.result()).state
    except WorkflowFailureError as failure:
        return code_of(failure.cause)


async def looks_of(workflow: WorkflowHandle[Any, Any]) -> int:
    """How often the workflow has had the gate look, each look with its answer."""
    history = await workflow.fetch_history()
    names = {
        event.event_id: event.activity_task_scheduled_event_attributes.activity_type.name for event in history.events
    }
    answered = [event.activity_task_completed_event_attributes.scheduled_event_id for event in history.events]
    in_sight = sum(names.get(event_id) == contracts.VALIDATE for event_id in answered)
    # On the fast path a step leaves a note of what it answered, and names itself there.
    notes = (
        event.marker_recorded_event_attributes.details["data"].payloads
        for event in history.events
        if "data" in event.marker_recorded_event_attributes.details
    )
    return in_sight + sum(contracts.VALIDATE.encode() in payload.data for payloads in notes for payload in payloads)


# -- what waits for a person


@pytest.mark.parametrize(
    ("step", "meaning", "comes_next"),
    [
        (contracts.VALIDATE, "", "wait"),
        (contracts.RECONCILE, "", "validate"),
        (contracts.READ, "", "unknown_tool"),
        *((step, "another", "idempotency_conflict") for step in ANSWERS if step != contracts.RECONCILE),
    ],
)
async def test_no_step_by_hand_moves_what_waits_for_a_person(
    onceward: Onceward, step: str, meaning: str, comes_next: str
) -> None:
    refund = await Refund.proposed(onceward)
    stranger = await Stranger.before(onceward, refund.operation_id, meaning)

    assert await stranger.step(step) == comes_next
    assert await stranger.counted() == WAITING
    await refund.approve()
    await refund.require_once(posts=1)


async def test_a_nudge_by_hand_is_no_word_of_a_person(onceward: Onceward) -> None:
    refund = await Refund.proposed(onceward)
    stranger = await Stranger.before(onceward, refund.operation_id)
    workflow = onceward.temporal.get_workflow_handle(refund.operation_id)
    before = await looks_of(workflow)

    await stranger.nudge()
    await until(lambda: looks_of(workflow), lambda looks: looks > before)
    assert await stranger.counted() == WAITING
    await refund.approve()
    await refund.require_once(posts=1)


async def test_a_second_workflow_waits_for_the_same_person_and_refunds_nothing_of_its_own(onceward: Onceward) -> None:
    refund = await Refund.proposed(onceward)
    stranger = await Stranger.before(onceward, refund.operation_id)

    second = await stranger.start_workflow()
    await until(lambda: looks_of(second), lambda looks: looks == 1)
    assert await stranger.counted() == WAITING
    await refund.approve()
    await second.signal(contracts.NUDGE)
    await refund.require_once(posts=1)
    assert await ending_of(second) == "succeeded"


async def test_a_workflow_that_means_something_else_fails_and_leaves_the_operation_alone(onceward: Onceward) -> None:
    refund = await Refund.proposed(onceward)
    stranger = await Stranger.before(onceward, refund.operation_id, "another")

    assert await ending_of(await stranger.start_workflow()) == "idempotency_conflict"
    assert await stranger.counted() == WAITING
    await refund.approve()
    await refund.require_once(posts=1)


async def test_who_settles_by_hand_what_nobody_has_refused_ends_nothing(onceward: Onceward) -> None:
    refund = await Refund.proposed(onceward)
    stranger = await Stranger.before(onceward, refund.operation_id)

    assert await stranger.step(contracts.SETTLE) == "unconfirmed"
    assert await stranger.counted() == WAITING
    await refund.approve()
    await refund.require_once(posts=1)


# -- what has been denied, or refused by the business


@pytest.fixture(scope="module")
async def denied(onceward: Onceward) -> AsyncIterator[str]:
    """A refund that a person has said no to."""
    refund = await Refund.proposed(onceward)
    await onceward.deny(refund.operation_id, "Not theirs.")
    await onceward.temporal.get_workflow_handle(refund.operation_id).result()
    yield refund.operation_id
    assert await Counted.of(onceward, refund.operation_id) == DENIED


@pytest.fixture(scope="module")
async def refused(onceward: Onceward) -> AsyncIterator[str]:
    """A refund that the business has said no to: its quote has expired."""
    async with onceward.provider.switched(quote_seconds=0):
        arguments = await onceward.provider.refund_arguments(await onceward.provider.add_order())
    operation_id = (await onceward.turn(call("refund_payment", arguments))).operation_id
    await onceward.temporal.get_workflow_handle(operation_id).result()
    yield operation_id
    assert await Counted.of(onceward, operation_id) == REFUSED


@pytest.fixture(params=["denied", "refused"])
def ended(request: pytest.FixtureRequest) -> str:
    """What can be done to the one can be done to the other, and comes to as little."""
    operation_id: str = request.getfixturevalue(request.param)
    return operation_id


@pytest.mark.parametrize(
    ("step", "comes_next"),
    [
        (contracts.VALIDATE, "settle"),
        (contracts.APPLY, "settle"),
        (contracts.RECONCILE, "validate"),
        (contracts.SETTLE, "failed_terminal"),
        (contracts.READ, "failed_terminal"),
    ],
)
async def test_no_step_by_hand_changes_an_end(onceward: Onceward, ended: str, step: str, comes_next: str) -> None:
    stranger = await Stranger.before(onceward, ended)
    before = await stranger.counted()

    assert await stranger.step(step) == comes_next
    assert await stranger.counted() == before in (DENIED, REFUSED)


async def test_an_end_cannot_be_settled_anew_under_another_code(onceward: Onceward, ended: str) -> None:
    stranger = await Stranger.before(onceward, ended)
    before = await stranger.counted()

    assert await stranger.step(contracts.SETTLE, "upstream_unavailable") == "failed_terminal"
    assert await stranger.counted() == before


@pytest.mark.parametrize("meaning", ["", "another"], ids=["as meant", "otherwise"])
@pytest.mark.parametrize("own_id", [True, False], ids=["again", "beside"])
async def test_a_workflow_by_hand_ends_as_it_had_ended_or_fails(
    onceward: Onceward, ended: str, own_id: bool, meaning: str
) -> None:
    stranger = await Stranger.before(onceward, ended, meaning)
    before = await stranger.counted()

    workflow = await stranger.start_workflow(ended if own_id else "")
    assert await ending_of(workflow) == ("idempotency_conflict" if meaning else "failed_terminal")
    assert await stranger.counted() == before


async def test_a_nudge_wakes_nobody_once_it_has_ended(onceward: Onceward, ended: str) -> None:
    stranger = await Stranger.before(onceward, ended)
    with pytest.raises(RPCError) as nobody:
        await stranger.nudge()
    assert nobody.value.status is RPCStatusCode.NOT_FOUND


# -- what only reads


@pytest.fixture
async def unread(onceward: Onceward) -> AsyncIterator[str]:
    """A look-up that is tried again and again, as the provider does not answer; at last it is answered."""
    order_id = await onceward.provider.add_order()
    silent = {"on": "order", "do": "503", "times": None, "match": {"order_id": order_id}}
    async with onceward.provider.switched(silent):
        reply = await onceward.turn(call("get_order", {"order_id": order_id}), wait_seconds=0)
        await onceward.until(reply.operation_id, "started")
        yield reply.operation_id
    assert await onceward.until(reply.operation_id, "succeeded", "failed_retryable") == "succeeded"


@pytest.mark.parametrize(
    ("step", "comes_next"),
    [(contracts.APPLY, "unknown_tool"), (contracts.VALIDATE, "go"), (contracts.RECONCILE, "validate")],
)
async def test_a_read_is_never_taken_for_a_write(onceward: Onceward, unread: str, step: str, comes_next: str) -> None:
    stranger = await Stranger.before(onceward, unread)

    assert await stranger.step(step) == comes_next
    assert await stranger.step(contracts.APPLY) == "unknown_tool"
    assert await generations_of(onceward, unread) == {0}, "a handler was called under a claim"
    assert (await stranger.counted()).claims == 0


async def test_a_workflow_started_for_a_read_sends_nothing_and_ends_with_it(onceward: Onceward, unread: str) -> None:
    stranger = await Stranger.before(onceward, unread)

    workflow = await stranger.start_workflow()
    await until(lambda: looks_of(workflow), lambda looks: looks > 0)
    assert await generations_of(onceward, unread) == {0}
    await onceward.provider.clear()
    assert await ending_of(workflow) == "succeeded"
    assert await generations_of(onceward, unread) == {0}


async def generations_of(onceward: Onceward, operation_id: str) -> set[int]:
    wanted = select(handler_calls.c.generation).where(handler_calls.c.operation_id == operation_id)
    return {int(row.generation) for row in await onceward.rows(wanted)}
