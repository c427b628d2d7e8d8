"""What providers have run themselves: recorded once, and checked against what was allowed."""

from typing import Any

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from adapters.intake.ports import HostedSeen, Turn
from adapters.postgres import rows
from adapters.postgres.tables import calls, hosted_calls, operations
from workflows.domain.intent import digest
from workflows.domain.lifecycle import State

PROVIDER = "provider"
"""The actor of what a provider did."""

UNAPPROVED = "hosted_call_not_approved"


async def keep_hosted(connection: AsyncConnection, turn: Turn) -> None:
    """Record each of the turn's hosted calls, in the caller's transaction; one that is known already stays as it is."""
    for seen in turn.hosted:
        allowed_by = await _allowed_by(connection, turn, seen)
        if await _keep(connection, turn, seen, allowed_by) and allowed_by is not None:
            detail = {"tool": seen.tool, "failed": seen.failed}
            await rows.tell(connection, turn.principal.tenant, allowed_by, PROVIDER, "hosted.ran", **detail)


async def _keep(connection: AsyncConnection, turn: Turn, seen: HostedSeen, allowed_by: str | None) -> bool:
    code = seen.code or (UNAPPROVED if seen.needs_approval and allowed_by is None else None)
    statement = (
        insert(hosted_calls)
        .values(
            tenant=turn.principal.tenant,
            delivery_key=digest([turn.request_id, seen.item_id]),
            request_id=turn.request_id,
            surface=turn.surface,
            item_id=seen.item_id,
            kind=seen.kind,
            server=seen.server,
            tool=seen.tool,
            failed=seen.failed,
            code=code,
            operation_id=allowed_by,
        )
        .on_conflict_do_nothing()
        .returning(hosted_calls.c.item_id)
    )
    return (await connection.execute(statement)).one_or_none() is not None


async def _allowed_by(connection: AsyncConnection, turn: Turn, seen: HostedSeen) -> str | None:
    """The operation that has allowed this very tool under the request to approve that the call names."""
    if seen.approved_under is None:
        return None
    asked: Any = (
        calls.c.hosted
        & (calls.c.tenant == turn.principal.tenant)
        & (func.md5(calls.c.call_id) == func.md5(seen.approved_under))
        & (calls.c.call_id == seen.approved_under)
        & (calls.c.tool == seen.tool)
        & (operations.c.subject == turn.principal.subject)
        & (operations.c.state == State.SUCCEEDED.value)
    )
    found = select(operations.c.operation_id).join_from(calls, operations).where(asked).limit(1)
    operation_id: str | None = (await connection.execute(found)).scalar_one_or_none()
    return operation_id
