"""What people find: the questions that wait, the operations that there are, and the work that is stuck.

A list has 50 lines on a page. `after` is the cursor that the page before has given; one that no page has given finds
nothing. Filters that are left empty let everything pass.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from workflows.domain.impact import Money, Resource
from workflows.domain.lifecycle import State

PAGE = 50
"""Lines on one page of a list, and in each group of stuck work."""

NEAR = timedelta(hours=1)
"""A question whose deadline is nearer than this is among the stuck work."""

STILL = timedelta(hours=1)
"""An operation on which nothing has moved for so long is stuck: a check that fails is repeated for half an hour."""


@dataclass(frozen=True)
class PendingQuery:
    """Which questions are meant.

    `at_least` and `at_most` are amounts in minor units of `currency`, without which they are a `ValueError`; a currency
    finds what is about money of it. `waiting` finds what was asked that long ago or longer, `ends_in` what must be
    decided within that time, `mine` what the viewer may decide on and has not.
    """

    tool: str = ""
    currency: str = ""
    at_least: int | None = None
    at_most: int | None = None
    waiting: timedelta | None = None
    ends_in: timedelta | None = None
    mine: bool = False
    after: str = ""

    def __post_init__(self) -> None:
        if not self.currency and (self.at_least is not None or self.at_most is not None):
            raise ValueError("an amount means nothing without its currency")


EVERY_QUESTION = PendingQuery()


@dataclass(frozen=True)
class ApprovalLine:
    """One pending approval in the inbox. `votes` of `quorum` approvals are in."""

    approval_id: str
    tool: str
    action: str
    resource: Resource
    money: Money | None
    count: int
    reversible: bool
    requester: str
    agent: str
    asked_at: datetime
    expires_at: datetime
    votes: int = 0
    quorum: int = 1


@dataclass(frozen=True)
class ApprovalList:
    """Some questions, how many there are on all pages, and the cursor of what comes after (empty: nothing does)."""

    lines: tuple[ApprovalLine, ...]
    total: int
    following: str = ""


@dataclass(frozen=True)
class OperationQuery:
    """Which operations are meant.

    `id` is that of the operation, of a call that became it, or of the response (the request) with that call.
    `resource` is an object with its kind or without: "order O-17", "order:O-17" or "O-17". `requester` is the person
    whom it was asked for. The period, on when it was begun, has its beginning and not its end.
    """

    id: str = ""
    resource: str = ""
    tool: str = ""
    state: State | None = None
    requester: str = ""
    since: datetime | None = None
    until: datetime | None = None
    after: str = ""


EVERY_OPERATION = OperationQuery()


@dataclass(frozen=True)
class OperationLine:
    """One operation in the list.

    `waiting_for` names what it waits for ("a person's decision"), empty when it does not wait. A read (`writes` False)
    changes nothing and has no workflow.
    """

    operation_id: str
    tool: str
    action: str
    resource: Resource
    money: Money | None
    state: State
    code: str | None
    waiting_for: str
    requester: str
    agent: str
    created_at: datetime
    updated_at: datetime
    writes: bool = True


@dataclass(frozen=True)
class OperationList:
    """Some operations, and the cursor of what comes after them (empty: nothing does)."""

    lines: tuple[OperationLine, ...]
    following: str = ""


class Stuck(StrEnum):
    """Why work is stuck, the most pressing first."""

    MANUAL_REVIEW = "manual_review"
    """Nobody but an operator can say whether it happened."""
    UNCONFIRMED = "unconfirmed"
    """It was sent and is being looked up."""
    OVERDUE = "overdue"
    """A question whose deadline is near or has passed, or a grant that was not used in time."""
    STILL = "still"
    """Accepted or begun, and nobody moves it."""


@dataclass(frozen=True)
class StuckLine:
    """One operation that is stuck since a moment; `approval_id` is the open question, empty when there is none.

    `since` is when it came to stand where it stands; of a question it is when it was asked, and `expires_at` its
    deadline.
    """

    line: OperationLine
    since: datetime
    approval_id: str = ""
    expires_at: datetime | None = None


@dataclass(frozen=True)
class StuckGroup:
    """Operations that are stuck for one reason, the oldest first, and of all of them the number and the amounts.

    `lines` are the first ones; `sums` has one amount for each currency.
    """

    why: Stuck
    total: int = 0
    sums: tuple[Money, ...] = ()
    lines: tuple[StuckLine, ...] = ()


@dataclass(frozen=True)
class HeldMessage:
    """A message of the outbox that was set aside: nobody will deliver it unless an operator puts it back.

    `kind` is start, read, turn, nudge or event; `failure` a code.
    """

    message_id: int
    kind: str
    operation_id: str
    failure: str
    attempts: int
    written_at: datetime
    held_since: datetime


@dataclass(frozen=True)
class HeldMessages:
    """Messages that were set aside, the oldest first, and how many there are."""

    total: int = 0
    lines: tuple[HeldMessage, ...] = ()


@dataclass(frozen=True)
class HeldNotice:
    """An event of which a receiver outside was not told, and will not be unless an operator has it told after all.

    `receiver` is the name that the operator's settings give it, never its address; `what` names the event, of which
    `message_id` is the number; `failure` is a code.
    """

    message_id: int
    receiver: str
    what: str
    operation_id: str
    failure: str
    attempts: int
    written_at: datetime
    held_since: datetime


@dataclass(frozen=True)
class HeldNotices:
    """Notices that were set aside, the oldest event first, and how many there are."""

    total: int = 0
    lines: tuple[HeldNotice, ...] = ()


@dataclass(frozen=True)
class StuckWork:
    """Everything of a tenant that does not go on by itself, or not as it should.

    `groups` has one for each reason, in their order, empty ones too. `messages` and `notices` are None for whoever is
    no operator.
    """

    groups: tuple[StuckGroup, ...]
    messages: HeldMessages | None = None
    notices: HeldNotices | None = None

    @property
    def total(self) -> int:
        """How many lines there are in all."""
        held = (self.messages, self.notices)
        return sum(group.total for group in self.groups) + sum(each.total for each in held if each)
