"""Where an operation stands: its row, locked, and the steps of its lifecycle with their line in the timeline.

Every transaction that changes an operation, its claim or its approval locks the operation's row first.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row, any_, bindparam, func, select, update
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

STANDING = select(operations, CANCEL_WANTED).where(operations.c.operation_id == bindparam("named"))
"""How an operation's row is read, with whether its caller wants it to stop."""

_LOCKED = STANDING.with_for_update(key_share=True)
_MOVED = update(operations).where(operations.c.operation_id == bindparam("named")).values(updated_at=func.now())


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
    moved = _MOVED.values(**values) if values else _MOVED
    await rows.later(connection, moved, {**named(operation_id), "state": following.value})
    await rows.tell(connection, tenant, operation_id, EXECUTOR, following.value, **({"why": why} if why else {}))


async def hold_words(connection: AsyncConnection, operation_id: str) -> None:
    """Let no operator's word on it come between what the caller reads and what they write."""
    await rows.hold(connection, f"words on {operation_id}")


async def locked(connection: AsyncConnection, operation_id: str) -> Any:
    """The operation's row, locked until the caller's transaction ends; raises `CallRefused("not_found")`."""
    return require_found((await connection.execute(_LOCKED, named(operation_id))).all())


def named(operation_id: str) -> dict[str, str]:
    """The value that `STANDING` is executed with."""
    return {"named": operation_id}


def require_found(found: Sequence[Row[Any]]) -> Any:
    """The only row; raises `CallRefused("not_found")` when there is none."""
    if not found:
        raise CallRefused("not_found")
    return found[0]
