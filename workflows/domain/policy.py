"""The risk policy: when a person must be asked, and how many. It fails closed.

Limits are per currency in minor units; a currency that is not named has a limit of nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from workflows.domain.contract import ApprovalRule, Contract, Risk
from workflows.domain.impact import Impact, Money

Limits = Mapping[str, int]


@dataclass(frozen=True)
class Policy:
    """What may pass unasked.

    `unasked_up_to`: one act. `daily_unasked_up_to`: all acts of one user within 24 hours, `tenant_daily_unasked_up_to`:
    of one tenant; what is on its way or unconfirmed counts as spent. `unasked_count`: objects changed by one act.
    `two_approvers_above`: larger amounts need two people; a currency that is not named never does.
    `ask_after_outside_words`: every write of a conversation that has read what others wrote needs a person's word.
    """

    version: str
    unasked_up_to: Limits = field(default_factory=dict)
    daily_unasked_up_to: Limits = field(default_factory=dict)
    tenant_daily_unasked_up_to: Limits = field(default_factory=dict)
    two_approvers_above: Limits = field(default_factory=dict)
    unasked_count: int = 1
    ask_after_outside_words: bool = False


@dataclass(frozen=True)
class Totals:
    """What else has been spent or reserved in this currency within 24 hours, in minor units."""

    by_subject: int = 0
    by_tenant: int = 0


@dataclass(frozen=True)
class Circumstances:
    """What the act comes on top of.

    `repeated`: the same act has just succeeded. `given_up`: it has ended within a day without anybody finding out
    whether it happened. `reads`: tools whose results the same conversation was given before the act was proposed.
    """

    totals: Totals = field(default_factory=Totals)
    repeated: bool = False
    given_up: bool = False
    reads: tuple[str, ...] = ()


def why_approval_is_needed(
    contract: Contract, impact: Impact, policy: Policy, circumstances: Circumstances, outside: Sequence[str] = ()
) -> str | None:
    """Return every reason in words, None when the act may run unasked.

    `outside` names those of the circumstances' reads whose words others have written. People who are asked are told of
    them in any case. A contract without an approval rule is asked about only where money, a repetition or such words
    forbid to pass; it is then refused, as there is nobody to ask.
    """
    influenced = bool(outside) and policy.ask_after_outside_words
    again = circumstances.repeated or circumstances.given_up
    if contract.approval is None and impact.money is None and not (again or influenced):
        return None
    reasons = [
        *_reasons_of_money(impact.money, policy, circumstances.totals),
        *_reasons_of_kind(contract, impact, policy),
        *(["The same act has succeeded a short while ago."] if circumstances.repeated else []),
        *(["The same act was given up within a day, and may have happened."] if circumstances.given_up else []),
    ]
    if outside and (reasons or influenced):
        reasons.append(f"The conversation had read what others wrote ({', '.join(outside)}).")
    return " ".join(reasons) or None


def approvers_needed(rule: ApprovalRule, impact: Impact, policy: Policy) -> int:
    """How many people must approve."""
    money = impact.money
    large = money is not None and money.minor_units > policy.two_approvers_above.get(money.currency, money.minor_units)
    return max(rule.quorum, 2 if large else 1)


def _reasons_of_money(money: Money | None, policy: Policy, totals: Totals) -> list[str]:
    if money is None:
        return []
    currency, amount = money.currency, money.minor_units
    checks = (
        (amount, policy.unasked_up_to, "It moves money, and more than the policy lets pass unasked"),
        (totals.by_subject + amount, policy.daily_unasked_up_to, "This user's total of a day is reached"),
        (totals.by_tenant + amount, policy.tenant_daily_unasked_up_to, "The tenant's total of a day is reached"),
    )
    passed = [(limits, f"{words} in {currency}.") for total, limits, words in checks if total > limits.get(currency, 0)]
    # Where no limit is set nothing passes, and no total has been reached that anybody could wait for.
    told = [words for limits, words in passed if limits.get(currency, 0) > 0]
    return told or [words for _, words in passed[:1]]


def _reasons_of_kind(contract: Contract, impact: Impact, policy: Policy) -> list[str]:
    checks = (
        (impact.count > policy.unasked_count, f"It changes {impact.count} objects."),
        (not impact.reversible and impact.money is None, "It cannot be undone."),
        (contract.risk is Risk.HIGH and impact.money is None, "The tool is rated high risk."),
    )
    return [words for asked, words in checks if asked]
