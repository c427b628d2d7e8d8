"""What the measurement of overload promises, and what it tells of."""

from dataclasses import replace
from pathlib import Path

from tests.bench import load, load_picture
from tests.bench.callers import Tenant
from tests.bench.load import Found
from tests.bench.measuring import Percentiles

QUIET = Tenant(20, 400, 10.0, Percentiles(0.5, 1.0, 1.5), 0.0, {})
GOOD = Found(
    seconds=60.0,
    quiet_alone=QUIET,
    quiet=replace(QUIET, times=Percentiles(1.0, 2.0, 3.0)),
    loud=replace(QUIET, callers=180, times=Percentiles(4.0, 8.0, 12.0), refused=0.4),
    recovered_after=3.0,
    accepted=900,
    effects=900,
    doubled=0,
    without_effect=0,
    one_worker_per_second=18.0,
    two_workers_per_second=21.0,
    memory=dict.fromkeys(load.PROCESSES, 150.0),
)


def broken(found: Found) -> list[int]:
    return [place for place, verdict in enumerate(load.judge(found)) if not verdict.held]


def test_overload_is_borne_when_nothing_is_lost_or_doubled_and_the_quiet_tenant_is_served() -> None:
    assert broken(GOOD) == []


def test_an_operation_without_its_effect_is_told() -> None:
    assert broken(replace(GOOD, without_effect=1)) == [0]


def test_a_doubled_effect_is_told() -> None:
    assert broken(replace(GOOD, doubled=1)) == [1]


def test_any_other_refusal_than_the_one_that_names_a_time_is_told() -> None:
    assert broken(replace(GOOD, loud=replace(GOOD.loud, unusual={"500": 1}))) == [2]


def test_a_quiet_tenant_that_waits_behind_the_loud_one_is_told() -> None:
    assert broken(replace(GOOD, quiet=replace(QUIET, times=Percentiles(4.0, 8.0, 12.0)))) == [3]


def test_a_machine_that_is_busy_long_after_the_last_caller_is_told() -> None:
    assert broken(replace(GOOD, recovered_after=11.0)) == [4]


def test_the_same_figures_give_the_same_picture(tmp_path: Path) -> None:
    pictures = [tmp_path / "first.svg", tmp_path / "second.svg"]
    for picture in pictures:
        load_picture.keep(picture, GOOD)
    first, second = (picture.read_bytes() for picture in pictures)
    assert b"turns a second with two workers" in first
    assert first == second
