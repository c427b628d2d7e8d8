"""The risk policy: when a person must be asked. It fails closed."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from workflows.domain.contract import Contract, Risk
from workflows.domain.impact import Impact, Money


@dataclass(frozen=True)
class Policy:
    """`unasked_up_to`: per currency, the largest amount in minor units that may leave without a person's word.

    A currency that is not named has a limit of nothing.
    """

    version: str
    unasked_up_to: Mapping[str, int] = field(default_factory=dict)


def why_approval_is_needed(contract: Contract, impact: Impact, policy: Policy) -> str | None:
    """Return the reason in words, None when the act may run unasked."""
    if contract.approval is None:
        return None
    if impact.money is not None and _above_limit(impact.money, policy):
        return f"It moves money, and more than the policy lets pass unasked in {impact.money.currency}."
    if not impact.reversible and impact.money is None:
        return "It cannot be undone."
    if contract.risk is Risk.HIGH and impact.money is None:
        return "The tool is rated high risk."
    return None


def _above_limit(money: Money, policy: Policy) -> bool:
    return money.minor_units > policy.unasked_up_to.get(money.currency, 0)
