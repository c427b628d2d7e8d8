"""What can be looked for, and the lists that answer."""

from collections import Counter
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Annotated

from fastapi import Request
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

from adapters.http.back_office.lists import (
    ApprovalList,
    OperationList,
    OperationQuery,
    PendingQuery,
    Stuck,
    StuckGroup,
    StuckLine,
    StuckWork,
)
from adapters.http.bodies import entries
from adapters.http.office.examples import APPROVAL_LINE, LINE, STUCK, example
from adapters.http.office.values import Answer, MoneyAnswer, OperationLineAnswer, ResourceAnswer
from adapters.http.problems import Problem
from workflows.domain.arguments import MOST_DETAILS, pointer
from workflows.domain.errors import Detail
from workflows.domain.lifecycle import State

MOST_SECONDS = 10 * 366 * 24 * 3600
MOST_MINOR_UNITS = 10**15

Words = Annotated[str, StringConstraints(max_length=255, pattern=r"^[^\x00]*$")]
"""NUL cannot be stored, so nothing with it can be found."""

Cursor = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.:+=-]{0,256}$")]
Seconds = Annotated[int, Field(ge=0, le=MOST_SECONDS)]
MinorUnits = Annotated[int, Field(ge=0, le=MOST_MINOR_UNITS)]


async def each_once(request: Request) -> None:
    """Refuse a query that names a parameter twice: of two values one would count, and nobody could say which.

    Raises:
        Problem: `invalid_request`, with every such parameter.
    """
    times = Counter(name for name, _ in request.query_params.multi_items())
    again = [name for name, given in times.items() if given > 1][:MOST_DETAILS]
    if again:
        places = [Detail(pointer(("query", name)), "repeated_parameter", "each parameter once") for name in again]
        raise Problem(422, "invalid_request", "The request does not have the expected shape.", errors=entries(places))


class Filter(BaseModel):
    """What is left empty lets everything pass; a filter that there is not is refused, since it would too."""

    model_config = ConfigDict(extra="forbid")

    after: Cursor = Field("", description="`following` of the page before; empty: the first page.")
    tool: Words = Field("", description="A tool's name.", examples=["refund_payment"])


class PendingFilter(Filter):
    """Which questions are meant."""

    currency: Annotated[str, StringConstraints(pattern=r"^([A-Z]{3})?$")] = Field("", description="ISO 4217.")
    at_least: MinorUnits | None = Field(None, description="Minor units of `currency`.")
    at_most: MinorUnits | None = Field(None, description="Minor units of `currency`.")
    waiting_seconds: Seconds | None = Field(None, description="Asked that long ago or longer.")
    ends_in_seconds: Seconds | None = Field(None, description="To be decided within that time.")
    mine: bool = Field(False, description="true: only what this person may decide on and has not.")

    @model_validator(mode="after")
    def _amount_with_its_currency(self) -> "PendingFilter":
        if not self.currency and (self.at_least is not None or self.at_most is not None):
            raise PydanticCustomError("currency_missing", "an amount means nothing without its currency")
        return self

    def query(self) -> PendingQuery:
        """For the store."""
        return PendingQuery(
            tool=self.tool,
            currency=self.currency,
            at_least=self.at_least,
            at_most=self.at_most,
            waiting=_duration(self.waiting_seconds),
            ends_in=_duration(self.ends_in_seconds),
            mine=self.mine,
            after=self.after,
        )


class OperationFilter(Filter):
    """Which operations are meant."""

    id: Words = Field("", description="Of the operation, of a call that became it, or of the response with that call.")
    resource: Words = Field("", description="An object, with its kind or without.", examples=["order:O-17"])
    state: State | None = None
    requester: Words = Field("", description="The subject whom it was asked for.")
    since: AwareDatetime | None = Field(None, description="Begun then or later.")
    until: AwareDatetime | None = Field(None, description="Begun before.")

    def query(self) -> OperationQuery:
        """For the store."""
        return OperationQuery(**self.model_dump())


class ApprovalLineAnswer(Answer):
    """One question that waits. `votes` of `quorum` approvals are in."""

    approval_id: str
    tool: str
    action: str
    resource: ResourceAnswer
    money: MoneyAnswer | None
    count: int
    reversible: bool
    requester: str
    agent: str
    asked_at: datetime
    expires_at: datetime
    votes: int
    quorum: int


class ApprovalListAnswer(Answer):
    """Questions that wait, the nearest deadline first."""

    model_config = Answer.model_config | example({"approvals": [APPROVAL_LINE], "total": 1, "following": ""})

    approvals: list[ApprovalLineAnswer]
    total: int = Field(description="How many there are on all pages.")
    following: str = Field(description="The cursor of the next page; empty: there is none.")

    @classmethod
    def of(cls, found: ApprovalList) -> "ApprovalListAnswer":
        """The page."""
        lines = [ApprovalLineAnswer.model_validate(line) for line in found.lines]
        return cls(approvals=lines, total=found.total, following=found.following)


class OperationListAnswer(Answer):
    """Operations, the newest first."""

    model_config = Answer.model_config | example({"operations": [LINE], "following": ""})

    operations: list[OperationLineAnswer]
    following: str = Field(description="The cursor of the next page; empty: there is none.")

    @classmethod
    def of(cls, found: OperationList) -> "OperationListAnswer":
        """The page."""
        lines = [OperationLineAnswer.model_validate(line) for line in found.lines]
        return cls(operations=lines, following=found.following)


class StuckLineAnswer(OperationLineAnswer):
    """One operation that is stuck since a moment; `approval_id` is the open question, empty when there is none."""

    since: datetime
    approval_id: str
    expires_at: datetime | None

    @classmethod
    def of(cls, found: StuckLine) -> "StuckLineAnswer":
        """The line."""
        return cls.model_validate({**asdict(found.line), **asdict(found)})


class StuckGroupAnswer(Answer):
    """Operations that are stuck for one reason: the oldest ones, and of all of them the number and the amounts."""

    why: Stuck
    total: int
    sums: list[MoneyAnswer]
    operations: list[StuckLineAnswer]

    @classmethod
    def of(cls, found: StuckGroup) -> "StuckGroupAnswer":
        """The group."""
        sums = [MoneyAnswer.model_validate(money) for money in found.sums]
        return cls(
            why=found.why, total=found.total, sums=sums, operations=[StuckLineAnswer.of(line) for line in found.lines]
        )


class HeldMessageAnswer(Answer):
    """A message that was set aside: nobody delivers it unless an operator puts it back. `failure` is a code."""

    message_id: int
    kind: str
    operation_id: str
    failure: str
    attempts: int
    written_at: datetime
    held_since: datetime


class HeldMessagesAnswer(Answer):
    """Messages that were set aside, the oldest first, and how many there are."""

    total: int
    lines: list[HeldMessageAnswer]


class HeldNoticeAnswer(Answer):
    """An event of which a receiver was not told: nobody tells it unless an operator says so. `failure` is a code."""

    message_id: int
    receiver: str = Field(description="By its name in the operator's settings.", examples=["chat"])
    what: str = Field(description="The event.", examples=["approval.asked"])
    operation_id: str
    failure: str
    attempts: int
    written_at: datetime
    held_since: datetime


class HeldNoticesAnswer(Answer):
    """Notices that were set aside, the oldest event first, and how many there are."""

    total: int
    lines: list[HeldNoticeAnswer]


class StuckAnswer(Answer):
    """What does not go on by itself, or not as it should. Whoever is no operator has null `messages` and `notices`."""

    model_config = Answer.model_config | example(STUCK)

    total: int
    groups: list[StuckGroupAnswer]
    messages: HeldMessagesAnswer | None
    notices: HeldNoticesAnswer | None

    @classmethod
    def of(cls, found: StuckWork) -> "StuckAnswer":
        """All of it."""
        messages = None if found.messages is None else HeldMessagesAnswer.model_validate(found.messages)
        notices = None if found.notices is None else HeldNoticesAnswer.model_validate(found.notices)
        groups = [StuckGroupAnswer.of(group) for group in found.groups]
        return cls(total=found.total, groups=groups, messages=messages, notices=notices)


def _duration(seconds: int | None) -> timedelta | None:
    return None if seconds is None else timedelta(seconds=seconds)
