"""A person's word, bound to exactly one thing.

An approval binds the intent hash, the version of the resource and the version of the policy. It is granted by as many
people as the rule asks for, consumed once, in the same transaction that claims the effect, and void as soon as
anything it binds has changed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from workflows.domain.contract import ApprovalRule
from workflows.domain.errors import DecisionRefused
from workflows.domain.impact import Impact
from workflows.domain.principal import Principal
from workflows.domain.visibility import is_blank


class ApprovalState(StrEnum):
    """Where an approval stands."""

    PENDING = "pending"
    GRANTED = "granted"
    DENIED = "denied"
    EXPIRED = "expired"
    VOID = "void"
    CONSUMED = "consumed"


@dataclass(frozen=True)
class Binding:
    """What was approved, to the letter."""

    intent_hash: str
    resource_version: str
    policy_version: str


@dataclass(frozen=True)
class Approval:
    """One question to the approvers."""

    approval_id: str
    operation_id: str
    revision: int
    state: ApprovalState
    binding: Binding
    approver_role: str
    quorum: int
    expires_at: datetime


class Choice(StrEnum):
    """What an approver can say."""

    APPROVE = "approve"
    DENY = "deny"


def refusal_of_approver(approver: Principal, requester_tenant: str, requester: str, approver_role: str) -> str | None:
    """The code that keeps this person from deciding, None when they may.

    An agent never decides, whoever it acts for; nobody decides on their own request.
    """
    if approver.tenant != requester_tenant:
        return "not_found"
    if approver.agent or approver_role not in approver.roles or approver.subject == requester:
        return "approver_not_allowed"
    return None


def require_reason(choice: Choice, reason: str) -> None:
    """Return if whoever asked is told why; only a denial must say so.

    Raises:
        DecisionRefused: `decision_reason_required`, also for a reason that nobody can see.
    """
    if choice is Choice.DENY and is_blank(reason):
        raise DecisionRefused("decision_reason_required")


@dataclass(frozen=True)
class Plea:
    """What is put before the approvers: the server's own figures and why they are asked."""

    binding: Binding
    rule: ApprovalRule
    impact: Impact
    why: str


@dataclass(frozen=True)
class Question:
    """An approval as the gate asks about it.

    `seconds_left` is by the database's clock, never negative. `items` are the objects of a batch as they were shown,
    their versions by their ids.
    """

    approval_id: str
    state: ApprovalState
    binding: Binding
    seconds_left: float
    approver_role: str
    items: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Clearance:
    """The gate let this pass, on this state of the world. A claim needs a fresh one.

    `approval_id` names the grant that the claim consumes, None when no person had to be asked.
    """

    binding: Binding
    approval_id: str | None = None


CLEARANCE_SECONDS = 60.0
"""How old a clearance may be when the effect is claimed; older, the gate looks again."""
