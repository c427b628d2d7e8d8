"""Evidence for tests: which refund requests reached us, and what they did.

The outcome of a post is `received` until it is decided, then `executed`, `replayed`, the code of the refusal, or the
name of the switch that stopped it before anything was done.
"""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from sqlalchemy import Table, insert, select, text, update
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from examples.payments_provider.tables import posts, refunds


async def record_post(
    engine: AsyncEngine, at: datetime, key: str | None, client_reference: str | None, fault: str | None
) -> int:
    """Committed before anything else is done, so that no fault can lose it."""
    async with engine.begin() as books:
        await _without_waiting_for_the_disk(books)
        added = await books.execute(
            insert(posts)
            .values(at=at, idempotency_key=key, client_reference=client_reference, outcome="received", fault=fault)
            .returning(posts.c.post_id)
        )
        post_id: int = added.scalar_one()
        return post_id


async def settle_post(books: AsyncConnection, post_id: int, outcome: str, refund_id: str | None = None) -> None:
    """In the refund's own transaction this makes evidence and effect agree."""
    await books.execute(update(posts).where(posts.c.post_id == post_id).values(outcome=outcome, refund_id=refund_id))


async def settle_refused_post(engine: AsyncEngine, post_id: int, outcome: str) -> None:
    """For posts without an effect, whose own transaction has been rolled back or never begun."""
    async with engine.begin() as books:
        await _without_waiting_for_the_disk(books)
        await settle_post(books, post_id, outcome)


async def read_ledger(books: AsyncConnection, client_reference: str | None) -> dict[str, Any]:
    """Posts, refunds and the number of effects per reference and per key."""
    made = await _read(books, refunds, client_reference, "created_at")
    return {
        "posts": await _read(books, posts, client_reference, "post_id"),
        "refunds": made,
        "effects_by_client_reference": _count(row["client_reference"] for row in made),
        "effects_by_key": _count(row["idempotency_key"] for row in made),
    }


async def _read(books: AsyncConnection, table: Table, client_reference: str | None, order: str) -> list[dict[str, Any]]:
    wanted = select(table).order_by(table.c[order])
    if client_reference is not None:
        wanted = wanted.where(table.c.client_reference == client_reference)
    return [row._asdict() for row in await books.execute(wanted)]


def _count(names: Iterable[str]) -> dict[str, int]:
    return dict(Counter(names))


async def _without_waiting_for_the_disk(books: AsyncConnection) -> None:
    """Evidence only has to outlive this process, not the database server; the money has its own, patient commit."""
    await books.execute(text("SET LOCAL synchronous_commit = off"))
