"""What providers have run themselves: recorded once, and checked against what was allowed."""

from typing import Any

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from adapters.intake.ports import HostedSeen, Turn
from adapters.postgres import rows
from adapters.postgres.audit_notes import hosted_ran
from adapters.postgres.tables import calls, hosted_calls, operations
from workflows.domain.intent import digest
from workflows.domain.lifecycle import State

PROVIDER = "provider"
"""The actor of what a provider did."""

UNAPPROVED = "hosted_call_not_approved"


async def keep_hosted(connection: AsyncConnection, turn: Turn) -> None:
    """Record each of the turn's hosted calls, in the caller's transaction; one that is known already stays as it is."""
    await _hold_approvals(connection, turn)
    for place, seen in enumerate(turn.hosted):
        # Ids are the provider's and may come twice: the place tells the calls of one response apart.
        key = digest([turn.request_id, place, seen.item_id])
        if await _is_known(connection, turn, key):
            continue
        allowed_by = await _allowed_by(connection, turn, seen)
        await _keep(connection, turn, seen, key, allowed_by)
        if allowed_by is not None:
            detail = {"tool": seen.tool, "failed": seen.failed}
            await rows.tell(connection, turn.principal.tenant, allowed_by, PROVIDER, "hosted.ran", **detail)
        else:
            await hosted_ran(connection, turn, seen, _fault(seen, allowed_by), key)


async def _hold_approvals(connection: AsyncConnection, turn: Turn) -> None:
    """One approval is one run, so whoever wants to run under it queues."""
    named = {seen.approved_under for seen in turn.hosted if seen.approved_under is not None}
    for name in sorted(digest([turn.principal.tenant, each]) for each in named):
        await rows.hold(connection, name)


async def _is_known(connection: AsyncConnection, turn: Turn, key: str) -> bool:
    mine = (hosted_calls.c.tenant == turn.principal.tenant) & (hosted_calls.c.delivery_key == key)
    return (await connection.execute(select(hosted_calls.c.item_id).where(mine))).one_or_none() is not None


async def _keep(connection: AsyncConnection, turn: Turn, seen: HostedSeen, key: str, allowed_by: str | None) -> None:
    await connection.execute(
        insert(hosted_calls)
        .values(
            tenant=turn.principal.tenant,
            delivery_key=key,
            request_id=turn.request_id,
            surface=turn.surface,
            item_id=seen.item_id,
            kind=seen.kind,
            server=seen.server,
            tool=seen.tool,
            failed=seen.failed,
            code=_fault(seen, allowed_by),
            operation_id=allowed_by,
        )
        .on_conflict_do_nothing()
    )


def _fault(seen: HostedSeen, allowed_by: str | None) -> str | None:
    return seen.code or (UNAPPROVED if seen.needs_approval and allowed_by is None else None)


async def _allowed_by(connection: AsyncConnection, turn: Turn, seen: HostedSeen) -> str | None:
    """The operation that has allowed this very call under the request that it names, and no other call before."""
    if seen.approved_under is None or seen.code is not None:
        return None
    used = select(hosted_calls.c.item_id).where(hosted_calls.c.operation_id == operations.c.operation_id).exists()
    asked: Any = (
        calls.c.hosted
        & (calls.c.tenant == turn.principal.tenant)
        & (func.md5(calls.c.call_id) == func.md5(seen.approved_under))
        & (calls.c.call_id == seen.approved_under)
        & (calls.c.proposal_hash == seen.fingerprint)
        & (operations.c.subject == turn.principal.subject)
        & (operations.c.agent == turn.principal.agent)
        & (operations.c.state == State.SUCCEEDED.value)
        & ~used
    )
    found = select(operations.c.operation_id).join_from(calls, operations).where(asked).limit(1)
    operation_id: str | None = (await connection.execute(found)).scalar_one_or_none()
    return operation_id
