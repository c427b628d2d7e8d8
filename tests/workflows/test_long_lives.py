"""An operation whose history has grown long goes on in a new one, and loses nothing by it."""

import asyncio

import pytest
from temporalio.client import Client
from temporalio.testing import WorkflowEnvironment

from tests.support.waiting import until
from tests.workflows.conftest import FEW_EVENTS
from tests.workflows.running import Handle, running
from tests.workflows.script import DONE, GO, UNCERTAIN, WAIT, Script
from workflows.execute_operation import ExecuteOperation
from workflows.messages import Ending, Judgement, Report, Step

LONGEST = 2 * FEW_EVENTS
"""Events that a history may have when a new one is suggested after half as many: a step is not cut in two."""


class Patience(Script):
    """Waits for a person until it is told that they have decided, as the store would."""

    def __init__(self, then: Judgement = GO) -> None:
        super().__init__(validate=[WAIT], apply=[DONE])
        self._then, self.decided = then, False

    def _next(self, step: str) -> object:
        answer = super()._next(step)
        return self._then if step == "validate" and self.decided else answer


async def histories(client: Client, handle: Handle) -> list[int]:
    """The number of events of each run under the operation's id."""
    runs = [run async for run in client.list_workflows(f"WorkflowId = '{handle.id}'")]
    each = [client.get_workflow_handle(handle.id, run_id=run.run_id) for run in runs]
    return [len((await run.fetch_history()).events) for run in each]


async def looked(script: Script) -> int:
    return script.called.count("validate")


async def nudge_and_wait(handle: Handle, script: Script) -> None:
    """One nudge, and the look that it leads to."""
    before = await looked(script)
    await handle.signal(ExecuteOperation.nudge)
    await until(lambda: looked(script), lambda looks: looks > before)


async def test_however_often_it_is_nudged_no_history_grows_long(short_histories: WorkflowEnvironment) -> None:
    script = Patience()
    async with running(short_histories, script) as handle:
        for _ in range(40):
            await nudge_and_wait(handle, script)
        script.decided = True
        await handle.signal(ExecuteOperation.nudge)
        assert await handle.result() == Ending("succeeded")
        events = await histories(short_histories.client, handle)
    assert len(events) > 3
    assert max(events) <= LONGEST
    assert script.called.count("apply") == 1


@pytest.mark.parametrize("fast_path", [True, False], ids=["on the fast path", "in sight"])
async def test_a_decision_in_the_moment_of_a_new_history_counts_every_time(
    short_histories: WorkflowEnvironment, fast_path: bool
) -> None:
    async def decided_after(nudges: int) -> Ending:
        script = Patience()
        async with running(short_histories, script, fast_path=fast_path) as handle:
            for _ in range(nudges):
                await nudge_and_wait(handle, script)
            script.decided = True
            await handle.signal(ExecuteOperation.nudge)
            ending = await handle.result()
        # A nudge in the middle of a task has the task taken again; what keeps the effect one is the claim.
        assert script.called.count("apply") == 1 or fast_path
        return ending

    endings = await asyncio.gather(*(decided_after(nudges) for nudges in range(12)))
    assert endings == [Ending("succeeded")] * 12


async def test_a_doubt_that_lasts_is_carried_on_from_history_to_history(short_histories: WorkflowEnvironment) -> None:
    still = Report(Step.RECONCILE, "reconciliation_pending", pause_seconds=0.01)
    script = Script(validate=[GO], apply=[UNCERTAIN], reconcile=[*[still] * 30, DONE])
    # A new history begins at the gate, which says that what was sent is not its business.
    async with running(short_histories, script) as handle:
        assert await handle.result() == Ending("succeeded")
        assert max(await histories(short_histories.client, handle)) <= LONGEST


async def test_a_refusal_after_a_new_history_is_told_as_any_other(short_histories: WorkflowEnvironment) -> None:
    script = Patience(Judgement(Step.SETTLE, "approval_denied"))
    async with running(short_histories, script) as handle:
        for _ in range(8):
            await nudge_and_wait(handle, script)
        script.decided = True
        await handle.signal(ExecuteOperation.nudge)
        assert await handle.result() == Ending("failed_terminal", "approval_denied")
