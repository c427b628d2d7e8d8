"""What goes well is one workflow task; the first sign of trouble takes it to where everybody sees it."""

from collections.abc import Sequence

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.client import WorkflowHistory
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Replayer

from tests.support.sandbox import sandbox_of_tests
from tests.workflows.running import running
from tests.workflows.script import DONE, GO, UNCERTAIN, WAIT, Script, broken
from tests.workflows.test_what_the_console_shows import states
from workflows import contracts
from workflows.execute_operation import ExecuteOperation
from workflows.messages import Ending, Judgement, Report, Step

ONE_TASK = [
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED,
    EventType.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED,
    EventType.EVENT_TYPE_WORKFLOW_TASK_STARTED,
    EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED,
    *[EventType.EVENT_TYPE_MARKER_RECORDED] * 3,
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED,
]
"""Start, task, and what three steps have answered: two actions by which Temporal Cloud would bill it."""

LARGEST_HISTORY = 6 * 1024
"""Bytes."""


async def lived(environment: WorkflowEnvironment, script: Script) -> WorkflowHistory:
    """The history of an operation that the script has carried to its end."""
    async with running(environment, script) as handle:
        await handle.result()
        return await handle.fetch_history()


def in_sight(history: WorkflowHistory) -> Sequence[str]:
    """The steps that the console shows as activities, in their order."""
    scheduled = (event.activity_task_scheduled_event_attributes for event in history.events)
    return [each.activity_type.name for each in scheduled if each.activity_type.name]


def tasks(history: WorkflowHistory) -> int:
    return sum(event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED for event in history.events)


async def test_a_write_that_nobody_must_approve_is_one_task_with_every_step_of_the_gate_in_it(
    short_histories: WorkflowEnvironment,
) -> None:
    script = Script(validate=[GO], apply=[DONE])
    history = await lived(short_histories, script)
    assert script.called == ["validate", "apply", "settle"]
    assert [event.event_type for event in history.events] == ONE_TASK
    assert sum(event.ByteSize() for event in history.events) <= LARGEST_HISTORY


async def test_what_a_decision_sets_going_is_one_task_too(short_histories: WorkflowEnvironment) -> None:
    script = Script(validate=[WAIT, GO], apply=[DONE])
    async with running(short_histories, script) as handle:
        await script.reached("validate")
        await handle.signal(contracts.NUDGE)
        await handle.result()
        history = await handle.fetch_history()
    assert script.called == ["validate", "validate", "apply", "settle"]
    assert (in_sight(history), tasks(history)) == ([], 2)
    assert states(history) == ["awaiting_approval", "succeeded"]


@pytest.mark.parametrize(
    ("script", "shown"),
    [
        pytest.param(
            {"validate": [broken(), GO], "apply": [DONE]},
            [contracts.VALIDATE, contracts.APPLY, contracts.SETTLE],
            id="the state could not be seen at first",
        ),
        pytest.param(
            {"validate": [GO], "apply": [UNCERTAIN], "reconcile": [DONE]},
            [contracts.RECONCILE, contracts.SETTLE],
            id="the outcome is uncertain",
        ),
        pytest.param(
            {"validate": [GO], "apply": [broken()], "reconcile": [DONE]},
            [contracts.RECONCILE, contracts.SETTLE],
            id="the send was cut short",
        ),
        pytest.param(
            {"validate": [GO], "apply": [Report(Step.SEND_AGAIN, "rate_limited", 0.1), DONE]},
            [contracts.VALIDATE, contracts.APPLY, contracts.SETTLE],
            id="the downstream asked for a pause",
        ),
        pytest.param(
            {"validate": [GO], "apply": [DONE], "settle": [broken(), Ending("succeeded")]},
            [contracts.SETTLE],
            id="the result could not be recorded at first",
        ),
        pytest.param(
            {"validate": [Judgement(Step.GO)], "apply": [DONE]},
            [contracts.APPLY],
            id="the contract keeps the effect out of the task",
        ),
    ],
)
async def test_from_the_first_trouble_on_every_step_is_in_sight(
    short_histories: WorkflowEnvironment, script: dict[str, Sequence[object]], shown: Sequence[str]
) -> None:
    history = await lived(short_histories, Script(**script))
    assert in_sight(history) == shown


async def test_a_send_that_was_cut_short_is_never_made_again_unseen(short_histories: WorkflowEnvironment) -> None:
    script = Script(validate=[GO], apply=[broken()], reconcile=[DONE])
    await lived(short_histories, script)
    assert script.called == ["validate", "apply", "reconcile", "settle"]


async def test_an_effect_whose_result_cannot_be_recorded_is_found_as_started(
    short_histories: WorkflowEnvironment,
) -> None:
    script = Script(validate=[GO], apply=[DONE], settle=[broken(), Ending("succeeded")])
    assert states(await lived(short_histories, script)) == ["started", "succeeded"]


async def test_what_was_refused_is_still_found_by_how_it_ended(short_histories: WorkflowEnvironment) -> None:
    history = await lived(short_histories, Script(validate=[Judgement(Step.SETTLE, "not_found")]))
    assert states(history) == ["failed_terminal"]


async def test_a_history_of_one_task_replays(short_histories: WorkflowEnvironment) -> None:
    history = await lived(short_histories, Script(validate=[GO], apply=[DONE]))
    await Replayer(workflows=[ExecuteOperation], workflow_runner=sandbox_of_tests()).replay_workflow(history)
