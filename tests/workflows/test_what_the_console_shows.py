"""What whoever is on call sees of a workflow: words about each wait, and attributes that it is found by."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from temporalio.client import WorkflowHandle, WorkflowHistory
from temporalio.converter import default
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Replayer

from adapters.http.back_office import words
from tests.support.sandbox import sandbox_of_tests
from tests.support.waiting import until
from tests.workflows import turns
from tests.workflows.running import running
from tests.workflows.script import DONE, GO, UNCERTAIN, WAIT, Script
from workflows import attributes, sentences
from workflows.execute_operation import ExecuteOperation
from workflows.messages import Judgement, Report, Step

LONG = 9e6
"""Seconds; the test looks and ends it before."""

BEHIND = Judgement(Step.WAIT, "earlier_call_open", LONG, "an earlier call of the same turn")
SOON = replace(WAIT, wait_seconds=0.1)
LOOK = Report(Step.RECONCILE, "reconciliation_pending", LONG)
REVIEW = Report(Step.RECONCILE, "lookup_failed", LONG, needs_person=True)
REST = Report(Step.SEND_AGAIN, "rate_limited", LONG)
PART = Report(Step.SEND_AGAIN, "batch_goes_on", LONG, progress="40 of 100 items sent")

WAITS: dict[str, tuple[dict[str, Sequence[object]], tuple[str, str], list[str]]] = {
    "a person": (
        {"validate": [WAIT]},
        ("awaiting_approval", "approval"),
        ["a person with role approver:refunds", "since 20", "Nothing has been sent", "Deadline: 20", "approval_expired",
         "Remind them: from 20", "in the back office", "Not to do"],
    ),
    "an earlier call": (
        {"validate": [BEHIND]},
        ("proposed", "earlier_call"),
        ["an earlier call of the same turn", "since 20", "Nothing has been sent", "Next look: 20", "`turn_…`"],
    ),
    "a look": (
        {"validate": [GO], "apply": [UNCERTAIN], "reconcile": [LOOK]},
        ("unconfirmed", "reconciliation"),
        ["outcome is not known", "since 20", "Next look: 20", "call them", "by hand"],
    ),
    "an operator": (
        {"validate": [GO], "apply": [UNCERTAIN], "reconcile": [REVIEW]},
        ("manual_review", "operator"),
        ["an operator", "since 20", "`lookup_failed`", "could not be asked", "Next look: 20", "this operation's page",
         "evidence", "by hand"],
    ),
    "a pause that was asked for": (
        {"validate": [GO], "apply": [REST]},
        ("started", "downstream"),
        ["Leaving the downstream alone", "since 20", "`rate_limited`", "Next try: 20", "reset this workflow"],
    ),
    "the next part of a batch": (
        {"validate": [GO], "apply": [PART]},
        ("started", "downstream"),
        ["40 of 100 items sent", "Next try: 20"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("wait", WAITS)
async def test_what_is_waited_for_is_said_in_words_and_can_be_searched_for(
    short_histories: WorkflowEnvironment, wait: str
) -> None:
    answers, (state, waiting_for), said = WAITS[wait]
    async with running(short_histories, Script(**answers)) as handle:
        await until(lambda: found_by(handle), lambda marks: marks.get("OncewardWaitingFor") == waiting_for)
        marks, shown = await found_by(handle), await words_of(handle)
        await handle.terminate()
    assert [each for each in said if each not in shown] == [], shown
    assert marks["OncewardState"] == state
    assert f"since {marks['OncewardWaitingSince']:%Y-%m-%d %H:%M:%S}" in shown


async def words_of(handle: WorkflowHandle[Any, Any]) -> str:
    """As the console asks for them."""
    (payload,) = (await handle.query("__temporal_workflow_metadata", result_type=None),)
    shown = payload["currentDetails"] if isinstance(payload, dict) else payload.current_details
    return str(shown)


async def found_by(handle: WorkflowHandle[Any, Any]) -> dict[str, Any]:
    """The attributes, as the last of them was set."""
    marks: dict[str, Any] = {}
    for event in (await handle.fetch_history()).events:
        upserted = event.upsert_workflow_search_attributes_event_attributes.search_attributes.indexed_fields
        for name, payload in upserted.items():
            marks[name] = json.loads(payload.data) if payload.data else None
    since = marks.get("OncewardWaitingSince")
    return marks | {"OncewardWaitingSince": datetime.fromisoformat(since) if since else None}


def test_a_question_whose_deadline_is_near_says_so() -> None:
    begun = datetime(2026, 11, 30, 9, tzinfo=UTC)
    until_then = begun + timedelta(hours=8)
    early = sentences.approval("a person", begun, begun + timedelta(hours=5), until_then)
    late = sentences.approval("a person", begun, begun + timedelta(hours=7), until_then)
    assert "Remind them: from 2026-11-30 15:00:00 UTC on" in early
    assert "near" not in early
    assert "Remind them: **now, the deadline is near**" in late


async def test_while_the_effect_is_made_in_sight_an_approved_operation_is_found_as_started(
    short_histories: WorkflowEnvironment,
) -> None:
    async with running(short_histories, Script(validate=[SOON, GO], apply=[DONE]), fast_path=False) as handle:
        await handle.result()
        history = await handle.fetch_history()
    assert states(history) == ["awaiting_approval", "started", "succeeded"]
    assert (await found_by(handle))["OncewardWaitingSince"] is None


def states(history: WorkflowHistory) -> list[str]:
    """Each that was set, in their order."""
    upserts = (each.upsert_workflow_search_attributes_event_attributes for each in history.events)
    fields = (each.search_attributes.indexed_fields for each in upserts)
    return [json.loads(each["OncewardState"].data) for each in fields if "OncewardState" in each]


async def test_a_wait_keeps_its_beginning_from_look_to_look_and_from_history_to_history(
    short_histories: WorkflowEnvironment,
) -> None:
    still = Report(Step.RECONCILE, "reconciliation_pending", pause_seconds=0.01)
    script = Script(validate=[GO], apply=[UNCERTAIN], reconcile=[*[still] * 30, LOOK])
    async with running(short_histories, script) as handle:
        await until(lambda: looks(script), lambda number: number > 30)
        runs = [run async for run in short_histories.client.list_workflows(f"WorkflowId = '{handle.id}'")]
        ran = [short_histories.client.get_workflow_handle(handle.id, run_id=run.run_id) for run in runs]
        begun = [(await found_by(run))["OncewardWaitingSince"] for run in ran]
        await until(lambda: words_of(handle), lambda shown: "Next look" in shown)
        shown = await words_of(handle)
        await handle.terminate()
    assert len(runs) > 1
    assert len(set(begun)) == 1
    assert f"since {begun[0]:%Y-%m-%d %H:%M:%S}" in shown


async def looks(script: Script) -> int:
    return script.called.count("reconcile")


LIVES: dict[str, dict[str, Sequence[object]]] = {
    "approved": {"validate": [SOON, GO], "apply": [DONE]},
    "resting": {"validate": [GO], "apply": [Report(Step.SEND_AGAIN, "rate_limited", 0.1), DONE]},
    "uncertain": {"validate": [GO], "apply": [UNCERTAIN], "reconcile": [Report(Step.RECONCILE, None, 0.1), DONE]},
}


@pytest.mark.parametrize("life", LIVES)
async def test_a_history_of_today_replays_today(short_histories: WorkflowEnvironment, life: str) -> None:
    async with running(short_histories, Script(**LIVES[life])) as handle:
        await handle.result()
        history = await handle.fetch_history()
    assert any(event.HasField("marker_recorded_event_attributes") for event in history.events)
    await Replayer(workflows=[ExecuteOperation], workflow_runner=sandbox_of_tests()).replay_workflow(history)


async def test_a_turn_says_which_write_it_waits_for_and_what_comes_after(short_histories: WorkflowEnvironment) -> None:
    first, second = turns.refs("a", "b")
    script = turns.Script(parked=["a"])
    async with turns.running(short_histories, script, turns.turn(writes=[first, second])) as handle:
        await script.reached.wait()
        shown = await words_of(handle)
        await handle.terminate()
    assert "Waiting for write 1 of 2, `pay`, since 20" in shown
    assert f"`{first.operation_id}`" in shown
    assert "Then: `pay`, each once the one before it has succeeded" in shown


def test_a_turn_says_that_it_waits_for_its_reads() -> None:
    shown = sentences.following(2, datetime(2026, 11, 30, tzinfo=UTC))
    assert shown.startswith("Waiting for 2 reads of the same turn since 2026-11-30 00:00:00 UTC; then come the writes.")


async def test_steps_timers_and_children_bear_the_tool_and_the_tenant_and_nothing_else(
    short_histories: WorkflowEnvironment,
) -> None:
    (ref,) = turns.refs("a")
    async with turns.running(short_histories, turns.Script(), turns.turn(writes=[ref])) as handle:
        await handle.result()
    write = short_histories.client.get_workflow_handle_for(ExecuteOperation.run, ref.operation_id)
    summaries = await summaries_in(await write.fetch_history())
    assert summaries == {"pay for tenant-a"}


async def summaries_in(history: WorkflowHistory) -> set[str]:
    noted = [event.user_metadata.summary for event in history.events if event.HasField("user_metadata")]
    return {str(line) for line in await default().decode(noted)}


def test_a_summary_is_never_longer_than_what_temporal_takes() -> None:
    assert attributes.summary("refund_payment", "tenant-a") == "refund_payment for tenant-a"
    long = attributes.summary("refund_payment", "가" * 255)
    assert long.startswith("refund_payment for 가가")
    assert len(json.dumps(long)) <= attributes.LONGEST_SUMMARY


def test_the_console_and_the_back_office_know_the_same_reasons_for_asking_an_operator() -> None:
    assert sentences.REASONS.keys() == words.REASONS.keys()


def test_a_turn_names_its_writes_by_tool_and_id_alone() -> None:
    shown = sentences.writing(1, ["pay", "refund"], "op_1", datetime(2026, 11, 30, tzinfo=UTC))
    assert re.findall(r"`([^`]+)`", shown) == ["pay", "op_1", "refund"]
