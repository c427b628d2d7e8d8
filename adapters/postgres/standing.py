"""Where an operation stands: its row, locked, and the steps of its lifecycle with their line in the timeline.

Every transaction that changes an operation, its claim or its approval locks the operation's row first.
"""

from typing import Any

from sqlalchemy import any_, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from adapters.postgres import rows
from adapters.postgres.tables import cancellations, operations
from workflows.domain.errors import CallRefused
from workflows.domain.lifecycle import State, advance

EXECUTOR = "executor"
"""The actor of everything that no person did."""

CANCEL_WANTED = (
    select(cancellations.c.operation_id)
    .where(cancellations.c.operation_id == operations.c.operation_id)
    .exists()
    .label("cancel_wanted")
)
"""Beside an operation's row: whether its caller wants it to stop."""

EARLIER = operations.alias("earlier")
OPEN_BEFORE = select(EARLIER.c.operation_id).where(
    EARLIER.c.operation_id == any_(operations.c.after), EARLIER.c.ended_at.is_(None)
)
"""Beside an operation's row: the calls of its turn that come before it and have not ended."""


async def step(
    connection: AsyncConnection,
    tenant: str,
    operation_id: str,
    current: State,
    following: State,
    why: str = "",
    **values: Any,
) -> None:
    """Move one locked operation and tell its timeline, and there `why`, in the caller's transaction."""
    advance(current, following)
    await connection.execute(
        update(operations)
        .where(operations.c.operation_id == operation_id)
        .values(state=following.value, updated_at=func.now(), **values)
    )
    await rows.tell(connection, tenant, operation_id, EXECUTOR, following.value, **({"why": why} if why else {}))


async def hold_words(connection: AsyncConnection, operation_id: str) -> None:
    """Let no operator's word on it come between what the caller reads and what they write."""
    await rows.hold(connection, f"words on {operation_id}")


async def locked(connection: AsyncConnection, operation_id: str) -> Any:
    """Return the operation's row, locked until the caller's transaction ends."""
    return await row_of(connection, operation_id, lock=True)


async def row_of(connection: AsyncConnection, operation_id: str, *, lock: bool = False) -> Any:
    """Return the operation's row; raises `CallRefused("not_found")`."""
    statement = select(operations, CANCEL_WANTED).where(operations.c.operation_id == operation_id)
    row = (await connection.execute(statement.with_for_update(key_share=True) if lock else statement)).one_or_none()
    if row is None:
        raise CallRefused("not_found")
    return row
