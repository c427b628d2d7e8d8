"""The life of an operation: which steps there are, and above all which there are not."""

import pytest

from workflows.domain.errors import IllegalTransition
from workflows.domain.lifecycle import ENDS, MAY_HAVE_EFFECT, NEXT, State, advance

LEGAL = """
proposed          awaiting_approval started failed_terminal failed_retryable
awaiting_approval started failed_terminal failed_retryable
started           unconfirmed succeeded failed_terminal failed_retryable
unconfirmed       started manual_review succeeded failed_terminal failed_retryable
manual_review     started succeeded failed_terminal failed_retryable
succeeded
failed_terminal
failed_retryable  proposed
"""
STEPS = {line.split()[0]: set(line.split()[1:]) for line in LEGAL.strip().splitlines()}


@pytest.mark.parametrize("current", State)
@pytest.mark.parametrize("following", State)
def test_a_step_is_legal_exactly_if_the_table_has_it(current: State, following: State) -> None:
    if following.value in STEPS[current.value]:
        assert advance(current, following) is following
    else:
        with pytest.raises(IllegalTransition, match=f"cannot go from {current} to {following}"):
            advance(current, following)


def test_every_state_has_its_row() -> None:
    assert NEXT.keys() == set(State)


def test_nothing_succeeds_that_was_not_started() -> None:
    before = {state for state in State if State.SUCCEEDED in NEXT[state]}
    assert before == MAY_HAVE_EFFECT


def test_what_may_have_an_effect_is_never_proposed_or_asked_about_again() -> None:
    for state in MAY_HAVE_EFFECT:
        assert not NEXT[state] & {State.PROPOSED, State.AWAITING_APPROVAL}


def test_an_end_is_left_only_where_no_effect_is_proven() -> None:
    assert {state for state in ENDS if NEXT[state]} == {State.FAILED_RETRYABLE}


def test_every_state_can_be_reached_and_every_open_one_can_end() -> None:
    assert {State.PROPOSED, *(state for steps in NEXT.values() for state in steps)} == set(State)
    assert all(NEXT[state] & ENDS for state in set(State) - ENDS)
