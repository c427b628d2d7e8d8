"""Questions to the approvers, as the gate asks and reads them."""

import secrets
from dataclasses import asdict
from datetime import timedelta
from typing import Any

from sqlalchemy import bindparam, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from adapters.postgres import rows
from adapters.postgres.announcing import announce
from adapters.postgres.engine import Database
from adapters.postgres.rows import NOW
from adapters.postgres.standing import EXECUTOR, locked, named, step
from adapters.postgres.tables import approvals
from workflows.domain.approval import ApprovalState, Binding, Plea, Question
from workflows.domain.lifecycle import State
from workflows.domain.notice import NoticeType
from workflows.domain.operation import Operation

OPEN = [ApprovalState.PENDING.value, ApprovalState.GRANTED.value]

CLOSED = {ApprovalState.EXPIRED: NoticeType.EXPIRED, ApprovalState.VOID: NoticeType.VOID}


class PostgresApprovals:
    """Fits `activities.ports.Approvals`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def latest(self, operation_id: str) -> Question | None:
        """Return the newest question; one whose time has passed unused is marked expired first."""
        found = await self._database.rows(_NEWEST, named(operation_id))
        if found and found[0].state in OPEN and found[0].seconds_left <= 0:
            # No older one is open: there is never more than one.
            async with self._database.transaction() as connection:
                await expire(connection, operation_id)
                return _question(await _latest(connection, operation_id))
        return _question(found[0]) if found else None

    async def ask(self, operation: Operation, plea: Plea) -> Question:
        """Open a question, step the operation to awaiting_approval and put the notice in the outbox."""
        async with self._database.transaction() as connection:
            stored = await locked(connection, operation.operation_id)
            latest = await _latest(connection, operation.operation_id)
            if latest is not None and latest.state in OPEN:
                # Another attempt of this same step has asked already.
                return _question(latest)
            await _open(connection, operation, plea, revision=1 if latest is None else latest.revision + 1)
            current = State(stored.state)
            if current is not State.AWAITING_APPROVAL:
                tenant = operation.principal.tenant
                await step(connection, tenant, operation.operation_id, current, State.AWAITING_APPROVAL)
            opened = await _latest(connection, operation.operation_id)
            await announce(connection, NoticeType.ASKED, operation.operation_id, opened.approval_id)
            return _question(opened)

    async def void(self, approval_id: str) -> ApprovalState:
        """Take an open question or an unused grant back; returns how it stands then."""
        this = approvals.c.approval_id == approval_id
        async with self._database.transaction() as connection:
            await _close(connection, this, ApprovalState.VOID)
            return ApprovalState((await connection.execute(select(approvals.c.state).where(this))).scalar_one())


async def expire(connection: AsyncConnection, operation_id: str) -> None:
    """Close what nobody decided, or used, in time; in the caller's transaction."""
    passed = (approvals.c.operation_id == operation_id) & (approvals.c.expires_at <= NOW)
    await _close(connection, passed, ApprovalState.EXPIRED)


async def void_open(connection: AsyncConnection, operation_id: str) -> None:
    """Take back whatever is still open of an operation that ends; in the caller's transaction."""
    await _close(connection, approvals.c.operation_id == operation_id, ApprovalState.VOID)


async def _close(connection: AsyncConnection, which: Any, state: ApprovalState) -> None:
    closed = await connection.execute(
        update(approvals)
        .where(which, approvals.c.state.in_(OPEN))
        .values(state=state.value, ended_at=NOW)
        .returning(approvals.c.tenant, approvals.c.operation_id, approvals.c.approval_id)
    )
    notice = CLOSED[state]
    for row in closed.all():
        await rows.tell(connection, row.tenant, row.operation_id, EXECUTOR, notice.value, approval=row.approval_id)
        await announce(connection, notice, row.operation_id, row.approval_id)


async def _open(connection: AsyncConnection, operation: Operation, plea: Plea, revision: int) -> None:
    approval_id = f"ap_{secrets.token_hex(12)}"
    tenant, operation_id = operation.principal.tenant, operation.operation_id
    await rows.later(
        connection,
        approvals.insert().values(
            approval_id=approval_id,
            operation_id=operation_id,
            tenant=tenant,
            revision=revision,
            state=ApprovalState.PENDING.value,
            intent_hash=plea.binding.intent_hash,
            resource_version=plea.binding.resource_version,
            policy_version=plea.binding.policy_version,
            approver_role=plea.rule.approver_role,
            quorum=plea.rule.quorum,
            impact=asdict(plea.impact),
            why=plea.why,
            expires_at=NOW + timedelta(seconds=plea.rule.expires_seconds),
        ),
    )
    await rows.tell(connection, tenant, operation_id, EXECUTOR, "approval.asked", approval=approval_id)


async def _latest(connection: AsyncConnection, operation_id: str) -> Any:
    return (await connection.execute(_NEWEST, named(operation_id))).one_or_none()


_NEWEST = (
    select(approvals, func.extract("epoch", approvals.c.expires_at - NOW).label("seconds_left"))
    .where(approvals.c.operation_id == bindparam("named"))
    .order_by(approvals.c.revision.desc())
    .limit(1)
)


def _question(row: Any) -> Question:
    return Question(
        approval_id=row.approval_id,
        state=ApprovalState(row.state),
        binding=Binding(row.intent_hash, row.resource_version, row.policy_version),
        seconds_left=max(0.0, float(row.seconds_left)),
        approver_role=row.approver_role,
        items={item["id"]: item["version"] for item in row.impact.get("items", ())},
    )
