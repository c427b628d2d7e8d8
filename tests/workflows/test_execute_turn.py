"""The order of a turn's calls under the real sandbox: reads first, then each write after the one before it."""

import uuid

import pytest
from temporalio.client import WorkflowFailureError
from temporalio.exceptions import CancelledError
from temporalio.testing import WorkflowEnvironment

from tests.workflows.turns import Script, refs, running, turn
from workflows.execute_operation import ExecuteOperation
from workflows.execute_turn import ExecuteTurn
from workflows.messages import Ending, Followed, TurnRef


async def outcome(environment: WorkflowEnvironment, script: Script, ref: TurnRef) -> list[str]:
    async with running(environment, script, ref) as handle:
        return (await handle.result()).states


async def test_each_write_is_carried_to_its_end_before_the_next_one_begins(time_skipping: WorkflowEnvironment) -> None:
    script = Script()
    assert await outcome(time_skipping, script, turn(writes=refs("a", "b", "c"))) == ["succeeded"] * 3
    assert script.called == [(step, name) for name in "abc" for step in ("validate", "apply", "settle")]


async def test_the_reads_are_followed_before_the_first_write_begins(time_skipping: WorkflowEnvironment) -> None:
    script = Script()
    await outcome(time_skipping, script, turn(refs("r", "s"), refs("a")))
    assert script.called[:3] == [("follow", "r"), ("follow", "s"), ("validate", "a")]
    assert script.of("read") == []


async def test_one_by_one_the_reads_are_run_here_each_after_the_other(time_skipping: WorkflowEnvironment) -> None:
    script = Script()
    await outcome(time_skipping, script, turn(refs("r", "s"), refs("a"), one_by_one=True))
    assert script.called[:3] == [("read", "r"), ("read", "s"), ("validate", "a")]
    assert script.of("follow") == []


async def test_a_read_that_fails_stops_nobody(time_skipping: WorkflowEnvironment) -> None:
    script = Script(refused=["r"])
    assert await outcome(time_skipping, script, turn(refs("r", "s"), refs("a"), one_by_one=True)) == ["succeeded"]
    assert script.of("read")[-1] == "s"


async def test_every_write_is_put_to_the_gate_even_after_one_that_failed(time_skipping: WorkflowEnvironment) -> None:
    script = Script(refused=["a", "b"])
    assert await outcome(time_skipping, script, turn(writes=refs("a", "b"))) == ["failed_terminal"] * 2
    assert script.of("apply") == []
    assert script.of("settle") == ["a", "b"]


async def test_a_write_that_somebody_else_carries_is_followed_to_its_end(time_skipping: WorkflowEnvironment) -> None:
    first, second = refs("a", "b")
    script = Script(parked=["a"], followed=[Followed(), Followed(["succeeded"])])
    async with running(time_skipping, script, turn(writes=[first, second])) as handle:
        await script.reached.wait()
        # The same write in a second turn: its workflow is not this one's child.
        other = await time_skipping.client.start_workflow(
            ExecuteTurn.run,
            turn(writes=[first]),
            id=f"turn_{uuid.uuid4().hex}",
            task_queue=(await handle.describe()).task_queue,
        )
        assert (await other.result()).states == ["succeeded"]
        assert script.of("follow") == ["a", "a"]
        await handle.terminate()


async def test_a_turn_that_is_ended_in_the_console_leaves_its_write_alone(time_skipping: WorkflowEnvironment) -> None:
    [first] = refs("a")
    script = Script(parked=["a"])
    async with running(time_skipping, script, turn(writes=[first])) as handle:
        await script.reached.wait()
        await handle.terminate()
        script.parked.clear()
        write = time_skipping.client.get_workflow_handle_for(ExecuteOperation.run, first.operation_id)
        await write.signal(ExecuteOperation.nudge)
        assert await write.result() == Ending("succeeded")


async def test_a_write_whose_workflow_is_ended_in_the_console_is_followed(short_histories: WorkflowEnvironment) -> None:
    first, second = refs("a", "b")
    script = Script(parked=["a"], followed=[Followed(["failed_terminal"])])
    async with running(short_histories, script, turn(writes=[first, second])) as handle:
        await script.reached.wait()
        await short_histories.client.get_workflow_handle(first.operation_id).terminate()
        assert (await handle.result()).states == ["failed_terminal", "succeeded"]
        assert script.of("follow") == ["a"]


async def test_a_turn_that_is_canceled_in_the_console_leaves_its_write_alone(
    short_histories: WorkflowEnvironment,
) -> None:
    [first] = refs("a")
    script = Script(parked=["a"])
    async with running(short_histories, script, turn(writes=[first])) as handle:
        await script.reached.wait()
        await handle.cancel()
        with pytest.raises(WorkflowFailureError) as ended:
            await handle.result()
        assert isinstance(ended.value.cause, CancelledError)
        script.parked.clear()
        write = short_histories.client.get_workflow_handle_for(ExecuteOperation.run, first.operation_id)
        await write.signal(ExecuteOperation.nudge)
        assert await write.result() == Ending("succeeded")


async def test_a_write_whose_workflow_is_canceled_in_the_console_is_followed(
    short_histories: WorkflowEnvironment,
) -> None:
    first, second = refs("a", "b")
    script = Script(parked=["a"], followed=[Followed(["succeeded"])])
    async with running(short_histories, script, turn(writes=[first, second])) as handle:
        await script.reached.wait()
        await short_histories.client.get_workflow_handle(first.operation_id).cancel()
        assert (await handle.result()).states == ["succeeded", "succeeded"]
        assert script.of("follow") == ["a"]
