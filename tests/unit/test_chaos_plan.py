"""The plan of a chaos run comes from its seed and from nothing else."""

import pytest

from tests.chaos.acts import DELIVERIES
from tests.chaos.plan import REFUND_FAULTS, UNASKED_UP_TO, plan_of
from tests.chaos.steps import EVERY


@pytest.mark.parametrize("operations", [24, 300])
def test_the_same_seed_makes_the_same_plan(operations: int) -> None:
    assert plan_of(7, operations) == plan_of(7, operations)


def test_another_seed_makes_another_plan() -> None:
    one, other = plan_of(7, 100), plan_of(8, 100)
    assert one.steps != other.steps
    assert [turn.delivery for turn in one.turns] != [turn.delivery for turn in other.turns]


@pytest.mark.parametrize("operations", [24, 100, 1000])
@pytest.mark.parametrize("seed", range(5))
def test_every_kind_of_fault_occurs(seed: int, operations: int) -> None:
    plan = plan_of(seed, operations)
    assert {step.kind for step in plan.steps} == set(EVERY)
    approved = {act.fault for act in plan.acts if act.tool == "refund_payment" and act.word == "approve"}
    assert approved >= set(REFUND_FAULTS)
    assert {turn.delivery for turn in plan.turns} == set(DELIVERIES)


@pytest.mark.parametrize("operations", [24, 300])
def test_there_are_as_many_acts_as_were_asked_for_and_each_is_its_own(operations: int) -> None:
    acts = plan_of(7, operations).acts
    assert len(acts) == operations
    assert len({act.call_id for act in acts}) == operations
    assert len({(act.target, act.amount) for act in acts}) == operations


def test_a_turn_has_one_write_at_most() -> None:
    assert all(sum(act.writes for act in turn.acts) <= 1 for turn in plan_of(7, 300).turns)


def test_steps_come_while_there_is_still_something_to_deliver() -> None:
    plan = plan_of(7, 300)
    assert all(1 <= step.at < 300 for step in plan.steps)
    assert [step.at for step in plan.steps] == sorted(step.at for step in plan.steps)


def test_people_are_asked_about_every_refund_and_about_no_small_credit() -> None:
    for act in plan_of(7, 300).acts:
        if act.tool == "refund_payment" and act.allowed:
            assert act.amount > UNASKED_UP_TO
            assert act.word != "nobody"
        if act.tool == "credit_account":
            assert (act.word == "nobody") == (act.amount <= UNASKED_UP_TO)


def test_a_run_that_is_too_short_for_every_fault_is_refused() -> None:
    with pytest.raises(ValueError, match="at least"):
        plan_of(7, 5)
