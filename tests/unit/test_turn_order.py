"""When a call of a turn may begin, by what comes before it."""

import pytest

from workflows.domain.lifecycle import ENDS, State
from workflows.domain.turn_order import READ_SECONDS, Forerunner, Place, place_behind

OPEN = [state for state in State if state not in ENDS]
FAILED = [state for state in State if state in ENDS and state is not State.SUCCEEDED]

DONE = Forerunner(State.SUCCEEDED, writes=True)


def test_nothing_before_it_holds_nobody_up() -> None:
    assert place_behind([]) is Place.FREE


def test_a_write_goes_after_writes_that_succeeded() -> None:
    assert place_behind([DONE, DONE]) is Place.FREE


@pytest.mark.parametrize("state", OPEN)
def test_a_write_waits_for_an_open_one_however_long_that_takes(state: State) -> None:
    assert place_behind([DONE, Forerunner(state, writes=True, age_seconds=10 * READ_SECONDS)]) is Place.BEHIND


@pytest.mark.parametrize("state", FAILED)
def test_a_write_after_one_that_did_not_succeed_is_cut_off(state: State) -> None:
    assert place_behind([DONE, Forerunner(state, writes=True)]) is Place.CUT_OFF


@pytest.mark.parametrize("state", FAILED)
def test_what_is_cut_off_need_not_wait_to_be_told(state: State) -> None:
    waiting = Forerunner(State.AWAITING_APPROVAL, writes=True)
    assert place_behind([waiting, Forerunner(state, writes=True)]) is Place.CUT_OFF


@pytest.mark.parametrize("state", sorted(ENDS))
def test_a_read_must_have_ended_and_may_have_failed(state: State) -> None:
    assert place_behind([Forerunner(state, writes=False)]) is Place.FREE


@pytest.mark.parametrize("state", OPEN)
def test_an_open_read_holds_up_a_write_until_nobody_can_be_carrying_it_any_more(state: State) -> None:
    assert place_behind([Forerunner(state, writes=False, age_seconds=READ_SECONDS - 1)]) is Place.BEHIND
    assert place_behind([Forerunner(state, writes=False, age_seconds=READ_SECONDS)]) is Place.FREE
