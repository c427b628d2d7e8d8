"""The demonstration's own words: a broken promise must never look like a kept one."""

import io

from examples.demo.telling import Telling


def told(*checks: tuple[object, object]) -> tuple[bool, list[str]]:
    out = io.StringIO()
    telling = Telling(out)
    for measured, expected in checks:
        telling.check("something", measured, expected)
    return telling.verdict(), out.getvalue().splitlines()


def test_the_last_line_counts_what_held() -> None:
    held, lines = told((1, 1), ((0, 1), (0, 1)))
    assert held
    assert lines[-1].startswith("demo: 2 checks held")


def test_one_broken_check_breaks_the_verdict_and_says_what_was_promised() -> None:
    held, lines = told((1, 1), (2, 1))
    assert not held
    assert "BROKEN" in lines[1]
    assert lines[1].endswith("2, promised 1")
    assert lines[-1].startswith("demo: 1 of 2 checks BROKEN")


def test_no_check_at_all_is_no_success() -> None:
    held, _ = told()
    assert not held


def test_a_pipe_gets_no_colours() -> None:
    _, lines = told((1, 1), (2, 1))
    assert not any("\033" in line for line in lines)
