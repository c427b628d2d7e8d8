"""What was set aside undelivered: messages of the outbox, and notices of its events for receivers outside.

An operator puts either back as if it were new; of two operators at once one waits for the other's and is told.
"""

from typing import Any

from sqlalchemy import ColumnElement, FromClause, Select, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from adapters.http.back_office.lists import PAGE, HeldMessage, HeldMessages, HeldNotice, HeldNotices
from adapters.postgres import rows
from adapters.postgres.rows import NOW
from adapters.postgres.tables import notices, operations, outbox
from workflows.domain.errors import RequeueRefused
from workflows.domain.principal import Principal
from workflows.domain.resolution import refusal_of_operator

MESSAGES = outbox.join(operations)
NOTICES = notices.join(outbox).join(operations)

NEW = {"set_aside_at": None, "failure": None, "attempts": 0, "due_at": NOW}
"""What makes of a message, or of a notice, one that was never tried."""


def numbers(viewer: Principal) -> tuple[Select[Any], Select[Any]]:
    """How many messages and how many notices of the viewer's tenant were set aside."""
    return _number(MESSAGES, *_messages_of(viewer)), _number(NOTICES, *_notices_of(viewer))


async def messages(connection: AsyncConnection, viewer: Principal) -> HeldMessages:
    """The oldest messages, and how many there are."""
    of_messages, _ = numbers(viewer)
    total = (await connection.execute(of_messages)).scalar_one()
    page = select(outbox).select_from(MESSAGES).where(*_messages_of(viewer)).order_by(outbox.c.message_id).limit(PAGE)
    return HeldMessages(total, tuple([_message(row) for row in await connection.execute(page)]))


async def notices_of(connection: AsyncConnection, viewer: Principal) -> HeldNotices:
    """The notices of the oldest events, and how many there are."""
    _, of_notices = numbers(viewer)
    total = (await connection.execute(of_notices)).scalar_one()
    told = (notices, outbox.c.operation_id, outbox.c.payload["what"].astext.label("what"))
    in_order = (notices.c.message_id, notices.c.receiver)
    page = select(*told).select_from(NOTICES).where(*_notices_of(viewer)).order_by(*in_order).limit(PAGE)
    return HeldNotices(total, tuple([_notice(row) for row in await connection.execute(page)]))


async def requeue(connection: AsyncConnection, viewer: Principal, message_id: int) -> None:
    """Put one message back."""
    which = (outbox.c.message_id == message_id,)
    found = select(outbox, operations.c.tenant, operations.c.subject).select_from(MESSAGES).where(*which)
    row = await _held(connection, viewer, found.with_for_update(of=outbox))
    await connection.execute(update(outbox).where(*which).values(NEW))
    told = {"message": message_id, "kind": row.kind}
    await rows.tell(connection, row.tenant, row.operation_id, viewer.subject, "outbox.requeued", **told)


async def retell(connection: AsyncConnection, viewer: Principal, message_id: int, receiver: str) -> None:
    """Put one notice back."""
    which = (notices.c.message_id == message_id, notices.c.receiver == receiver)
    of_it = (operations.c.operation_id, operations.c.tenant, operations.c.subject)
    found = select(notices, *of_it).select_from(NOTICES).where(*which)
    row = await _held(connection, viewer, found.with_for_update(of=notices))
    await connection.execute(update(notices).where(*which).values(NEW))
    told = {"message": message_id, "receiver": receiver}
    await rows.tell(connection, row.tenant, row.operation_id, viewer.subject, "notice.retold", **told)


async def _held(connection: AsyncConnection, viewer: Principal, found: Select[Any]) -> Any:
    """The row, locked; raises `RequeueRefused` unless it was set aside and this person may put it back."""
    row = (await connection.execute(found)).one_or_none()
    if row is None:
        raise RequeueRefused("not_found")
    refusal = refusal_of_operator(viewer, row.tenant, row.subject)
    if refusal is not None:
        raise RequeueRefused(refusal)
    if row.set_aside_at is None or row.sent_at is not None:
        raise RequeueRefused("message_not_set_aside")
    return row


def _number(tables: FromClause, *which: ColumnElement[bool]) -> Select[Any]:
    return select(func.count()).select_from(tables).where(*which)


def _messages_of(viewer: Principal) -> tuple[ColumnElement[bool], ...]:
    return outbox.c.set_aside_at.is_not(None), outbox.c.sent_at.is_(None), operations.c.tenant == viewer.tenant


def _notices_of(viewer: Principal) -> tuple[ColumnElement[bool], ...]:
    return notices.c.set_aside_at.is_not(None), operations.c.tenant == viewer.tenant


def _message(row: Any) -> HeldMessage:
    return HeldMessage(
        message_id=row.message_id,
        kind=row.kind,
        operation_id=row.operation_id,
        failure=row.failure or "",
        attempts=row.attempts,
        written_at=row.created_at,
        held_since=row.set_aside_at,
    )


def _notice(row: Any) -> HeldNotice:
    return HeldNotice(
        message_id=row.message_id,
        receiver=row.receiver,
        what=row.what,
        operation_id=row.operation_id,
        failure=row.failure or "",
        attempts=row.attempts,
        written_at=row.created_at,
        held_since=row.set_aside_at,
    )
