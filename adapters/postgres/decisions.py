"""A person's word on an approval: one transaction decides, and whoever comes second is told."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from adapters.http.back_office.ports import DecisionOutcome
from adapters.http.back_office.revisions import Vote
from adapters.postgres import audit_notes, rows
from adapters.postgres.announcing import announce
from adapters.postgres.audit_words import of_decision, of_name
from adapters.postgres.engine import Database
from adapters.postgres.rows import NOW
from adapters.postgres.tables import approvals, decisions, operations
from workflows.domain.approval import ApprovalState, Choice, refusal_of_approver, require_reason
from workflows.domain.errors import DecisionRefused
from workflows.domain.notice import NoticeType
from workflows.domain.principal import Principal

DECIDED = {ApprovalState.GRANTED: NoticeType.GRANTED, ApprovalState.DENIED: NoticeType.DENIED}

CLOSED_CODES = {
    ApprovalState.GRANTED: "approval_already_decided",
    ApprovalState.DENIED: "approval_already_decided",
    ApprovalState.CONSUMED: "approval_already_decided",
    ApprovalState.EXPIRED: "approval_expired",
    ApprovalState.VOID: "approval_stale",
}


@dataclass(frozen=True)
class Wake:
    """What it takes to wake an operation's workflow, or to start it again."""

    operation_id: str
    intent_hash: str
    tool: str
    tenant: str

    def named(self) -> dict[str, str]:
        """For a message of the outbox, which has the operation's id already."""
        return {"intent_hash": self.intent_hash, "tool": self.tool, "tenant": self.tenant}


Nudge = Callable[[Wake], Awaitable[None]]
"""Wakes an operation now; what it fails to wake, the outbox will."""


def nudge_of(approval: Any) -> Wake:
    """Whom a decision on this question wakes."""
    return Wake(approval.operation_id, approval.intent_hash, approval.requested_tool, approval.tenant)


class PostgresDecisions:
    """Counts decisions."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def decide(
        self, viewer: Principal, approval_id: str, choice: Choice, reason: str, revision: int, intent_hash: str
    ) -> tuple[DecisionOutcome, Wake]:
        """Count one person's word; returns what came of it and whom to wake.

        Raises:
            DecisionRefused: the word did not count; see `BackOfficeStore.decide` for the codes and their order.
        """
        try:
            async with self._database.transaction() as connection:
                return await _decided(connection, viewer, approval_id, choice, reason, revision, intent_hash)
        except DecisionRefused as refusal:
            # Every attempt is on record, in a transaction of its own: the one that was refused has left nothing.
            async with self._database.transaction() as connection:
                attempt = {"choice": choice.value, "revision": revision}
                await audit_notes.decision_refused(connection, viewer, approval_id, refusal.code, **attempt)
            raise


async def _decided(
    connection: AsyncConnection,
    viewer: Principal,
    approval_id: str,
    choice: Choice,
    reason: str,
    revision: int,
    intent_hash: str,
) -> tuple[DecisionOutcome, Wake]:
    approval = await _locked(connection, approval_id)
    _require_approver(viewer, approval)
    earlier = await _vote_of(connection, approval, viewer)
    if earlier is not None and earlier.choice is choice and revision == approval.revision:
        await _tell(connection, approval, viewer, "decision.again")
        return replace(await _outcome(connection, approval, earlier), repeated=True), nudge_of(approval)
    _require_open(approval, revision, intent_hash)
    _require_fit(earlier, choice, reason)
    vote = await _cast(connection, approval, viewer, choice, reason)
    return await _count(connection, approval, vote), nudge_of(approval)


async def _locked(connection: AsyncConnection, approval_id: str) -> Any:
    passed = (approvals.c.expires_at <= NOW).label("passed")
    asked = (
        operations.c.subject.label("requester"),
        operations.c.tenant.label("requester_tenant"),
        operations.c.tool.label("requested_tool"),
    )
    statement = (
        select(approvals, passed, *asked)
        .join_from(approvals, operations)
        .where(approvals.c.approval_id == approval_id)
        .with_for_update(of=approvals)
    )
    approval = (await connection.execute(statement)).one_or_none()
    if approval is None:
        raise DecisionRefused("not_found")
    return approval


def _require_approver(viewer: Principal, approval: Any) -> None:
    refusal = refusal_of_approver(viewer, approval.requester_tenant, approval.requester, approval.approver_role)
    if refusal is not None:
        raise DecisionRefused(refusal)


def _require_open(approval: Any, revision: int, intent_hash: str) -> None:
    state = ApprovalState(approval.state)
    if state in CLOSED_CODES:
        raise DecisionRefused(CLOSED_CODES[state])
    if approval.passed:
        raise DecisionRefused("approval_expired")
    if (revision, intent_hash) != (approval.revision, approval.intent_hash):
        raise DecisionRefused("approval_stale")


def _require_fit(earlier: Vote | None, choice: Choice, reason: str) -> None:
    if earlier is not None:
        raise DecisionRefused("vote_already_cast")
    require_reason(choice, reason)


async def _cast(connection: AsyncConnection, approval: Any, viewer: Principal, choice: Choice, reason: str) -> Vote:
    statement = decisions.insert().values(
        approval_id=approval.approval_id,
        approver=viewer.subject,
        approver_name=viewer.name or viewer.subject,
        choice=choice.value,
        reason=reason,
    )
    try:
        row = (await connection.execute(statement.returning(decisions))).one()
    except IntegrityError:
        raise DecisionRefused("vote_already_cast") from None
    # Their reason stays where it is; changed there, it is no longer what this line says.
    digests = {"said": of_decision(row), "named": of_name(row.approver, row.approver_name)}
    await _tell(connection, approval, viewer, f"decision.{choice.value}", **digests)
    return _vote(row)


async def _tell(connection: AsyncConnection, approval: Any, viewer: Principal, what: str, **detail: str) -> None:
    named = {"approval": approval.approval_id, **detail}
    await rows.tell(connection, approval.tenant, approval.operation_id, viewer.subject, what, **named)


async def _count(connection: AsyncConnection, approval: Any, vote: Vote) -> DecisionOutcome:
    approving = await _approving(connection, approval.approval_id)
    state = ApprovalState.PENDING
    if vote.choice is Choice.DENY:
        state = ApprovalState.DENIED
    elif approving >= approval.quorum:
        state = ApprovalState.GRANTED
    if state is not ApprovalState.PENDING:
        await connection.execute(
            update(approvals)
            .where(approvals.c.approval_id == approval.approval_id)
            .values(state=state.value, ended_at=NOW if state is ApprovalState.DENIED else None)
        )
        # First of the two: it goes out in this order, and a nudge may have to wait for Temporal.
        await announce(connection, DECIDED[state], approval.operation_id, approval.approval_id)
        await rows.post(connection, approval.operation_id, "nudge", **nudge_of(approval).named())
    return DecisionOutcome(vote, state, approving, approval.quorum)


async def _outcome(connection: AsyncConnection, approval: Any, vote: Vote) -> DecisionOutcome:
    approving = await _approving(connection, approval.approval_id)
    state = ApprovalState(approval.state)
    if approval.passed and state in (ApprovalState.PENDING, ApprovalState.GRANTED):
        # Nobody has noticed yet that its time is over; whoever waits for others would wait in vain.
        state = ApprovalState.EXPIRED
    return DecisionOutcome(vote, state, approving, approval.quorum)


async def _approving(connection: AsyncConnection, approval_id: str) -> int:
    statement = (
        select(func.count())
        .select_from(decisions)
        .where(decisions.c.approval_id == approval_id, decisions.c.choice == Choice.APPROVE.value)
    )
    number: int = (await connection.execute(statement)).scalar_one()
    return number


async def _vote_of(connection: AsyncConnection, approval: Any, viewer: Principal) -> Vote | None:
    statement = select(decisions).where(
        decisions.c.approval_id == approval.approval_id, decisions.c.approver == viewer.subject
    )
    row = (await connection.execute(statement)).one_or_none()
    return None if row is None else _vote(row)


async def votes_on(connection: AsyncConnection, approval_id: str) -> tuple[Vote, ...]:
    """All votes on one question, the oldest first."""
    statement = select(decisions).where(decisions.c.approval_id == approval_id).order_by(decisions.c.decision_id)
    return tuple(_vote(row) for row in await connection.execute(statement))


def _vote(row: Any) -> Vote:
    return Vote(str(row.decision_id), row.approver, row.approver_name, Choice(row.choice), row.reason, row.at)
