"""What the contest about durability works out of its times and histories, and what it promises."""

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import (
    ActivityTaskStartedEventAttributes,
    HistoryEvent,
    MarkerRecordedEventAttributes,
)

from tests.bench import __main__ as program
from tests.bench.durable import contest, contestants, judging, picture, telling
from tests.bench.durable.costs import CALLERS, Meter, Reading, callers, milliseconds_each
from tests.bench.durable.figures import Found, Measured, Slot, more, slower
from tests.bench.durable.histories import LOCAL_ACTIVITY, Trail, actions
from tests.bench.durable.loops import closed_loop
from tests.bench.durable.plan import SHORT, Plan
from worker.dev.errors import StackError


def slot(*seconds: float, elapsed: float = 1.0) -> Slot:
    """So many calls of these lengths, in so long."""
    return Slot(seconds, elapsed, {"worker": 10.0, "temporal": 5.0}, {"worker": 90.0, "temporal": 180.0})


def measured(name: str, ms: float, per_second: int, trail: Trail | None = None) -> Measured:
    """Two repeats, of which the second was on a machine half as fast."""
    alone = [slot(ms / 1000), slot(ms / 500)]
    together = [slot(*[0.1] * per_second), slot(*[0.2] * per_second, elapsed=2.0)]
    return Measured(name, f"{name}, in a sentence", alone, together, trail)


LEAN = Trail(events=8, bytes=4_000, actions=2)
NAMES = {
    contestants.EMPTY: (20.0, 100),
    contestants.NOTHING: (20.0, 100),
    contestants.OPERATION: (33.0, 90),
    contestants.DOOR: (60.0, 40),
    contestants.APPROVED: (42.0, 50),
    contestants.READ: (28.0, 80),
    contestants.READS: (40.0, 40),
    contestants.NAIVE: (80.0, 25),
    contestants.STEPS: (10.0, 200),
    contestants.DBOS: (25.0, 100),
    contestants.RESTATE: (20.0, 150),
    contestants.FLOOR: (1.0, 900),
}


def all_held() -> Found:
    """Everyone as fast as was promised."""
    everyone = {name: measured(name, *figures) for name, figures in NAMES.items()}
    return everyone | {contestants.OPERATION: replace(everyone[contestants.OPERATION], trail=LEAN)}


def verdicts(found: Found) -> Mapping[str, bool]:
    return {str(verdict): verdict.held for verdict in judging.judge(found)}


def missed(found: Found) -> list[str]:
    return [words for words, held in verdicts(found).items() if not held]


# ── a closed loop ──


async def test_so_many_callers_call_at_once_and_no_call_comes_twice() -> None:
    under_way, most, calls = 0, 0, 0

    async def call() -> None:
        nonlocal under_way, most, calls
        under_way, calls = under_way + 1, calls + 1
        most = max(most, under_way)
        await asyncio.sleep(0)
        under_way -= 1

    assert len(await closed_loop(call, callers=4, calls=10)) == 10
    assert (calls, most) == (10, 4)


async def test_a_call_that_fails_ends_the_loop() -> None:
    async def call() -> None:
        raise RuntimeError("refused")

    with pytest.raises(RuntimeError, match="refused"):
        await closed_loop(call, callers=2, calls=10)


# ── ratios ──


def test_ratios_are_taken_within_a_repeat() -> None:
    # The second repeat took twice as long for all, and neither ratio knows it.
    one, other = measured("one", 30.0, 50), measured("other", 20.0, 100)
    assert slower(one, other) == pytest.approx(1.5)
    assert more(one, other) == pytest.approx(0.5)


def test_what_one_waits_for_somebody_else_is_taken_off_it_alone() -> None:
    one = Measured("one", "", [slot(0.025)], [slot(0.1)])
    other = Measured("other", "", [slot(0.020)], [slot(0.1)])
    assert slower(one, other, without_ms=5.0) == pytest.approx(1.0)


def test_p50_is_the_repeats_median_and_the_tail_is_that_of_all_calls() -> None:
    repeats = [slot(0.01, 0.01, 0.5), slot(0.03, 0.03, 0.03), slot(0.02, 0.02, 0.02)]
    told = Measured("one", "", repeats, repeats).told
    assert told == pytest.approx((20.0, 500.0, 500.0))


def test_throughput_is_calls_by_the_time_that_all_of_them_took() -> None:
    assert slot(0.5, 0.5, 0.5, elapsed=0.75).per_second == 4.0


def test_work_is_told_for_each_call_by_kind_of_process() -> None:
    before, after = (Reading({"worker": cpu, "relay": 1.0}, {}) for cpu in (2.0, 3.0))
    assert milliseconds_each(before, after, calls=50) == {"worker": 20.0, "relay": 0.0}


def test_the_callers_own_process_is_measured_too() -> None:
    before = callers()
    sum(range(1_000_000))
    assert callers().cpu[CALLERS] > before.cpu[CALLERS]
    assert before.memory_mb[CALLERS] > 1


def test_a_process_is_measured_with_all_that_it_has_started_and_that_has_ended() -> None:
    started = (
        "import subprocess, sys; subprocess.run([sys.executable, '-c', 'sum(range(3_000_000))']); print(); input()"
    )
    with Popen([sys.executable, "-c", started], stdin=PIPE, stdout=PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        found = Meter({"some": process.pid}).read()
        process.communicate(b"\n")
    assert found.cpu["some"] > 0
    assert found.memory_mb["some"] > 1


# ── billable actions ──


def event(name: str, **attributes: Any) -> HistoryEvent:
    return HistoryEvent(event_type=EventType.Value(f"EVENT_TYPE_{name}"), **attributes)


def marker(name: str, task: int) -> HistoryEvent:
    recorded = MarkerRecordedEventAttributes(marker_name=name, workflow_task_completed_event_id=task)
    return event("MARKER_RECORDED", marker_recorded_event_attributes=recorded)


def attempt(number: int) -> HistoryEvent:
    started = ActivityTaskStartedEventAttributes(attempt=number)
    return event("ACTIVITY_TASK_STARTED", activity_task_started_event_attributes=started)


STARTED = event("WORKFLOW_EXECUTION_STARTED")


@pytest.mark.parametrize(
    ("events", "number"),
    [
        ([STARTED, event("WORKFLOW_TASK_COMPLETED"), event("WORKFLOW_EXECUTION_COMPLETED")], 1),
        ([STARTED, event("ACTIVITY_TASK_SCHEDULED"), attempt(1), event("ACTIVITY_TASK_COMPLETED")], 2),
        ([STARTED, attempt(3)], 4),
        ([STARTED, marker(LOCAL_ACTIVITY, 4), marker(LOCAL_ACTIVITY, 4), marker(LOCAL_ACTIVITY, 4)], 2),
        ([STARTED, marker(LOCAL_ACTIVITY, 4), marker(LOCAL_ACTIVITY, 9)], 3),
        ([STARTED, marker("core_patch", 4)], 1),
        ([STARTED, event("WORKFLOW_EXECUTION_SIGNALED"), event("TIMER_STARTED"), event("TIMER_CANCELED")], 3),
        ([STARTED, event("UPSERT_WORKFLOW_SEARCH_ATTRIBUTES"), event("WORKFLOW_EXECUTION_UPDATE_ACCEPTED")], 3),
        ([], 0),
    ],
)
def test_actions_follow_the_documented_rules(events: Sequence[HistoryEvent], number: int) -> None:
    assert actions(events) == number


# ── promises ──


def test_everything_is_held_by_a_lean_write() -> None:
    assert missed(all_held()) == []


def test_the_most_important_promise_is_the_last_one() -> None:
    words = (
        "durable: p50 of Onceward write 1.46 x empty workflow, at most 1.50 (1.65 with the provider's own 5 ms): held"
    )
    assert list(verdicts(all_held()))[-1] == words


@pytest.mark.parametrize(
    ("name", "ms", "per_second", "promise"),
    [
        (contestants.OPERATION, 50.0, 90, "p50 of Onceward write 2"),
        (contestants.OPERATION, 30.0, 80, "a second 0.80 x empty workflow"),
        (contestants.APPROVED, 80.0, 50, "p50 of Onceward write with approval"),
        (contestants.READ, 60.0, 80, "p50 of Onceward read"),
        (contestants.NAIVE, 80.0, 45, "a second 2.00 x five activities"),
    ],
)
def test_each_promise_can_be_missed(name: str, ms: float, per_second: int, promise: str) -> None:
    found = all_held()
    changed = replace(measured(name, ms, per_second), trail=found[name].trail)
    (words,) = missed({**found, name: changed})
    assert promise in words


@pytest.mark.parametrize(
    ("trail", "number"),
    [(LEAN, 0), (Trail(13, 4_000, 2), 1), (Trail(8, 6_001, 2), 1), (Trail(27, 7_000, 7), 3), (None, 1)],
)
def test_what_a_write_leaves_in_temporal_is_held_to_its_limits(trail: Trail | None, number: int) -> None:
    found = all_held()
    lean = replace(found[contestants.OPERATION], trail=trail)
    assert len(missed({**found, contestants.OPERATION: lean})) == number


def test_against_dbos_it_is_told_and_nothing_is_promised() -> None:
    assert judging.beside(all_held()) == (
        "durable: Onceward write takes 1.32 times as long as DBOS, five steps, "
        "and does 0.90 times as many a second (no target)"
    )


# ── what is told ──


def test_the_table_has_a_line_and_a_sentence_for_everyone() -> None:
    lines = telling.table(all_held()).splitlines()
    (write,) = (line for line in lines if line.startswith("  Onceward write  "))
    figures = ["49.5", "66.0", "66.0", "1.65", "67.5", "0.90", "15.0", "8", "4000", "2"]
    assert write.split() == ["Onceward", "write", *figures]
    assert sum(line.endswith(", in a sentence") for line in lines) == len(NAMES)


def test_it_is_told_whose_work_a_call_is() -> None:
    lines = [line.split() for line in telling.work(all_held()).splitlines() if line]
    assert lines[1] == ["worker", "temporal"]
    assert lines[2] == ["empty", "workflow", "10.0", "5.0"]
    assert lines[-1][0] == "MB"


def test_figures_are_kept_with_each_repeats_own() -> None:
    found = all_held()
    kept = json.loads(telling.as_json(found, Plan(), judging.judge(found), {"cores": 2}))
    write = next(each for each in kept["contestants"] if each["name"] == contestants.OPERATION)
    assert write["repeats"] == {"p50_ms": [33.0, 66.0], "per_second": [90.0, 45.0]}
    assert (write["latency_ratio"], write["throughput_ratio"], write["history"]["actions"]) == (1.65, 0.9, 2)
    assert kept["provider_ms"] == 5.0


def test_the_page_has_a_row_for_everyone_and_every_verdict() -> None:
    found = all_held()
    host = {"date": "2026-12-01", "python": "CPython 3.11", "cores": 2, "cpu": "a processor"}
    host |= {"load_at_start": 0.2, "load_at_end": 1.9}
    lines = telling.page(found, Plan(), judging.judge(found), host).splitlines()
    assert "| Onceward write | 49.5 | 66 | 66 | 1.65 | 68 | 0.90 | 15.0 | 8 | 4,000 | 2 |" in lines
    assert sum(line.startswith("| ") for line in lines) == len(NAMES) + 2
    assert sum(line.endswith(": held") for line in lines) == len(judging.judge(found))


def test_the_same_figures_give_the_same_picture(tmp_path: Path) -> None:
    pictures = [tmp_path / "first.svg", tmp_path / "second.svg"]
    for each in pictures:
        picture.keep(each, all_held())
    first, second = (each.read_bytes() for each in pictures)
    assert b"DBOS, five steps" in first
    assert b"target" in first
    assert first == second


def test_the_short_form_is_less_of_the_same() -> None:
    assert SHORT.seed == Plan().seed
    assert SHORT.repeats < Plan().repeats
    assert "seed 20261201" in SHORT.words(12)


def test_what_cannot_start_is_said_and_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def dies(_: Plan) -> Found:
        raise StackError("DBOS ended with exit code 1 before it was ready")

    monkeypatch.setattr(contest, "run", dies)
    assert program.main(["durable", "--short", "--into", str(tmp_path)]) == 1
    assert "DBOS ended with exit code 1 before it was ready" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []
