"""The back office's store in memory: the same rules as the real one, nothing kept."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from adapters.http.back_office.ports import (
    ApprovalLine,
    ApprovalSheet,
    DecisionOutcome,
    OperationList,
    OperationSheet,
    Vote,
)
from workflows.domain.approval import ApprovalState, Choice, refusal_of_approver
from workflows.domain.errors import DecisionRefused, ResolutionRefused
from workflows.domain.lifecycle import State
from workflows.domain.principal import Principal
from workflows.domain.resolution import Resolution, refusal_of_operator, require_grounds

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)

DECIDED = {ApprovalState.GRANTED, ApprovalState.DENIED, ApprovalState.CONSUMED}

PAGE = 50
"""Operations in one answer."""


class StandingClock:
    """A clock that goes only when it is told to."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **by: float) -> None:
        self.now += timedelta(**by)


@dataclass
class MemoryBackOffice:
    """Keeps sheets in dictionaries. `attempts` lists every decision that was tried, counted or not."""

    clock: StandingClock
    approvals: dict[str, ApprovalSheet] = field(default_factory=dict)
    operation_sheets: dict[str, OperationSheet] = field(default_factory=dict)
    attempts: list[tuple[str, str, str]] = field(default_factory=list)
    resolutions: dict[str, Resolution] = field(default_factory=dict)

    def ask(self, sheet: ApprovalSheet) -> None:
        self.approvals[sheet.approval.approval_id] = sheet

    def record(self, sheet: OperationSheet, tenant: str = "tenant-a") -> None:
        self.operation_sheets[f"{tenant}/{sheet.line.operation_id}"] = sheet

    def revise(self, sheet: ApprovalSheet, intent_hash: str) -> ApprovalSheet:
        """The content has changed: a new revision, and no vote on the old one counts."""
        approval = sheet.approval
        binding = replace(approval.binding, intent_hash=intent_hash)
        approval = replace(approval, revision=approval.revision + 1, binding=binding, state=ApprovalState.PENDING)
        revised = replace(sheet, approval=approval, votes=())
        self.ask(revised)
        return revised

    async def pending(self, viewer: Principal) -> Sequence[ApprovalLine]:
        mine = (sheet for sheet in self.approvals.values() if sheet.requester.tenant == viewer.tenant)
        waiting = [sheet for sheet in mine if self._waits(sheet)]
        return [_line(sheet) for sheet in sorted(waiting, key=lambda sheet: sheet.approval.expires_at)]

    async def approval(self, viewer: Principal, approval_id: str) -> ApprovalSheet | None:
        sheet = self.approvals.get(approval_id)
        return sheet if sheet is not None and sheet.requester.tenant == viewer.tenant else None

    async def decide(
        self, viewer: Principal, approval_id: str, choice: Choice, reason: str, revision: int, intent_hash: str
    ) -> DecisionOutcome:
        self.attempts.append((viewer.subject, approval_id, choice.value))
        sheet = await self.approval(viewer, approval_id)
        if sheet is None:
            raise DecisionRefused("not_found")
        self._require_approver(viewer, sheet)
        earlier = next((vote for vote in sheet.votes if vote.approver == viewer.subject), None)
        if earlier and earlier.choice is choice and sheet.approval.revision == revision:
            return _outcome(sheet, earlier, repeated=True)
        self._require_open(sheet, revision, intent_hash)
        if earlier:
            raise DecisionRefused("vote_already_cast")
        if choice is Choice.DENY and not reason:
            raise DecisionRefused("decision_reason_required")
        return self._count(sheet, viewer, choice, reason)

    async def resolve(self, viewer: Principal, operation_id: str, word: Resolution) -> None:
        sheet = await self.operation(viewer, operation_id)
        refusal = "not_found" if sheet is None else refusal_of_operator(viewer, viewer.tenant, sheet.line.requester)
        if sheet is None or refusal is not None:
            raise ResolutionRefused(refusal)
        require_grounds(word)
        if sheet.line.state is not State.MANUAL_REVIEW:
            raise ResolutionRefused("resolution_not_open")
        if word.generation != sheet.generation:
            raise ResolutionRefused("resolution_stale")
        if self.resolutions.setdefault(operation_id, word) != word:
            raise ResolutionRefused("resolution_already_given")

    async def operations(self, viewer: Principal, state: State | None = None, after: str = "") -> OperationList:
        mine = [sheet.line for key, sheet in self.operation_sheets.items() if key.startswith(f"{viewer.tenant}/")]
        wanted = [line for line in mine if state is None or line.state is state]
        newest_first = sorted(wanted, key=lambda line: line.created_at, reverse=True)
        start = int(after or 0)
        following = str(start + PAGE) if len(newest_first) > start + PAGE else ""
        return OperationList(tuple(newest_first[start : start + PAGE]), following)

    async def operation(self, viewer: Principal, operation_id: str) -> OperationSheet | None:
        return self.operation_sheets.get(f"{viewer.tenant}/{operation_id}")

    def _require_approver(self, viewer: Principal, sheet: ApprovalSheet) -> None:
        asked = sheet.requester
        refusal = refusal_of_approver(viewer, asked.tenant, asked.subject, sheet.approval.approver_role)
        if refusal:
            raise DecisionRefused(refusal)

    def _require_open(self, sheet: ApprovalSheet, revision: int, intent_hash: str) -> None:
        approval = sheet.approval
        if approval.state in DECIDED:
            raise DecisionRefused("approval_already_decided")
        if approval.state is ApprovalState.EXPIRED or approval.expires_at <= self.clock():
            raise DecisionRefused("approval_expired")
        shown = (revision, intent_hash)
        if approval.state is ApprovalState.VOID or shown != (approval.revision, approval.binding.intent_hash):
            raise DecisionRefused("approval_stale")

    def _count(self, sheet: ApprovalSheet, viewer: Principal, choice: Choice, reason: str) -> DecisionOutcome:
        decision_id = f"decision-{len(self.attempts)}"
        vote = Vote(decision_id, viewer.subject, viewer.name, choice, reason, self.clock())
        votes = (*sheet.votes, vote)
        state = _state_after(votes, sheet.approval.quorum)
        decided = replace(sheet, votes=votes, approval=replace(sheet.approval, state=state))
        self.ask(decided)
        return _outcome(decided, vote, repeated=False)

    def _waits(self, sheet: ApprovalSheet) -> bool:
        return sheet.approval.state is ApprovalState.PENDING and sheet.approval.expires_at > self.clock()


def _state_after(votes: Sequence[Vote], quorum: int) -> ApprovalState:
    if any(vote.choice is Choice.DENY for vote in votes):
        return ApprovalState.DENIED
    return ApprovalState.GRANTED if len(votes) >= quorum else ApprovalState.PENDING


def _outcome(sheet: ApprovalSheet, vote: Vote, *, repeated: bool) -> DecisionOutcome:
    return DecisionOutcome(vote, sheet.approval.state, _approvals(sheet), sheet.approval.quorum, repeated)


def _approvals(sheet: ApprovalSheet) -> int:
    return sum(vote.choice is Choice.APPROVE for vote in sheet.votes)


def _line(sheet: ApprovalSheet) -> ApprovalLine:
    approval, impact = sheet.approval, sheet.impact
    return ApprovalLine(
        approval_id=approval.approval_id,
        tool=sheet.tool,
        action=impact.action,
        resource=impact.resource,
        money=impact.money,
        count=impact.count,
        reversible=impact.reversible,
        requester=sheet.requester.subject,
        agent=sheet.requester.agent,
        asked_at=sheet.asked_at,
        expires_at=approval.expires_at,
        votes=_approvals(sheet),
        quorum=approval.quorum,
    )
