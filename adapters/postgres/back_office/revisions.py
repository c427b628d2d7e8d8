"""What came before: the revision before a question, and what happened to all of them."""

from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from adapters.http.back_office.revisions import ApprovalEvent, EarlierRevision
from adapters.postgres.back_office.impacts import impact_from
from adapters.postgres.decisions import votes_on
from adapters.postgres.tables import approvals, events
from workflows.domain.approval import Approval, ApprovalState, Binding

TOLD = [f"approval.{what}" for what in ("asked", "expired", "void", "consumed")]
TOLD += [f"decision.{choice}" for choice in ("approve", "deny")]
"""Events of the timeline that belong to a question's history; attempts that did not count are in the audit log."""


async def earlier(connection: AsyncConnection, operation_id: str, revision: int) -> EarlierRevision | None:
    """The newest revision before this one, with who had said what to it."""
    before = (approvals.c.operation_id == operation_id) & (approvals.c.revision < revision)
    statement = select(approvals).where(before).order_by(approvals.c.revision.desc()).limit(1)
    row = (await connection.execute(statement)).one_or_none()
    if row is None:
        return None
    approval = approval_from(row, ApprovalState(row.state))
    return EarlierRevision(approval, impact_from(row.impact), await votes_on(connection, row.approval_id))


async def history(connection: AsyncConnection, operation_id: str) -> tuple[ApprovalEvent, ...]:
    """What happened to each revision, the oldest event first."""
    named = events.c.detail["approval"].astext == approvals.c.approval_id
    statement = (
        select(events.c.at, events.c.actor, events.c.what, approvals.c.revision)
        .join_from(events, approvals, named & (approvals.c.operation_id == operation_id))
        .where(events.c.operation_id == operation_id, events.c.what.in_(TOLD))
        .order_by(events.c.event_id)
    )
    return tuple(ApprovalEvent(*row) for row in await connection.execute(statement))


def approval_from(row: Any, state: ApprovalState) -> Approval:
    """A question from its row, in the state in which it really is."""
    return Approval(
        approval_id=row.approval_id,
        operation_id=row.operation_id,
        revision=row.revision,
        state=state,
        binding=Binding(row.intent_hash, row.resource_version, row.policy_version),
        approver_role=row.approver_role,
        quorum=row.quorum,
        expires_at=row.expires_at,
    )
