"""Holding what others need, for as long as a test needs it held."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sqlalchemy import text

from adapters.postgres.engine import Database


@asynccontextmanager
async def locked(database: Database, statement: str, **values: object) -> AsyncIterator[None]:
    """What `statement` locks stays locked until the block ends, however slow the machine is."""
    async with database.transaction() as connection:
        await connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))
        await connection.execute(text(statement), values)
        yield
