"""What the API of the back office answers about one thing: the sheets of the pages, as JSON."""

from dataclasses import asdict
from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field

from adapters.http.back_office.ports import ApprovalSheet, OperationSheet
from adapters.http.back_office.revisions import EarlierRevision, Vote
from adapters.http.office.examples import ASKED, OPERATION, VOTE, example
from adapters.http.office.values import Answer, MoneyAnswer, OperationLineAnswer, ResourceAnswer
from workflows.domain.approval import ApprovalState, Choice, refusal_of_approver
from workflows.domain.gate import Layer
from workflows.domain.principal import Principal
from workflows.domain.resolution import Finding, refusal_of_operator


class FactAnswer(Answer):
    """A label with words or with an amount."""

    label: str
    value: str
    money: MoneyAnswer | None


class ItemAnswer(Answer):
    """One object of a batch."""

    id: str
    version: str


class ImpactAnswer(Answer):
    """The extent of the act, computed by the server; no model wrote any of it."""

    action: str
    resource: ResourceAnswer
    money: MoneyAnswer | None = Field(description="What leaves; null when no money moves.")
    count: int = Field(description="How many objects are changed.")
    reversible: bool
    facts: list[FactAnswer]
    items: list[ItemAnswer] = Field(description="The objects of a batch.")


class RequesterAnswer(Answer):
    """Who asked, and the software that acted for them (empty: none)."""

    tenant: str
    subject: str
    name: str
    agent: str


class VoteAnswer(Answer):
    """One person's word on one revision of an approval."""

    decision_id: str
    approver: str
    approver_name: str
    choice: Choice
    reason: str
    at: datetime


class EarlierAnswer(Answer):
    """The revision before: what was asked about then, and who had said what."""

    revision: int
    state: ApprovalState
    resource_version: str
    impact: ImpactAnswer
    votes: list[VoteAnswer]

    @classmethod
    def of(cls, earlier: EarlierRevision) -> "EarlierAnswer":
        """As stored."""
        told = _attributes(earlier, "approval") | _attributes(earlier.approval) | _attributes(earlier.approval.binding)
        return cls.model_validate(told, from_attributes=True)


class HistoryAnswer(Answer):
    """What happened to one revision of the question: it was asked, voted on, taken back or used, or its time passed."""

    at: datetime
    actor: str
    what: str
    revision: int


class ViewerAnswer(BaseModel):
    """What the caller may do here."""

    may_act: bool = Field(description="Whether this person's word would be taken while it is open.")
    refusal: str | None = Field(description="The code of the refusal when it would not.")


class ApprovalAnswer(Answer):
    """One question to the approvers, in full. `revision` and `intent_hash` are what a decision has to name."""

    model_config = Answer.model_config | example(ASKED)

    approval_id: str
    operation_id: str
    revision: int
    intent_hash: str
    state: ApprovalState
    resource_version: str
    policy_version: str
    approver_role: str
    quorum: int = Field(description="How many people have to approve.")
    asked_at: datetime
    expires_at: datetime
    tool: str
    tool_version: str
    why: str = Field(description="Why a person must decide.")
    impact: ImpactAnswer
    arguments: list[FactAnswer] = Field(description="Exactly what will be sent, each value as text.")
    given: list[FactAnswer] = Field(description="What the model gave where it is something else; empty: the same.")
    requester: RequesterAnswer
    votes: list[VoteAnswer] = Field(description="On this revision, the oldest first.")
    earlier: EarlierAnswer | None = Field(description="The revision before, null of the first.")
    history: list[HistoryAnswer] = Field(description="Of all revisions, the oldest event first.")
    viewer: ViewerAnswer

    @classmethod
    def of(cls, sheet: ApprovalSheet, viewer: Principal) -> "ApprovalAnswer":
        """The sheet as this person may read it."""
        asked, approval = sheet.requester, sheet.approval
        refusal = refusal_of_approver(viewer, asked.tenant, asked.subject, approval.approver_role)
        told = _attributes(sheet, "approval") | _attributes(approval, "binding") | _attributes(approval.binding)
        told["earlier"] = None if sheet.earlier is None else EarlierAnswer.of(sheet.earlier)
        return cls.model_validate({**told, "viewer": _viewer(refusal)}, from_attributes=True)


class DecisionAnswer(BaseModel):
    """A decision that counted."""

    model_config = example({"decision": VOTE, "state": "granted", "approvals": 1, "quorum": 1, "repeated": False})

    decision: VoteAnswer
    state: ApprovalState = Field(description="Where the approval stands: pending while more people have to approve.")
    approvals: int = Field(description="How many people have approved.")
    quorum: int
    repeated: bool = Field(description="This person had said the same before; that first word is the one given here.")


class VerdictAnswer(Answer):
    """What one layer of the gate has said last; a code when it did not let the call pass."""

    layer: Layer
    code: str | None


class TimelineAnswer(Answer):
    """One event. `actor` is a person, an agent or a process; `detail` names codes and references."""

    at: datetime
    actor: str
    what: str
    detail: str


class ReferenceAnswer(Answer):
    """An approval of an operation."""

    approval_id: str
    revision: int
    state: ApprovalState


class ItemLineAnswer(Answer):
    """One item of a batch that was tried. `outcome` is applied, rejected or unknown, empty while it is open."""

    item: str
    outcome: str
    code: str
    uncertain: bool
    generation: int
    sends: int
    idempotency_key: str


class WordAnswer(Answer):
    """What an operator has said, and what it rests on."""

    finding: Finding
    item: str
    reference: str
    evidence: str
    operator: str
    operator_name: str
    at: datetime


class OperationAnswer(OperationLineAnswer):
    """One operation in full. `generation` is what a resolution has to name; of a batch, that of the item."""

    model_config = Answer.model_config | example(OPERATION)

    tool_version: str
    policy_version: str
    intent_hash: str
    idempotency_key: str = Field(description="What the downstream knows the effect by.")
    sends: int = Field(description="How often it was sent.")
    generation: int = Field(description="How often the right to make the effect was taken.")
    reference: str | None = Field(description="The downstream's own id of the effect.")
    impact: ImpactAnswer | None
    verdicts: list[VerdictAnswer]
    timeline: list[TimelineAnswer]
    evidence: list[FactAnswer]
    approvals: list[ReferenceAnswer]
    items: list[ItemLineAnswer]
    words: list[WordAnswer]
    viewer: ViewerAnswer

    @classmethod
    def of(cls, sheet: OperationSheet, viewer: Principal) -> "OperationAnswer":
        """The sheet as this person may read it; whose tenant it is, the store has seen to."""
        refusal = refusal_of_operator(viewer, viewer.tenant, sheet.line.requester)
        told = _attributes(sheet, "line") | _attributes(sheet.line)
        return cls.model_validate({**told, "viewer": _viewer(refusal)}, from_attributes=True)


def vote_answer(vote: Vote | None) -> VoteAnswer | None:
    """A vote, if there is one."""
    return None if vote is None else VoteAnswer.model_validate(vote)


def _viewer(refusal: str | None) -> ViewerAnswer:
    return ViewerAnswer(may_act=refusal is None, refusal=refusal)


def _attributes(value: Any, *left_out: str) -> dict[str, Any]:
    return {name: each for name, each in asdict(value).items() if name not in left_out}
