"""The bench's arithmetic, on given numbers and on a clock that goes only when it is told to."""

import json
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path

import pytest

from tests.bench import __main__ as program
from tests.bench import gate
from tests.bench.measuring import (
    Contest,
    Contestant,
    Group,
    Percentiles,
    Plan,
    Timing,
    Timings,
    Verdict,
    exit_code,
    fast_enough,
    measure,
    not_dearer,
    percentiles,
    ratio,
    rest,
)
from tests.bench.report import rows, table


class Clock:
    """Nanoseconds that pass only while somebody works."""

    def __init__(self) -> None:
        self.now = 0
        self.worked: list[str] = []

    def __call__(self) -> int:
        return self.now

    def works(self, name: str, *nanoseconds: int) -> Contestant:
        """Takes these times one after the other, the last one for ever."""
        left = list(nanoseconds)

        def work() -> None:
            self.worked.append(name)
            self.now += left.pop(0) if len(left) > 1 else left[0]

        return Contestant(name, f"{name} works", work)


def timing(*p50: float) -> Timing:
    """One repeat for each p50; p95 is twice and p99 three times as long."""
    return Timing([Percentiles(each, 2 * each, 3 * each) for each in p50])


def nobody_judges(_: Timings) -> Sequence[Verdict]:
    return []


def group_of(*contestants: Contestant, parts: bool = False) -> Group:
    return Group("A group", contestants, baseline="plain", whole="gate", parts=parts)


PART, OTHER = (Contestant(name, f"{name}, in a sentence", lambda: None) for name in ("part", "other"))
TIMINGS = {"plain": timing(5_000.0), "gate": timing(200_000.0), "part": timing(50_000.0), "other": timing(100_000.0)}


# ── percentiles, medians, ratios ──


def test_a_percentile_is_a_time_that_was_measured() -> None:
    assert percentiles(range(100, 0, -1)) == (50, 95, 99)
    assert percentiles(range(1, 1001)) == (500, 950, 990)
    assert percentiles([1, 2, 3]) == (2, 3, 3)
    assert percentiles([7]) == (7, 7, 7)


def test_what_is_told_is_the_median_of_the_repeats() -> None:
    assert timing(30.0, 10.0, 500.0).told == (30.0, 60.0, 90.0)
    assert timing(10.0, 20.0).p50 == 15.0


def test_the_spread_is_how_far_the_repeats_are_apart() -> None:
    assert timing(90.0, 100.0, 120.0).spread == pytest.approx(0.3)
    assert timing(100.0).spread == 0.0


def test_a_ratio_is_taken_within_a_repeat() -> None:
    # Everything took ten times as long in the second repeat, and the ratio does not know it.
    assert ratio(timing(20.0, 200.0, 22.0), timing(10.0, 100.0, 10.0)) == pytest.approx(2.0)


def test_the_rest_is_what_the_parts_leave_of_the_whole() -> None:
    assert rest(group_of(PART, OTHER, parts=True), TIMINGS) == 50_000.0


# ── how it is measured ──


def test_contestants_take_turns_and_the_parts_of_a_whole_one_turn_together() -> None:
    clock = Clock()
    alone = group_of(clock.works("a", 1), clock.works("b", 1))
    parts = group_of(clock.works("x", 1), clock.works("y", 1), parts=True)
    measure(Contest("some", [alone, parts], nobody_judges, Plan(warm_up=0, repeats=1, rounds=2, batch=2)), clock)
    assert "".join(clock.worked) == 2 * "aabbxyxy"


def test_warming_up_is_not_timed() -> None:
    clock = Clock()
    slow_at_first = group_of(clock.works("a", 900, 900, 10))
    contest = Contest("some", [slow_at_first], nobody_judges, Plan(warm_up=2, repeats=3, rounds=2, batch=5))
    assert measure(contest, clock) == {"a": Timing([Percentiles(10, 10, 10)] * 3)}
    assert len(clock.worked) == 2 + 3 * 2 * 5


def test_each_repeat_has_percentiles_of_its_own() -> None:
    clock = Clock()
    contest = Contest("some", [group_of(clock.works("a", 1, 2, 3, 7))], nobody_judges, Plan(0, 2, 1, 3))
    assert measure(contest, clock) == {"a": Timing([Percentiles(2, 3, 3), Percentiles(7, 7, 7)])}


def test_two_contestants_under_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="name of its own"):
        measure(Contest("some", [group_of(PART, PART)], nobody_judges))


def test_the_plan_tells_how_much_is_warmed_up() -> None:
    words = Plan(warm_up=500, repeats=7, rounds=20, batch=50).words(3)
    assert words == (
        "3 contestants, 500 calls of each to warm up (not timed), "
        "then 7 repeats of 1000 calls of each, in turns of 50"
    )  # fmt: skip


# ── what is told ──


def test_a_row_has_microseconds_and_shares() -> None:
    (row,) = rows(group_of(PART), TIMINGS)
    assert (row.p50_us, row.p95_us, row.p99_us) == (50.0, 100.0, 150.0)
    assert (row.ratio, row.share, row.spread) == (10.0, 0.25, 0.0)


def test_a_table_of_parts_tells_what_is_left() -> None:
    lines = table(group_of(PART, OTHER, parts=True), TIMINGS).splitlines()
    assert lines[-1].split() == ["everything", "else", "50.0", "25%"]
    assert "everything else" not in table(group_of(PART, OTHER), TIMINGS)


# ── promises ──


@pytest.mark.parametrize(
    ("p50", "words"),
    [
        (210_000.0, "gate: p50 0.210 ms for a refund, target 0.30 ms: held"),
        (299_000.0, "gate: p50 0.299 ms for a refund, target 0.30 ms: held"),
        (300_000.0, "gate: p50 0.300 ms for a refund, target 0.30 ms: MISSED"),
        (457_100.0, "gate: p50 0.457 ms for a refund, target 0.30 ms: MISSED"),
    ],
)
def test_the_verdict_says_figure_and_target(p50: float, words: str) -> None:
    verdict = fast_enough("gate", "a refund", timing(p50), 0.3)
    assert str(verdict) == words
    assert verdict.held is words.endswith("held")


@pytest.mark.parametrize(("found", "outcome"), [(0.98, "held"), (1.1, "held"), (1.2, "MISSED")])
def test_a_ratio_may_reach_its_limit(found: float, outcome: str) -> None:
    verdict = not_dearer("gate", "dearest refusal", found, 1.1)
    assert str(verdict) == f"gate: dearest refusal {found:.2f}, at most 1.10: {outcome}"


HELD, MISSED = Verdict("this", True), Verdict("that", False)


@pytest.mark.parametrize(
    ("verdicts", "code"), [([HELD], 0), ([HELD, HELD], 0), ([MISSED, HELD], 1), ([HELD, MISSED], 1), ([], 1)]
)
def test_one_missed_promise_and_none_at_all_are_failures(verdicts: Sequence[Verdict], code: int) -> None:
    assert exit_code(verdicts) == code


# ── the gate ──


def test_the_gate_answers_each_contestant_as_its_name_says() -> None:
    for contestant in [contestant for turn in gate.contest().turns for contestant in turn]:
        answer = contestant.call()
        what, _, rest_of_name = contestant.name.partition(" · ")
        if what in ("door", "worker", "gate"):
            assert answer is None, contestant.name
        if what == "refused":
            assert answer == rest_of_name


# ── the program ──


def given(p50: float) -> Callable[[Contest], Timings]:
    return lambda contest: TIMINGS | {"gate": timing(p50)}


def some_contest() -> Contest:
    group = group_of(PART, OTHER, parts=True)
    return Contest("some", [group], lambda found: [fast_enough("some", "a call", found["gate"], 0.3)])


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """One contest to run, and where its figures go."""
    monkeypatch.setattr(program, "CONTESTS", {"some": lambda: nullcontext(some_contest())})
    monkeypatch.setattr(program, "DEFAULT", ("some",))
    return tmp_path / "figures"


@pytest.mark.parametrize(("p50", "code", "outcome"), [(200_000.0, 0, "held"), (400_000.0, 1, "MISSED")])
def test_a_missed_target_is_the_last_line_and_the_exit_code(
    p50: float,
    code: int,
    outcome: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(program, "measure", given(p50))
    assert program.main(["--into", str(folder)]) == code
    words = f"some: p50 {p50 / 1e6:.3f} ms for a call, target 0.30 ms: {outcome}"
    assert capsys.readouterr().out.splitlines()[-1] == words


def test_figures_are_kept_without_saying_whose_machine_it_is(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "measure", given(200_000.0))
    program.main(["some", "--into", str(folder)])
    kept = json.loads((folder / "some.json").read_text(encoding="utf-8"))
    assert kept["machine"].keys() == {"python", "system", "cpu", "cores", "date", "load_at_start", "load_at_end"}
    assert kept["plan"] == {"warm_up": 500, "repeats": 7, "rounds": 20, "batch": 50}
    assert [each["p50_us"] for each in kept["groups"][0]["contestants"]] == [50.0, 100.0]
    assert "everything else" in (folder / "some.svg").read_text(encoding="utf-8")


def test_a_contest_that_there_is_not_is_refused(folder: Path) -> None:
    with pytest.raises(SystemExit):
        program.main(["invented", "--into", str(folder)])
    assert not folder.exists()
