"""Names that stand in histories never change: not by renaming a function, not by moving a class."""

import dataclasses

from temporalio import activity, workflow

from activities.apply import Apply
from activities.follow import Follow
from activities.read import Read
from activities.reconcile import Reconcile
from activities.settle import Settle
from activities.validate import Validate
from workflows import contracts, messages
from workflows.execute_operation import ExecuteOperation
from workflows.execute_turn import ExecuteTurn


def test_workflow_signal_and_activity_names_are_those_of_the_first_release() -> None:
    steps = (Validate.validate, Apply.apply, Reconcile.reconcile, Settle.settle, Read.read, Follow.follow)
    assert [activity._Definition.must_from_callable(step).name for step in steps] == [
        "onceward.validate",
        "onceward.apply",
        "onceward.reconcile",
        "onceward.settle",
        "onceward.read",
        "onceward.follow",
    ]
    definition = workflow._Definition.must_from_class(ExecuteOperation)
    assert definition.name == "onceward.ExecuteOperation"
    assert list(definition.signals) == ["onceward.nudge"]
    assert workflow._Definition.must_from_class(ExecuteTurn).name == "onceward.ExecuteTurn"


def test_the_steps_that_a_workflow_can_be_told_are_those_of_the_first_release() -> None:
    assert [step.value for step in messages.Step] == [
        "go", "wait", "validate", "send_again", "reconcile", "settle",
    ]  # fmt: skip


def test_a_field_of_a_recorded_message_is_only_ever_added_with_a_default() -> None:
    first_release = {
        messages.OperationRef: ["operation_id", "intent_hash"],
        messages.Judgement: ["step"],
        messages.Report: ["step"],
        messages.SettleOrder: ["ref"],
        messages.Ending: ["state"],
        messages.TurnRef: [],
        messages.TurnEnding: [],
        messages.FollowOrder: ["operation_ids", "patience_seconds"],
        messages.Followed: [],
    }
    for message, required in first_release.items():
        fields = dataclasses.fields(message)
        missing = dataclasses.MISSING
        assert [each.name for each in fields if each.default is each.default_factory is missing] == required


def test_every_activity_states_its_timeout_and_its_attempts() -> None:
    for name, call in contracts.CALLS.items():
        assert call.start_to_close.total_seconds() > 0, name
        assert call.retry.maximum_attempts > 0, f"{name} would be retried for ever"


def test_the_write_is_attempted_once() -> None:
    assert contracts.CALLS[contracts.APPLY].retry.maximum_attempts == 1


def test_a_live_step_says_so_well_before_it_is_given_up() -> None:
    assert contracts.HEARTBEAT_TIMEOUT >= 3 * contracts.HEARTBEAT_EVERY
