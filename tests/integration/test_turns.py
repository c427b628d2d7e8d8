"""Several calls of one response through the real door: reads first, writes in order, each with its own end."""

from dataclasses import dataclass

from sqlalchemy import select, update

from adapters.postgres.sweep import GRACE
from adapters.postgres.tables import operations
from adapters.temporal.starter import TemporalStarter
from tests.support.onceward import ENDS, Onceward, Reply
from tests.support.proposals import fresh
from tests.support.responses import Call, call
from tests.support.waiting import until
from workflows import contracts
from workflows.domain.intent import digest
from workflows.messages import OperationRef, TurnRef


@dataclass
class Asked:
    """One response with several calls, and what has come of it."""

    onceward: Onceward
    calls: tuple[Call, ...]
    request_id: str
    reply: Reply

    def operation(self, call_id: str) -> str:
        return str(self.reply.results[call_id]["operation_id"])

    async def again(self) -> Reply:
        """The same response handed in once more, now waited for."""
        return await self.onceward.turn(*self.calls, request_id=self.request_id, wait_seconds=20, wait_for="end")

    async def effects(self, *call_ids: str) -> list[int]:
        return [await self.onceward.provider.effects(self.operation(call_id)) for call_id in call_ids]


async def refund(onceward: Onceward, call_id: str) -> Call:
    order = await onceward.provider.add_order()
    return call("refund_payment", await onceward.provider.refund_arguments(order), call_id)


def read(call_id: str, order_id: str = "O-17") -> Call:
    return call("get_order", {"order_id": order_id}, call_id)


async def ask(onceward: Onceward, *calls: Call) -> Asked:
    request_id = fresh("response")
    return Asked(onceward, calls, request_id, await onceward.turn(*calls, request_id=request_id))


async def two_refunds(onceward: Onceward) -> Asked:
    return await ask(onceward, await refund(onceward, "first"), read("look"), await refund(onceward, "second"))


async def test_the_second_write_is_not_even_asked_about_before_the_first_is_done(onceward: Onceward) -> None:
    asked = await two_refunds(onceward)
    told = {name: result.get("error", {}).get("code") for name, result in asked.reply.results.items()}
    assert told == {"first": "approval_required", "look": None, "second": "earlier_call_open"}
    assert await onceward.approvals(asked.operation("second")) == []
    assert not await onceward.has_workflow(asked.operation("second"))
    await onceward.approve(asked.operation("first"))
    await onceward.until(asked.operation("second"), "awaiting_approval")
    assert await asked.effects("first", "second") == [1, 0]
    await onceward.approve(asked.operation("second"))
    reply = await asked.again()
    assert {name: result["status"] for name, result in reply.results.items()} == dict.fromkeys(
        ("first", "look", "second"), "succeeded"
    )
    assert await asked.effects("first", "second") == [1, 1]


async def test_denying_one_keeps_what_came_before_it_and_says_of_the_rest_that_nothing_was_begun(
    onceward: Onceward,
) -> None:
    asked = await ask(
        onceward,
        await refund(onceward, "first"),
        await refund(onceward, "denied"),
        read("look"),
        await refund(onceward, "last"),
    )
    await onceward.approve(asked.operation("first"))
    await onceward.until(asked.operation("denied"), "awaiting_approval")
    await onceward.deny(asked.operation("denied"), "Not this one.")
    await onceward.until(asked.operation("last"), *ENDS)
    reply = await asked.again()
    told = {name: (result["status"], result.get("error", {}).get("code")) for name, result in reply.results.items()}
    assert told == {
        "first": ("succeeded", None),
        "denied": ("failed_terminal", "approval_denied"),
        "look": ("succeeded", None),
        "last": ("failed_terminal", "earlier_write_not_done"),
    }
    assert await asked.effects("first", "denied", "last") == [1, 0, 0]
    assert await onceward.handler_calls(asked.operation("last")) == 0


async def test_a_write_that_is_canceled_takes_those_after_it_along(onceward: Onceward) -> None:
    asked = await two_refunds(onceward)
    headers = {"Authorization": f"Bearer {onceward.token()}"}
    await onceward.door.post(f"/v1/operations/{asked.operation('first')}/cancel", headers=headers)
    await onceward.until(asked.operation("second"), *ENDS)
    reply = await asked.again()
    assert reply.results["second"]["error"]["code"] == "earlier_write_not_done"
    assert await asked.effects("first", "second") == [0, 0]


async def test_a_write_that_waits_for_its_turn_can_be_canceled_at_once(onceward: Onceward) -> None:
    asked = await two_refunds(onceward)
    headers = {"Authorization": f"Bearer {onceward.token()}"}
    answer = await onceward.door.post(f"/v1/operations/{asked.operation('second')}/cancel", headers=headers)
    assert answer.json()["cancellation"]["code"] == "canceled"
    await onceward.approve(asked.operation("first"))
    await onceward.until(asked.operation("first"), "succeeded")
    assert await asked.effects("first", "second") == [1, 0]


async def test_the_same_call_twice_is_one_execution_and_both_are_answered(onceward: Onceward) -> None:
    write = await refund(onceward, "first")
    asked = await ask(onceward, write, ("again", *write[1:]), read("look"), read("look-again"))
    results = asked.reply.results
    assert [results[name]["duplicate_of"] for name in ("first", "again", "look", "look-again")] == [
        None, "first", None, "look",
    ]  # fmt: skip
    assert await onceward.handler_calls(asked.operation("look")) == 1
    await onceward.approve(asked.operation("first"))
    reply = await asked.again()
    assert reply.results["first"]["data"] == reply.results["again"]["data"]
    assert await asked.effects("first") == [1]


def turn_of(asked: Asked) -> str:
    """The workflow that carries two refunds and a look."""
    names = [asked.operation(call_id) for call_id in ("look", "first", "second")]
    return f"turn_{digest(['tenant-a', *names])[:24]}"


async def says(onceward: Onceward, workflow_id: str) -> str:
    """What the console's page says in words."""
    return str(await onceward.temporal.get_workflow_handle(workflow_id).query("__temporal_workflow_metadata"))


async def test_the_console_says_what_a_turn_is_about(onceward: Onceward) -> None:
    asked = await two_refunds(onceward)
    said = await until(lambda: says(onceward, turn_of(asked)), lambda words: "Waiting for write 1 of 2" in words)
    assert asked.operation("first") in said


async def test_calls_that_are_handed_in_later_under_the_same_id_are_carried_too(onceward: Onceward) -> None:
    asked = await ask(onceward, await refund(onceward, "first"), read("look"))
    more = (*asked.calls, await refund(onceward, "second"), read("look-too", "O-18"))
    later = await onceward.turn(*more, request_id=asked.request_id)
    assert later.results["look-too"]["status"] == "succeeded"
    await onceward.approve(asked.operation("first"))
    await onceward.until(later.results["second"]["operation_id"], "awaiting_approval")


async def test_a_turn_that_is_ended_in_the_console_is_taken_up_again(onceward: Onceward) -> None:
    asked = await two_refunds(onceward)
    await until(lambda: onceward.has_workflow(asked.operation("first")), bool)
    await onceward.temporal.get_workflow_handle(turn_of(asked)).terminate()
    await onceward.approve(asked.operation("first"))
    await onceward.until(asked.operation("first"), "succeeded")
    await due_for_the_sweep(onceward, asked.operation("second"))
    await onceward.until(asked.operation("second"), "awaiting_approval")
    assert await asked.effects("first", "second") == [1, 0]


async def due_for_the_sweep(onceward: Onceward, operation_id: str) -> None:
    """It comes to each open operation in its time; now that time has come for this one."""
    async with onceward.owner.transaction() as connection:
        aged = update(operations).where(operations.c.operation_id == operation_id)
        await connection.execute(aged.values(swept_at=operations.c.swept_at - 2 * GRACE))


async def test_a_write_that_is_started_by_hand_before_its_time_waits_all_the_same(onceward: Onceward) -> None:
    asked = await two_refunds(onceward)
    name = asked.operation("second")
    [row] = await onceward.rows(select(operations).where(operations.c.operation_id == name))
    queue = onceward.stack.environment("worker").get("ONCEWARD_TEMPORAL_TASK_QUEUE", "onceward")
    await onceward.temporal.start_workflow(
        contracts.EXECUTE_OPERATION, OperationRef(name, row.intent_hash), id=name, task_queue=queue
    )
    await until(lambda: says(onceward, name), lambda words: "an earlier call of the same turn" in words)
    assert await onceward.approvals(name) == []
    assert await onceward.handler_calls(name) == 0
    await onceward.approve(asked.operation("first"))
    await onceward.until(asked.operation("first"), "succeeded")
    await onceward.temporal.get_workflow_handle(name).signal(contracts.NUDGE)
    await onceward.until(name, "awaiting_approval")


async def test_whoever_starts_a_turn_is_told_once_it_is_over(onceward: Onceward) -> None:
    asked = await ask(onceward, read("look"), read("look-too", "O-18"))
    stored = await onceward.rows(
        select(operations).where(operations.c.operation_id.in_(map(asked.operation, asked.reply.results)))
    )
    ref = TurnRef(
        [OperationRef(row.operation_id, row.intent_hash) for row in stored], [], [], "tenant-a", one_by_one=True
    )
    queue = onceward.stack.environment("worker").get("ONCEWARD_TEMPORAL_TASK_QUEUE", "onceward")
    starter, name = TemporalStarter(onceward.temporal, queue), fresh("turn")
    assert await starter.start_turn(name, ref)
    await onceward.temporal.get_workflow_handle(name).result()
    assert not await starter.start_turn(name, ref)
