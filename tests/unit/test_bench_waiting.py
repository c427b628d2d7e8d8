"""What the measurement of waiting promises, and what it tells of."""

from dataclasses import replace
from pathlib import Path

from tests.bench import waiting, waiting_picture
from tests.bench.waiting import Cost, Found

FREE = Found(
    operations=500,
    proposing_seconds=10.0,
    costs=dict.fromkeys(waiting.PROCESSES, Cost(150.0, 160.0, 0.01, 0.02)),
    history_bytes=2_200,
    history_events=12,
    events_while_waiting=0,
    decided_first=200,
    deciding_first_seconds=5.0,
    decided_next=300,
    deciding_next_seconds=7.0,
)


def test_waiting_is_free_when_no_history_grows_and_the_worker_rests() -> None:
    assert all(verdict.held for verdict in waiting.judge(FREE))


def test_a_history_that_grows_while_its_operation_waits_is_told() -> None:
    assert [verdict.held for verdict in waiting.judge(replace(FREE, events_while_waiting=3))] == [False, True]


def test_a_worker_that_polls_while_all_wait_is_told() -> None:
    busy = FREE.costs | {"worker": Cost(150.0, 160.0, 0.01, 0.5)}
    assert [verdict.held for verdict in waiting.judge(replace(FREE, costs=busy))] == [True, False]


def test_the_same_figures_give_the_same_picture(tmp_path: Path) -> None:
    pictures = [tmp_path / "first.svg", tmp_path / "second.svg"]
    for picture in pictures:
        waiting_picture.keep(picture, FREE)
    first, second = (picture.read_bytes() for picture in pictures)
    assert b"500 operations that wait for people" in first
    assert first == second
