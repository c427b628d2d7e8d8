"""A deploy in the middle changes nothing: the histories of every release replay on today's workflow."""

from pathlib import Path

import pytest
from temporalio import workflow
from temporalio.client import WorkflowHistory
from temporalio.worker import Replayer

from tests.replay.lives import LIVES, TURNS
from tests.replay.record import HISTORIES
from tests.support.sandbox import sandbox_of_tests
from workflows import contracts
from workflows.execute_operation import ExecuteOperation
from workflows.execute_turn import ExecuteTurn
from workflows.messages import Ending, OperationRef

STORED = sorted(HISTORIES.glob("*/*.json"))


def history(path: Path) -> WorkflowHistory:
    return WorkflowHistory.from_json(path.stem, path.read_text(encoding="utf-8"))


async def replay(past: WorkflowHistory) -> None:
    """Raises when today's code would have done otherwise."""
    await Replayer(workflows=[ExecuteOperation, ExecuteTurn], workflow_runner=sandbox_of_tests()).replay_workflow(past)


@pytest.mark.parametrize("path", STORED, ids=lambda path: f"{path.parent.name}/{path.stem}")
async def test_a_stored_history_replays(path: Path) -> None:
    await replay(history(path))


@pytest.mark.parametrize("path", STORED, ids=lambda path: f"{path.parent.name}/{path.stem}")
async def test_a_stored_history_replays_up_to_wherever_a_new_worker_may_take_it_over(path: Path) -> None:
    whole = history(path)
    for number, event in enumerate(whole.events, 1):
        if event.HasField("workflow_task_started_event_attributes"):
            so_far = WorkflowHistory(whole.workflow_id, whole.events[:number])
            await replay(so_far)


def test_every_release_has_stored_every_life_that_it_knew() -> None:
    assert {path.stem for path in STORED if path.parent.name == "0.1"} == LIVES.keys() | TURNS.keys()


@workflow.defn(name=contracts.EXECUTE_OPERATION, sandboxed=False)
class SkipsTheGate:
    """A workflow as it must never become."""

    @workflow.run
    async def run(self, ref: OperationRef) -> Ending:
        call = contracts.CALLS[contracts.APPLY]
        await workflow.execute_activity(contracts.APPLY, ref, start_to_close_timeout=call.start_to_close)
        return Ending("succeeded")


async def test_a_workflow_that_skips_the_gate_would_be_found_out() -> None:
    with pytest.raises(workflow.NondeterminismError):
        await Replayer(workflows=[SkipsTheGate]).replay_workflow(history(HISTORIES / "0.1" / "approved.json"))
