"""The tool search finds as well as its page says, and the measure itself can fail."""

import contextlib
import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.search import labelled, measuring, report
from tests.search.__main__ import main
from tests.search.labelled import Unwanted, Wanted
from tests.search.measuring import Answer, Figures, Refusal

PAGE = Path(__file__).parents[2] / "docs" / "search" / "figures.md"

CATALOG = {entry.name: entry for entry in labelled.catalog()}
WANTED = labelled.wanted()
UNWANTED = labelled.unwanted()


def answer(right: Sequence[str], found: Sequence[str], text: str = "a query", **more: bool) -> Answer:
    marks = {"held_out": False, "typo": False} | more
    return Answer(Wanted(text, tuple(right), "first", **marks), tuple(found))


def groups(recall: float, held_out: float) -> dict[str, Figures]:
    figures = Figures(queries=1, recall={5: recall}, mean_reciprocal_rank=1.0, offered=5.0)
    return {"all": figures, "held out": replace(figures, recall={5: held_out})}


# ── what is labelled ──


def test_there_is_enough_to_measure_by() -> None:
    assert len(CATALOG) >= 60
    assert len(WANTED) >= 150
    assert len(UNWANTED) >= 15
    assert len([each for each in WANTED if each.held_out]) >= len(WANTED) / 3
    assert sum(each.typo for each in WANTED) >= 10
    assert sum(len(each.right) > 1 for each in WANTED) >= 20


@pytest.mark.parametrize("held_out", [True, False])
def test_about_half_is_korean(held_out: bool) -> None:
    languages = [each.language for each in WANTED if each.held_out is held_out]
    assert 0.4 < languages.count("ko") / len(languages) < 0.6


def test_what_was_written_last_is_held_out() -> None:
    assert all(each.held_out for each in WANTED if each.batch == "last")


def test_every_label_names_a_tool_of_the_catalog() -> None:
    named = {name for each in WANTED for name in each.right} | {name for each in UNWANTED for name in each.forbidden}
    assert named == set(CATALOG), "a tool that nobody asks for, or one that there is not"
    assert all(each.right and len(set(each.right)) == len(each.right) <= 5 for each in WANTED)


def test_no_query_is_asked_twice() -> None:
    texts = [each.text for each in WANTED]
    assert len(texts) == len(set(texts))


def test_tools_are_described_as_the_page_asks_for_it() -> None:
    for entry in CATALOG.values():
        assert len(entry.tags) >= 10, entry.name
        assert any(tag.isascii() for tag in entry.tags), entry.name
        assert any(not tag.isascii() for tag in entry.tags), entry.name


# ── how it is measured ──


def test_recall_is_the_share_of_the_right_tools_among_the_first() -> None:
    both = answer(["a", "b"], ["a", "x", "y", "b", "z"])
    assert [both.recall(places) for places in (1, 3, 4, 5)] == [0.5, 0.5, 1.0, 1.0]
    assert answer(["a"], []).recall(5) == 0.0


def test_the_reciprocal_rank_is_that_of_the_first_right_tool() -> None:
    assert answer(["a", "b"], ["x", "b", "a"]).reciprocal_rank == 0.5
    assert answer(["a"], ["a"]).reciprocal_rank == 1.0
    assert answer(["a"], ["x"]).reciprocal_rank == 0.0


def test_a_query_fails_that_misses_one_of_its_tools_among_the_first_five() -> None:
    assert not answer(["a", "b"], ["a", "x", "y", "z", "b"]).failed
    assert answer(["a", "b"], ["a", "x", "y", "z", "v", "b"]).failed


def test_figures_are_means() -> None:
    figures = measuring.figures([answer(["a"], ["a", "b"]), answer(["a"], ["b", "a", *"cdefgh"])])
    assert figures == Figures(2, {1: 0.5, 3: 1.0, 5: 1.0}, 0.75, 3.5)


def test_each_group_has_its_own_queries() -> None:
    given = [
        answer(["a"], ["a"], "eins"),
        answer(["a"], [], "둘", held_out=True),
        answer(["a", "b"], ["a"], "three", held_out=True, typo=True),
    ]
    found = {name: each.queries for name, each in _without_the_last_batch(given).items()}
    assert found == {
        "all": 4,
        "tuned on": 1,
        "held out": 3,
        "held out, English": 2,
        "held out, Korean": 1,
        "held out, written last": 1,
        "with a slip": 1,
        "several tools are right": 1,
    }


def _without_the_last_batch(given: Sequence[Answer]) -> dict[str, Figures]:
    last = Answer(Wanted("last", ("a",), "last", held_out=True, typo=False), ("a",))
    return dict(measuring.by_group([*given, last]))


@pytest.mark.parametrize(
    ("recall", "held_out", "passed"), [(0.95, 0.95, True), (0.9499, 1.0, False), (1.0, 0.9499, False), (1.0, 1.0, True)]
)
def test_the_target_is_met_over_all_and_over_what_is_held_out(recall: float, held_out: float, passed: bool) -> None:
    verdict = report.verdict(groups(recall, held_out), [])
    assert verdict.passed is passed
    assert str(verdict).endswith("passed" if passed else "FAILED")


def test_a_forbidden_tool_that_is_found_fails_everything() -> None:
    refused = [Refusal(Unwanted("q", frozenset({"a"})), ("b", "a")), Refusal(Unwanted("q", frozenset({"a"})), ("b",))]
    verdict = report.verdict(groups(1.0, 1.0), refused)
    assert not verdict.passed
    assert str(verdict) == "recall@5 1.00 (target 0.95), held-out 1.00, forbidden tools found 1 times: FAILED"


def test_what_is_missed_is_told_by_name() -> None:
    given = [answer(["a", "b"], ["b", "c"], "the query", held_out=True), answer(["a"], ["a"], "another")]
    told = report.written({}, given, [])
    assert "1 queries miss a right tool among the first 5:" in told
    assert "* “the query” (held out) misses a; it finds b, c" in told
    assert "another" not in told


# ── what is found today ──


@dataclass(frozen=True)
class Ran:
    """What one run of the command left."""

    code: int
    lines: list[str]
    folder: Path


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    folder, told = tmp_path_factory.mktemp("search") / "new", io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(told):
        patch.setattr("tests.search.timing.REPEATS", 1)
        patch.setattr("tests.search.timing.LARGE", len(CATALOG) + 1)
        code = main(["--into", str(folder), "--time"])
    return Ran(code, told.getvalue().splitlines(), folder)


def test_the_page_says_what_is_found_today(ran: Ran) -> None:
    today = (ran.folder / "figures.md").read_text(encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == today, 'run: make eval-search ARGS="--into docs/search"'


def test_the_picture_is_drawn_with_the_target_in_it(ran: Ran) -> None:
    assert "target 0.95" in (ran.folder / "recall.svg").read_text(encoding="utf-8")


def test_times_are_told_when_asked_for(ran: Ran) -> None:
    assert [line.partition(",")[0] for line in ran.lines if "ms: read once" in line] == [
        f"{len(CATALOG)} tools",
        f"{len(CATALOG) + 1} tools",
    ]


def test_the_last_line_is_the_verdict_and_today_it_holds(ran: Ran) -> None:
    assert ran.code == 0
    assert ran.lines[-1].startswith("recall@5 0.")
    assert ran.lines[-1].endswith(": passed")


def test_the_command_fails_below_the_target(monkeypatch: pytest.MonkeyPatch) -> None:
    missed = report.verdict(groups(0.9, 1.0), [])
    monkeypatch.setattr("tests.search.__main__.measured", lambda: ("", {}, missed))
    assert main([]) == 1
