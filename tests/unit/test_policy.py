"""When a person must be asked, and who may answer."""

from dataclasses import replace

import pytest

from adapters.tools.payments import RefundPayment
from workflows.domain.approval import refusal_of_approver
from workflows.domain.contract import Risk
from workflows.domain.impact import Impact, Money, Resource
from workflows.domain.policy import Circumstances, Policy, Totals, approvers_needed, why_approval_is_needed
from workflows.domain.principal import Principal

CONTRACT = RefundPayment.contract
ORDER = Resource("order", "O-17", "tenant-a", "1")
POLICY = Policy("policy-1", {"KRW": 10_000}, {"KRW": 25_000}, {"KRW": 100_000}, {"KRW": 1_000_000})
NOTHING_ELSE = Circumstances()
STRICT = Policy("policy-1")
APPROVER = Principal("tenant-a", "approver-1", frozenset({"approver:refunds"}))


def refund_of(minor_units: int, currency: str = "KRW") -> Impact:
    return Impact(ORDER, "Refund a payment", Money(minor_units, currency), reversible=False)


@pytest.mark.parametrize(
    ("impact", "asked"),
    [
        (refund_of(10_000), False),
        (refund_of(10_001), True),
        (refund_of(1, "USD"), True),
        (refund_of(0, "USD"), False),
        (Impact(ORDER, "Delete", reversible=False), True),
        (Impact(ORDER, "Rename", reversible=True), True),
    ],
    ids=["at the limit", "above the limit", "currency without a limit", "no money", "for good", "high risk"],
)
def test_a_person_is_asked_exactly_where_the_policy_says_so(impact: Impact, asked: bool) -> None:
    assert (why_approval_is_needed(CONTRACT, impact, POLICY, NOTHING_ELSE) is not None) is asked


def test_without_a_limit_every_payment_is_asked_about() -> None:
    assert why_approval_is_needed(CONTRACT, refund_of(1), STRICT, NOTHING_ELSE) is not None


def test_the_reason_is_a_sentence_without_the_amount() -> None:
    why = why_approval_is_needed(CONTRACT, refund_of(987_654), POLICY, NOTHING_ELSE)
    assert why is not None
    assert why.endswith(".")
    assert "987" not in why


def test_a_harmless_change_of_low_risk_is_not_asked_about() -> None:
    contract = replace(CONTRACT, risk=Risk.LOW)
    assert why_approval_is_needed(contract, Impact(ORDER, "Rename"), STRICT, NOTHING_ELSE) is None


def test_a_change_that_moves_no_money_by_a_tool_without_a_rule_is_not_asked_about() -> None:
    contract = replace(CONTRACT, approval=None)
    assert why_approval_is_needed(contract, Impact(ORDER, "Rename"), STRICT, NOTHING_ELSE) is None


def test_money_is_never_let_pass_for_want_of_somebody_to_ask() -> None:
    contract = replace(CONTRACT, approval=None)
    assert why_approval_is_needed(contract, refund_of(10**12), POLICY, NOTHING_ELSE) is not None


@pytest.mark.parametrize(
    ("totals", "asked"),
    [
        (Totals(by_subject=15_000, by_tenant=15_000), False),
        (Totals(by_subject=15_001, by_tenant=15_001), True),
        (Totals(by_subject=0, by_tenant=90_000), False),
        (Totals(by_subject=0, by_tenant=90_001), True),
    ],
)
def test_what_else_has_left_within_a_day_counts(totals: Totals, asked: bool) -> None:
    why = why_approval_is_needed(CONTRACT, refund_of(10_000), POLICY, Circumstances(totals))
    assert (why is not None) is asked


def test_the_same_act_soon_after_its_success_needs_a_persons_word() -> None:
    assert why_approval_is_needed(CONTRACT, refund_of(1), POLICY, Circumstances(repeated=True)) is not None
    low = replace(CONTRACT, risk=Risk.LOW, approval=None)
    assert why_approval_is_needed(low, Impact(ORDER, "Rename"), POLICY, Circumstances(repeated=True)) is not None


def test_the_same_act_after_one_that_was_given_up_needs_a_persons_word_who_is_told_why() -> None:
    given_up = Circumstances(given_up=True)
    assert "may have happened" in (why_approval_is_needed(CONTRACT, refund_of(1), POLICY, given_up) or "")
    low = replace(CONTRACT, risk=Risk.LOW, approval=None)
    assert why_approval_is_needed(low, Impact(ORDER, "Rename"), POLICY, given_up) is not None


def test_more_objects_than_the_policy_lets_pass_are_asked_about() -> None:
    low = replace(CONTRACT, risk=Risk.LOW)
    assert why_approval_is_needed(low, Impact(ORDER, "Delete", count=2), POLICY, NOTHING_ELSE) is not None
    assert why_approval_is_needed(low, Impact(ORDER, "Delete", count=1), POLICY, NOTHING_ELSE) is None


@pytest.mark.parametrize(("amount", "people"), [(1_000_000, 1), (1_000_001, 2)])
def test_the_largest_amounts_need_two_people(amount: int, people: int) -> None:
    assert CONTRACT.approval is not None
    assert approvers_needed(CONTRACT.approval, refund_of(amount), POLICY) == people


def test_a_rule_that_asks_for_more_people_than_the_policy_is_kept() -> None:
    assert CONTRACT.approval is not None
    assert approvers_needed(replace(CONTRACT.approval, quorum=3), refund_of(1), POLICY) == 3


@pytest.mark.parametrize(
    ("who", "code"),
    [
        (APPROVER, None),
        (replace(APPROVER, tenant="tenant-b"), "not_found"),
        (replace(APPROVER, roles=frozenset()), "approver_not_allowed"),
        (replace(APPROVER, roles=frozenset({"approver:other"})), "approver_not_allowed"),
        (replace(APPROVER, agent="support-agent"), "approver_not_allowed"),
        (replace(APPROVER, subject="user-17"), "approver_not_allowed"),
        (replace(APPROVER, tenant="tenant-b", agent="support-agent"), "not_found"),
    ],
    ids=["may", "other tenant", "no role", "other role", "agent", "own request", "agent of another tenant"],
)
def test_who_may_decide(who: Principal, code: str | None) -> None:
    assert refusal_of_approver(who, "tenant-a", "user-17", "approver:refunds") == code


WARY = replace(POLICY, ask_after_outside_words=True)
OUTSIDE = ("get_order",)


def test_a_wary_policy_asks_about_every_write_that_follows_the_words_of_others() -> None:
    small = refund_of(1)
    assert why_approval_is_needed(CONTRACT, small, WARY, NOTHING_ELSE) is None
    why = why_approval_is_needed(CONTRACT, small, WARY, NOTHING_ELSE, OUTSIDE)
    assert why == "The conversation had read what others wrote (get_order)."


def test_people_who_are_asked_anyway_are_told_whose_words_were_read() -> None:
    why = why_approval_is_needed(CONTRACT, refund_of(10_001), POLICY, NOTHING_ELSE, OUTSIDE)
    assert why is not None
    assert why.endswith("The conversation had read what others wrote (get_order).")
    assert why_approval_is_needed(CONTRACT, refund_of(1), POLICY, NOTHING_ELSE, OUTSIDE) is None


def test_a_wary_policy_lets_nothing_pass_that_nobody_can_be_asked_about() -> None:
    contract = replace(CONTRACT, approval=None)
    assert why_approval_is_needed(contract, Impact(ORDER, "Rename"), WARY, NOTHING_ELSE, OUTSIDE) is not None


def test_where_no_limit_is_set_nobody_is_told_that_a_total_is_reached() -> None:
    assert why_approval_is_needed(CONTRACT, refund_of(1), STRICT, NOTHING_ELSE) == (
        "It moves money, and more than the policy lets pass unasked in KRW."
    )
