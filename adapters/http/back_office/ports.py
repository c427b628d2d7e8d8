"""What the pages need from the store, and what each page shows.

Everything here was computed by the server on its own look at the world; nothing is a model's summary. Viewers see
their own tenant only: an object of another tenant is absent.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from adapters.http.back_office.lists import (
    EVERY_OPERATION,
    EVERY_QUESTION,
    ApprovalList,
    OperationLine,
    OperationList,
    OperationQuery,
    PendingQuery,
    StuckWork,
)
from adapters.http.back_office.revisions import ApprovalEvent, EarlierRevision, Vote
from workflows.domain.approval import Approval, ApprovalState, Choice
from workflows.domain.gate import Verdict
from workflows.domain.impact import Fact, Impact
from workflows.domain.principal import Principal
from workflows.domain.resolution import Finding, Resolution


@dataclass(frozen=True)
class ApprovalSheet:
    """One approval in full.

    `approval` carries the revision, the binding (intent hash), the quorum and the deadline. `why` says in a sentence
    why a person is asked. `arguments` are the validated ones, exactly as they will be sent, and `given` those that the
    model gave where they are others, empty otherwise. `votes` are those on this revision, oldest first; `earlier` is
    the revision before it, and `history` tells of all revisions, the oldest event first.
    """

    approval: Approval
    tool: str
    tool_version: str
    impact: Impact
    arguments: tuple[Fact, ...]
    why: str
    requester: Principal
    asked_at: datetime
    votes: tuple[Vote, ...] = ()
    given: tuple[Fact, ...] = ()
    earlier: EarlierRevision | None = None
    history: tuple[ApprovalEvent, ...] = ()

    def vote_of(self, approver: str) -> Vote | None:
        """This person's vote on this revision."""
        return next((vote for vote in self.votes if vote.approver == approver), None)

    @property
    def ending_vote(self) -> Vote | None:
        """The vote that has decided it: the denial, or the last approval that it took. Of a void one no vote counts."""
        if self.approval.state is ApprovalState.VOID:
            return None
        denial = next((vote for vote in self.votes if vote.choice is Choice.DENY), None)
        return denial or next(iter(self._approvals[self.approval.quorum - 1 :]), None)

    @property
    def _approvals(self) -> tuple[Vote, ...]:
        return tuple(vote for vote in self.votes if vote.choice is Choice.APPROVE)


@dataclass(frozen=True)
class DecisionOutcome:
    """A decision that counted.

    `state` is where the approval stands after it (`pending` while the quorum is not reached), `approvals` how many
    people have approved. `repeated` is True when the same person had said the same before: the first vote, with its
    id, time and reason, is the one given here, and nothing was changed by the second.
    """

    vote: Vote
    state: ApprovalState
    approvals: int
    quorum: int
    repeated: bool = False


@dataclass(frozen=True)
class TimelineEntry:
    """One event. `actor` is a person, an agent or a process; `what` is in our words, `detail` a code or reference."""

    at: datetime
    actor: str
    what: str
    detail: str = ""


@dataclass(frozen=True)
class ApprovalReference:
    """An approval of an operation."""

    approval_id: str
    revision: int
    state: ApprovalState


@dataclass(frozen=True)
class ItemLine:
    """One item of a batch that was tried. `outcome` is applied, rejected or unknown, empty while it is open."""

    item: str
    outcome: str
    code: str
    uncertain: bool
    generation: int
    sends: int
    idempotency_key: str


@dataclass(frozen=True)
class OperatorsWord:
    """What an operator said of an effect that nobody could find out, or of one item of a batch."""

    finding: Finding
    item: str
    reference: str
    evidence: str
    operator: str
    operator_name: str
    at: datetime


@dataclass(frozen=True)
class OperationSheet:
    """One operation in full.

    `sends` counts what was sent to the downstream, `generation` the claims of the effect; `reference` is the
    downstream's own id (its receipt), `evidence` what a look at the downstream has shown. `items` are those of a batch
    that were tried, in the order of their ids; `words` are those of operators, the oldest first.
    """

    line: OperationLine
    tool_version: str
    policy_version: str
    intent_hash: str
    idempotency_key: str
    sends: int
    generation: int
    reference: str | None = None
    impact: Impact | None = None
    verdicts: tuple[Verdict, ...] = ()
    timeline: tuple[TimelineEntry, ...] = ()
    evidence: tuple[Fact, ...] = ()
    approvals: tuple[ApprovalReference, ...] = ()
    items: tuple[ItemLine, ...] = ()
    words: tuple[OperatorsWord, ...] = ()

    @property
    def doubts(self) -> tuple[ItemLine, ...]:
        """What an operator can be asked about: the effect itself, or each item of a batch that is uncertain."""
        if not self.items:
            return (ItemLine("", "", "", True, self.generation, self.sends, self.idempotency_key),)
        return tuple(line for line in self.items if line.uncertain and not line.outcome)


class BackOfficeStore(Protocol):
    """What the pages read, and the three things that they write."""

    async def pending(self, viewer: Principal, query: PendingQuery = EVERY_QUESTION) -> ApprovalList:
        """Approvals of the viewer's tenant that wait and have not expired, the nearest deadline first."""
        ...

    async def approval(self, viewer: Principal, approval_id: str) -> ApprovalSheet | None:
        """The current revision, whatever its state; None when it is absent or another tenant's."""
        ...

    async def decide(
        self, viewer: Principal, approval_id: str, choice: Choice, reason: str, revision: int, intent_hash: str
    ) -> DecisionOutcome:
        """Count one person's word, in one statement that decides; the first decision wins.

        A denial ends the approval at once, whatever the quorum. One vote per person and revision; the same word again
        is answered with the first vote.

        Raises:
            DecisionRefused, checked in this order: `not_found` (absent or another tenant's), `approver_not_allowed`
            (agent, role or own request), `approval_already_decided` (granted, denied or consumed), `approval_expired`
            (also when only the deadline has passed), `approval_stale` (void, or another revision or intent hash than
            shown), `vote_already_cast` (this person said otherwise), `decision_reason_required` (a denial without).
            The same person's same word on the same revision is answered before the state is looked at.
        """
        ...

    async def operations(self, viewer: Principal, query: OperationQuery = EVERY_OPERATION) -> OperationList:
        """Operations of the viewer's tenant, the newest first."""
        ...

    async def operation(self, viewer: Principal, operation_id: str) -> OperationSheet | None:
        """One operation; None when it is absent or another tenant's."""
        ...

    async def resolve(self, viewer: Principal, operation_id: str, word: Resolution) -> None:
        """Keep an operator's word on an uncertain effect and wake the operation; the worker acts on it.

        Raises:
            ResolutionRefused, checked in this order: `not_found`, `operator_not_allowed` (agent, role or own request),
            `resolution_evidence_required`, `resolution_reference_required`, `resolution_reference_unclear` (not all of
            it is seen), `resolution_not_open` (no operator is asked), `resolution_stale` (another generation than
            shown), `resolution_reference_taken` (another operation's), `resolution_already_given`. The same person's
            same word is taken without being counted again.
        """
        ...

    async def stuck(self, viewer: Principal) -> StuckWork:
        """What of the viewer's tenant does not go on; what was set aside undelivered is shown to operators only."""
        ...

    async def stuck_number(self, viewer: Principal) -> int:
        """How much that is, for the link that leads there."""
        ...

    async def requeue(self, viewer: Principal, message_id: int) -> None:
        """Have a message that was set aside delivered after all, as if it were new; the operation's timeline tells.

        Raises:
            RequeueRefused, checked in this order: `not_found` (absent or another tenant's), `operator_not_allowed`
            (agent, role or own request), `message_not_set_aside` (delivered, or on its way).
        """
        ...

    async def retell(self, viewer: Principal, message_id: int, receiver: str) -> None:
        """Have a notice that was set aside delivered after all, as if it were new; the operation's timeline tells.

        Raises:
            RequeueRefused, checked as for `requeue`: `not_found` also for a receiver that has no such notice.
        """
        ...
