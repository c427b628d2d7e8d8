"""Lines of the audit log about what never became an operation, or did not count: who tried it, and what stopped them.

They name codes, ids and digests. What a model wrote is never among them: a tool is named if it has the form of a name.
"""

import re
from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from adapters.intake.ports import HostedSeen, Judged, Turn
from adapters.postgres import rows
from adapters.postgres.tables import approvals, operations, outbox
from workflows.domain.gate import Verdict
from workflows.domain.principal import Principal

NAME = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
"""What the name of a tool looks like; a model may call anything by anything."""

OWN_ID = re.compile(r"[a-z]{2}_[0-9a-f]{24}")
"""What our ids look like; whoever asks for something may write anything in its place."""


def actor_of(principal: Principal) -> str:
    """Who acts: the agent, or the person themselves."""
    return principal.agent or principal.subject


def subject_of(principal: Principal) -> dict[str, str]:
    """For whom an agent acts, as a detail; nothing where a person acts themselves."""
    return {"subject": principal.subject} if principal.agent else {}


async def proposal_refused(
    connection: AsyncConnection, turn: Turn, call: Judged, verdict: Verdict, delivery_key: str
) -> None:
    """A proposal that a layer of the gate refused before there was an operation; `calls` has it under that key."""
    await rows.note(
        connection,
        turn.principal.tenant,
        actor_of(turn.principal),
        "proposal.refused",
        tool=_named(call.tool),
        layer=verdict.layer.value,
        code=verdict.code,
        surface=turn.surface,
        delivery=delivery_key,
        **subject_of(turn.principal),
    )


async def hosted_ran(
    connection: AsyncConnection, turn: Turn, seen: HostedSeen, code: str | None, delivery_key: str
) -> None:
    """A call that a provider has run itself and that no operation allowed; `hosted_calls` has it under that key."""
    fault = {} if code is None else {"code": code}
    await rows.note(
        connection,
        turn.principal.tenant,
        "provider",
        "hosted.ran",
        tool=_named(seen.tool),
        failed=seen.failed,
        delivery=delivery_key,
        **fault,
    )


async def decision_refused(
    connection: AsyncConnection, viewer: Principal, approval_id: str, code: str, **detail: Any
) -> None:
    """A word on an approval that did not count."""
    wanted = select(approvals.c.operation_id).where(
        approvals.c.approval_id == approval_id, approvals.c.tenant == viewer.tenant
    )
    operation_id = (await connection.execute(wanted)).scalar_one_or_none()
    named = {"approval": approval_id} if OWN_ID.fullmatch(approval_id) else {}
    await _refused(connection, viewer, operation_id, "decision.refused", code=code, **named, **detail)


async def resolution_refused(
    connection: AsyncConnection, viewer: Principal, operation_id: str, code: str, **detail: Any
) -> None:
    """An operator's word on an uncertain effect that did not count."""
    await _refused_on(connection, viewer, operation_id, "resolution.refused", code=code, **detail)


async def put_back_refused(
    connection: AsyncConnection, viewer: Principal, what: str, message_id: int, code: str
) -> None:
    """An attempt to have a message or a notice delivered after all that did not count."""
    wanted = (
        select(outbox.c.operation_id)
        .join_from(outbox, operations)
        .where(outbox.c.message_id == message_id, operations.c.tenant == viewer.tenant)
    )
    operation_id = (await connection.execute(wanted)).scalar_one_or_none()
    await _refused(connection, viewer, operation_id, what, code=code, message=message_id)


async def cancel_refused(connection: AsyncConnection, caller: Principal, operation_id: str) -> None:
    """A wish about an operation that there is not, or not for this caller."""
    await _refused_on(connection, caller, operation_id, "cancel.refused", code="not_found")


async def _refused_on(connection: AsyncConnection, who: Principal, operation_id: str, what: str, **detail: Any) -> None:
    wanted = select(operations.c.operation_id).where(
        operations.c.operation_id == operation_id, operations.c.tenant == who.tenant
    )
    if (await connection.execute(wanted)).one_or_none() is not None:
        await _refused(connection, who, operation_id, what, **detail)
    else:
        named = {"operation": operation_id} if OWN_ID.fullmatch(operation_id) else {}
        await _refused(connection, who, None, what, **named, **detail)


async def _refused(
    connection: AsyncConnection, who: Principal, operation_id: str | None, what: str, **detail: Any
) -> None:
    told = {**detail, **subject_of(who)}
    if operation_id is None:
        await rows.note(connection, who.tenant, actor_of(who), what, **told)
    else:
        await rows.tell(connection, who.tenant, operation_id, actor_of(who), what, **told)


def _named(tool: str) -> str | None:
    return tool if NAME.fullmatch(tool) else None
