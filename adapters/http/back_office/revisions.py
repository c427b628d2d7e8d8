"""The revisions of a question: what was said to each, and what came of it."""

from dataclasses import dataclass
from datetime import datetime

from workflows.domain.approval import Approval, Choice
from workflows.domain.impact import Impact


@dataclass(frozen=True)
class Vote:
    """One person's word on one revision of an approval."""

    decision_id: str
    approver: str
    approver_name: str
    choice: Choice
    reason: str
    at: datetime


@dataclass(frozen=True)
class EarlierRevision:
    """The question before this one about the same operation, with the votes on it, oldest first."""

    approval: Approval
    impact: Impact
    votes: tuple[Vote, ...] = ()


@dataclass(frozen=True)
class ApprovalEvent:
    """What happened to one revision: it was asked, voted on, taken back, used, or its time passed."""

    at: datetime
    actor: str
    what: str
    revision: int
