"""The tools that a search has brought up in a conversation."""

from collections.abc import Collection

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from adapters.postgres.tables import discoveries


async def found_in(connection: AsyncConnection, lineage: str) -> frozenset[str]:
    """The tools that have been found in this conversation."""
    rows = await connection.execute(select(discoveries.c.tool).where(discoveries.c.lineage == lineage))
    return frozenset(row.tool for row in rows)


async def keep_found(connection: AsyncConnection, lineage: str, tools: Collection[str]) -> None:
    """Remember these tools for the conversation, in the caller's transaction."""
    if tools:
        found = [{"lineage": lineage, "tool": tool} for tool in sorted(tools)]
        await connection.execute(insert(discoveries).values(found).on_conflict_do_nothing())
