"""From rows to the core's values and back."""

import json
from datetime import timedelta
from decimal import Decimal
from typing import Any

from sqlalchemy import CursorResult, DateTime, Executable, Insert, Row, Text, bindparam, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from adapters.postgres.tables import events, operations, outbox, verdicts
from workflows.domain.errors import Detail
from workflows.domain.lifecycle import State
from workflows.domain.operation import Operation
from workflows.domain.principal import Principal

NOW = func.clock_timestamp(type_=DateTime(timezone=True))
"""The database's clock at this statement, not at the transaction's begin: a lock may have been waited for."""

STATEMENT_TIME = func.statement_timestamp(type_=DateTime(timezone=True))
"""The same where rows are looked for: `clock_timestamp` goes on within a statement, so no index is searched by it."""

GRACE = timedelta(seconds=2)
"""How long the relay leaves a start or a nudge to the door, which makes it itself as soon as it has committed."""


async def later(connection: AsyncConnection, statement: Executable, values: Any = None) -> None:
    """Put off a statement whose result nobody needs until the transaction's next one, or its end, is sent.

    The server does it in its place, before that one and under its own snapshot. Its error is raised there. An insert
    that comes with `values` is `inline` already.
    """
    driver = _driver(connection)
    driver.putting_off = True
    try:
        # Nobody waits for the key that was given to a row.
        silent = statement.inline() if isinstance(statement, Insert) and values is None else statement
        await connection.execute(silent, values)
    finally:
        driver.putting_off = False


async def last(connection: AsyncConnection, statement: Executable, values: Any = None) -> CursorResult[Any]:
    """The transaction's last statement, committed in the same breath; whatever it comes to, it is done."""
    driver = _driver(connection)
    driver.ending = True
    try:
        return await connection.execute(statement, values)
    finally:
        driver.ending = False


def _driver(connection: AsyncConnection) -> Any:
    """The `BoundedConnection` behind it."""
    sync: Any = connection.sync_connection
    return sync.connection.driver_connection


KEEP_VERDICTS = verdicts.insert().inline()
"""For `later`, with a list of them."""

_HOLD = select(func.pg_advisory_xact_lock(func.hashtextextended(bindparam("name", type_=Text), 0)))


async def hold(connection: AsyncConnection, name: str) -> None:
    """Let nobody else hold this name until the caller's transaction has ended; whoever wants to queues."""
    await later(connection, _HOLD, {"name": name})


def as_text(value: Any) -> str:
    """JSON for a text column: integers exact, decimals as strings with a tag."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_tagged)


def from_text(value: str) -> Any:
    """The value that `as_text` wrote."""
    return json.loads(value, object_hook=_untagged)


def operation_from(row: Row[Any]) -> Operation:
    """An operation from a row of the operations table."""
    principal = Principal(
        tenant=row.tenant,
        subject=row.subject,
        roles=frozenset(row.roles),
        scopes=frozenset(row.scopes),
        agent=row.agent,
    )
    return Operation(
        operation_id=row.operation_id,
        principal=principal,
        tool=row.tool,
        tool_version=row.tool_version,
        contract_hash=row.contract_hash,
        intent_hash=row.intent_hash,
        arguments=from_text(row.arguments),
        resource=row.resource,
        state=State(row.state),
        code=row.code,
        result=None if row.result is None else from_text(row.result),
        reference=row.reference,
        cancel_wanted=row.cancel_wanted,
        writes=row.writes,
        after=tuple(row.after or ()),
    )


def details_to(details: tuple[Detail, ...]) -> list[dict[str, str]] | None:
    """Details for a JSON column, None when there are none."""
    return [{"path": d.path, "code": d.code, "expected": d.expected} for d in details] or None


def details_from(value: list[dict[str, str]] | None) -> tuple[Detail, ...]:
    """Details from a JSON column."""
    return tuple(Detail(**detail) for detail in value or ())


_ABOUT = {
    name: select(operations.c[name]).where(operations.c.operation_id == bindparam("about")).scalar_subquery()
    for name in ("tool", "resource")
}
_TELL = events.insert().inline().values(**_ABOUT)
"""Made once: an operation is told of half a dozen times, and to build this anew takes longer than to send it."""


async def tell(
    connection: AsyncConnection, tenant: str, operation_id: str, actor: str, what: str, **detail: Any
) -> None:
    """Write one line of the audit log about an operation, in the caller's transaction: its timeline has it too."""
    values = {"tenant": tenant, "operation_id": operation_id, "actor": actor, "what": what, "detail": detail}
    await later(connection, _TELL, {**values, "about": operation_id})


async def note(
    connection: AsyncConnection, tenant: str, actor: str, what: str, *, tool: str | None = None, **detail: Any
) -> None:
    """Write one line of the audit log that belongs to no operation, in the caller's transaction."""
    values = {"tenant": tenant, "actor": actor, "what": what, "detail": detail, "tool": tool}
    await later(connection, events.insert().values(**values))


async def post(connection: AsyncConnection, operation_id: str, kind: str, **payload: Any) -> None:
    """Put a message that wakes somebody in the outbox, in the caller's transaction, for the relay to make good."""
    due = NOW + GRACE
    await later(connection, outbox.insert().values(operation_id=operation_id, kind=kind, payload=payload, due_at=due))


def _tagged(value: Any) -> Any:
    if isinstance(value, Decimal):
        return {"$decimal": str(value)}
    raise TypeError(f"{type(value).__name__} is no JSON value")


def _untagged(value: dict[str, Any]) -> Any:
    return Decimal(value["$decimal"]) if value.keys() == {"$decimal"} else value
