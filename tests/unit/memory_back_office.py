"""The back office's store in memory: the same rules as the real one, nothing kept."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from adapters.http.back_office.lists import (
    EVERY_OPERATION,
    EVERY_QUESTION,
    PAGE,
    ApprovalList,
    HeldMessage,
    HeldMessages,
    HeldNotice,
    HeldNotices,
    OperationLine,
    OperationList,
    OperationQuery,
    PendingQuery,
    Stuck,
    StuckWork,
)
from adapters.http.back_office.ports import ApprovalSheet, DecisionOutcome, OperationSheet
from adapters.http.back_office.revisions import ApprovalEvent, EarlierRevision, Vote
from tests.unit import memory_lists
from tests.unit.memory_lists import approving
from workflows.domain.approval import ApprovalState, Choice, refusal_of_approver, require_reason
from workflows.domain.errors import DecisionRefused, RequeueRefused, ResolutionRefused
from workflows.domain.lifecycle import State
from workflows.domain.principal import Principal
from workflows.domain.resolution import OPERATOR_ROLE, Resolution, refusal_of_operator, require_grounds

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)

DECIDED = {ApprovalState.GRANTED, ApprovalState.DENIED, ApprovalState.CONSUMED}


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
    """Keeps sheets in dictionaries. `attempts` lists every decision that was tried, counted or not.

    `held` are the messages that were set aside and `untold` the notices, each with its operation's requester; `names`
    are the ids of the calls and responses that became an operation.
    """

    clock: StandingClock
    approvals: dict[str, ApprovalSheet] = field(default_factory=dict)
    operation_sheets: dict[str, OperationSheet] = field(default_factory=dict)
    attempts: list[tuple[str, str, str]] = field(default_factory=list)
    resolutions: dict[str, Resolution] = field(default_factory=dict)
    held: dict[int, tuple[str, HeldMessage]] = field(default_factory=dict)
    requeued: list[int] = field(default_factory=list)
    untold: dict[tuple[int, str], tuple[str, HeldNotice]] = field(default_factory=dict)
    retold: list[tuple[int, str]] = field(default_factory=list)
    names: dict[str, set[str]] = field(default_factory=dict)

    def ask(self, sheet: ApprovalSheet) -> None:
        self.approvals[sheet.approval.approval_id] = sheet

    def record(self, sheet: OperationSheet, tenant: str = "tenant-a") -> None:
        self.operation_sheets[f"{tenant}/{sheet.line.operation_id}"] = sheet

    def revise(self, sheet: ApprovalSheet, intent_hash: str) -> ApprovalSheet:
        """The content has changed: a new revision, and no vote on the old one counts."""
        approval = sheet.approval
        shown = self.approvals.get(approval.approval_id, sheet)
        earlier = EarlierRevision(replace(shown.approval, state=ApprovalState.VOID), shown.impact, shown.votes)
        binding = replace(approval.binding, intent_hash=intent_hash)
        approval = replace(approval, revision=approval.revision + 1, binding=binding, state=ApprovalState.PENDING)
        revised = replace(sheet, approval=approval, votes=(), earlier=earlier)
        self.ask(revised)
        return revised

    async def pending(self, viewer: Principal, query: PendingQuery = EVERY_QUESTION) -> ApprovalList:
        return memory_lists.pending(self.approvals.values(), viewer, query, self.clock())

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
            return _outcome(self._as_of_now(sheet), earlier, repeated=True)
        self._require_open(sheet, revision, intent_hash)
        if earlier:
            raise DecisionRefused("vote_already_cast")
        require_reason(choice, reason)
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

    async def operations(self, viewer: Principal, query: OperationQuery = EVERY_OPERATION) -> OperationList:
        return memory_lists.operations(
            self._lines(viewer), query, lambda line: self.names.get(line.operation_id, set())
        )

    async def stuck(self, viewer: Principal) -> StuckWork:
        mine = (sheet for sheet in self.approvals.values() if sheet.requester.tenant == viewer.tenant)
        asked = [sheet for sheet in mine if sheet.approval.state in memory_lists.OPEN]
        groups = [memory_lists.group(why, self._lines(viewer), asked, self.clock()) for why in Stuck]
        operator = OPERATOR_ROLE in viewer.roles and not viewer.agent
        return StuckWork(tuple(groups), *((self._messages(viewer), self._notices(viewer)) if operator else ()))

    async def stuck_number(self, viewer: Principal) -> int:
        return (await self.stuck(viewer)).total

    async def requeue(self, viewer: Principal, message_id: int) -> None:
        requester, message = self.held.get(message_id, ("", None))
        await self._require_operator(viewer, requester, message)
        if message_id in self.requeued:
            raise RequeueRefused("message_not_set_aside")
        self.requeued.append(message_id)

    async def retell(self, viewer: Principal, message_id: int, receiver: str) -> None:
        requester, notice = self.untold.get((message_id, receiver), ("", None))
        await self._require_operator(viewer, requester, notice)
        if (message_id, receiver) in self.retold:
            raise RequeueRefused("message_not_set_aside")
        self.retold.append((message_id, receiver))

    async def operation(self, viewer: Principal, operation_id: str) -> OperationSheet | None:
        return self.operation_sheets.get(f"{viewer.tenant}/{operation_id}")

    async def _require_operator(self, viewer: Principal, requester: str, held: HeldMessage | HeldNotice | None) -> None:
        if held is None or await self.operation(viewer, held.operation_id) is None:
            raise RequeueRefused("not_found")
        refusal = refusal_of_operator(viewer, viewer.tenant, requester)
        if refusal is not None:
            raise RequeueRefused(refusal)

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

    def _as_of_now(self, sheet: ApprovalSheet) -> ApprovalSheet:
        approval = sheet.approval
        if approval.state not in memory_lists.OPEN or approval.expires_at > self.clock():
            return sheet
        return replace(sheet, approval=replace(approval, state=ApprovalState.EXPIRED))

    def _count(self, sheet: ApprovalSheet, viewer: Principal, choice: Choice, reason: str) -> DecisionOutcome:
        decision_id = f"decision-{len(self.attempts)}"
        vote = Vote(decision_id, viewer.subject, viewer.name, choice, reason, self.clock())
        votes = (*sheet.votes, vote)
        state = _state_after(votes, sheet.approval.quorum)
        event = ApprovalEvent(self.clock(), viewer.subject, f"decision.{choice.value}", sheet.approval.revision)
        history = (*sheet.history, event)
        decided = replace(sheet, votes=votes, history=history, approval=replace(sheet.approval, state=state))
        self.ask(decided)
        return _outcome(decided, vote, repeated=False)

    def _lines(self, viewer: Principal) -> list[OperationLine]:
        return [sheet.line for key, sheet in self.operation_sheets.items() if key.startswith(f"{viewer.tenant}/")]

    def _messages(self, viewer: Principal) -> HeldMessages:
        mine = {line.operation_id for line in self._lines(viewer)}
        kept = {number: message for number, (_, message) in self.held.items() if number not in self.requeued}
        lines = [message for _, message in sorted(kept.items()) if message.operation_id in mine]
        return HeldMessages(len(lines), tuple(lines[:PAGE]))

    def _notices(self, viewer: Principal) -> HeldNotices:
        mine = {line.operation_id for line in self._lines(viewer)}
        kept = [notice for which, (_, notice) in sorted(self.untold.items()) if which not in self.retold]
        lines = [notice for notice in kept if notice.operation_id in mine]
        return HeldNotices(len(lines), tuple(lines[:PAGE]))


def _state_after(votes: Sequence[Vote], quorum: int) -> ApprovalState:
    if any(vote.choice is Choice.DENY for vote in votes):
        return ApprovalState.DENIED
    return ApprovalState.GRANTED if len(votes) >= quorum else ApprovalState.PENDING


def _outcome(sheet: ApprovalSheet, vote: Vote, *, repeated: bool) -> DecisionOutcome:
    return DecisionOutcome(vote, sheet.approval.state, approving(sheet), sheet.approval.quorum, repeated)
