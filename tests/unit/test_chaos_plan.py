"""The plan of a chaos run comes from its seed and from nothing else."""

import pytest

from tests.chaos.acts import DELIVERIES, MOMENTS, REVIEWS, Act
from tests.chaos.load import FEWEST_ITEMS, MOST_ITEMS, REFUND_FAULTS, REVIEW_FAULTS, UNASKED_UP_TO, WORDS_ON_BATCHES
from tests.chaos.plan import IN_TURNS, SMALLEST, plan_of
from tests.chaos.steps import AS_A_TURN_COMES, EVERY, WITH_A_BATCH, WITH_A_TURN
from tests.chaos.turns import MOST_READS, MOST_WRITES


@pytest.mark.parametrize("operations", [SMALLEST, 300])
def test_the_same_seed_makes_the_same_plan(operations: int) -> None:
    assert plan_of(7, operations) == plan_of(7, operations)


def test_another_seed_makes_another_plan() -> None:
    one, other = plan_of(7, 100), plan_of(8, 100)
    assert one.steps != other.steps
    assert [turn.delivery for turn in one.turns] != [turn.delivery for turn in other.turns]


SIZES = pytest.mark.parametrize("operations", [SMALLEST, 100, 1000])
SEEDS = pytest.mark.parametrize("seed", range(5))


@SIZES
@SEEDS
def test_every_kind_of_fault_occurs(seed: int, operations: int) -> None:
    plan = plan_of(seed, operations)
    assert {step.kind for step in plan.steps} == set(EVERY)
    approved = {act.fault for act in plan.acts if act.tool == "refund_payment" and _is_plain(act)}
    assert approved >= set(REFUND_FAULTS)
    assert {turn.delivery for turn in plan.turns} == set(DELIVERIES)


def _is_plain(act: Act) -> bool:
    return act.word == "approve" and act.cancel is None and act.review is None


@SIZES
@SEEDS
def test_every_kind_of_batch_occurs(seed: int, operations: int) -> None:
    batches = [act for act in plan_of(seed, operations).acts if act.grade == "batch" and act.allowed]
    assert {act.word for act in batches} == set(WORDS_ON_BATCHES)
    assert any(act.closes for act in batches if act.word == "approve")
    assert any(act.cancel and act.cancel.moment == "decided" for act in batches if act.word == "approve")
    assert any(_is_plain(act) and not act.closes for act in batches)
    for act in batches:
        assert FEWEST_ITEMS <= len(set(act.items)) == len(act.items) <= MOST_ITEMS
        assert 0 <= act.closes < len(act.items)


@SIZES
@SEEDS
def test_callers_cancel_at_every_moment(seed: int, operations: int) -> None:
    refunds = [act for act in plan_of(seed, operations).acts if act.tool == "refund_payment"]
    assert {act.cancel.moment for act in refunds if act.cancel} == set(MOMENTS)
    assert any(act.cancel and act.cancel.moment == "asked" and act.word == "late" for act in refunds)


@SIZES
@SEEDS
def test_operators_have_something_of_every_kind_to_do(seed: int, operations: int) -> None:
    turns = plan_of(seed, operations).turns
    reviewed = [(turn.tenant, act) for turn in turns for act in turn.acts if act.review]
    assert {act.review for _, act in reviewed} == set(REVIEWS)
    assert {act.fault for _, act in reviewed if act.review == "resolved"} == set(REVIEW_FAULTS)
    for tenant, act in reviewed:
        assert (tenant, act.word, act.cancel, act.fault in REVIEW_FAULTS) == ("tenant-a", "approve", None, True)


@pytest.mark.parametrize("operations", [SMALLEST, 300])
def test_there_are_as_many_acts_as_were_asked_for_and_each_is_its_own(operations: int) -> None:
    acts = plan_of(7, operations).acts
    assert len(acts) == operations
    assert len({act.call_id for act in acts}) == operations
    objects = [(each, act.amount) for act in acts for each in act.items or (act.target,)]
    assert len(set(objects)) == len(objects)


@SIZES
@SEEDS
def test_a_fifth_of_the_acts_stands_in_turns_with_reads_and_several_writes(seed: int, operations: int) -> None:
    ordered = [turn for turn in plan_of(seed, operations).turns if turn.ordered]
    assert sum(len(turn.acts) for turn in ordered) == round(operations * IN_TURNS)
    for turn in ordered:
        writes = [act for act in turn.acts if act.writes]
        assert 2 <= len(writes) <= MOST_WRITES
        assert 1 <= len(turn.acts) - len(writes) <= MOST_READS
        assert {act.tool for act in writes} <= {"refund_payment", "credit_account", "credit_accounts"}
    assert any(act.repeats for turn in ordered for act in turn.acts)


def test_in_turns_with_several_writes_everything_becomes_of_one_of_them() -> None:
    turns = [turn for seed in range(5) for turn in plan_of(seed, 1000).turns if turn.ordered]
    writes = [act for turn in turns for act in turn.acts if act.writes]
    assert {act.tool for act in writes} == {"refund_payment", "credit_account", "credit_accounts"}
    assert {act.word for act in writes} >= {"approve", "deny", "late", "nobody"}
    assert {act.review for act in writes} == {None, "resolved", "abandoned"}
    assert any(act.cancel for act in writes)
    assert any(not act.allowed for act in writes)
    assert any(act.fault == "422" for act in writes)


def test_without_a_name_of_its_own_no_call_is_asked_for_twice() -> None:
    ids = [call for act in plan_of(7, 1000).acts for call in (act.call_id, *act.repeats)]
    assert len(set(ids)) == len(ids)


def test_more_may_stand_in_turns_and_the_seed_still_says_what() -> None:
    assert plan_of(7, 150, 0.5) == plan_of(7, 150, 0.5)
    assert sum(len(turn.acts) for turn in plan_of(7, 150, 0.5).turns if turn.ordered) == 75
    with pytest.raises(ValueError, match="outside"):
        plan_of(7, 100, 0.9)


def test_steps_come_while_there_is_still_something_to_deliver() -> None:
    plan = plan_of(7, 300)
    assert all(1 <= step.at < 300 for step in plan.steps)
    assert [step.at for step in plan.steps] == sorted(step.at for step in plan.steps)


def test_what_hits_a_batch_comes_right_after_one_was_proposed() -> None:
    plan = plan_of(7, 300)
    for step in plan.steps:
        if step.kind in WITH_A_BATCH:
            assert plan.acts[step.at - 1].items


def test_what_hits_a_turn_comes_right_before_or_after_one_was_proposed() -> None:
    plan = plan_of(7, 300)
    turn_of = [turn for turn in plan.turns for _ in turn.acts]
    for step in plan.steps:
        if step.kind in WITH_A_TURN:
            assert turn_of[step.at - 1].ordered
        if step.kind == AS_A_TURN_COMES:
            assert turn_of[step.at].ordered


def test_people_are_asked_about_every_refund_and_about_no_small_credit() -> None:
    for act in plan_of(7, 300).acts:
        if act.tool == "refund_payment" and act.allowed:
            assert act.amount > UNASKED_UP_TO
            assert act.word != "nobody"
        if act.tool == "credit_accounts" and act.allowed:
            assert act.word != "nobody"
        if act.tool == "credit_account":
            assert (act.word == "nobody") == (act.amount <= UNASKED_UP_TO)


def test_a_run_that_is_too_short_for_every_fault_is_refused() -> None:
    with pytest.raises(ValueError, match="at least"):
        plan_of(7, 5)
