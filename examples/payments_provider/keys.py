"""Idempotency keys: the same key with the same request gets the same answer, as long as the key is remembered.

Only refunds are remembered. A refusal leaves the key unused, so the same request may be tried again under it.
"""

import hashlib
import json
from datetime import datetime
from typing import Any

from pydantic import BaseModel
from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from examples.payments_provider.refusals import Refusal
from examples.payments_provider.tables import idempotency_keys

MAX_KEY_LENGTH = 255
"""In characters; what payment services commonly accept."""


def require_key(key: str | None) -> str:
    """The key, or a refusal to work without one."""
    if not key:
        raise Refusal("idempotency_key_required", "A refund needs the header Idempotency-Key.")
    if len(key) > MAX_KEY_LENGTH:
        raise Refusal("invalid_request", f"Idempotency-Key is longer than {MAX_KEY_LENGTH} characters.")
    return key


def request_hash(asked: BaseModel) -> str:
    """The same for two bodies that mean the same, whatever their spacing and order of fields."""
    return hashlib.sha256(json.dumps(asked.model_dump(), sort_keys=True).encode()).hexdigest()


def in_flight(key: str) -> Refusal:
    """For a repeat that comes before the first request is through."""
    return Refusal("idempotency_in_flight", f"A request with the key {key} is still being processed.")


async def claim(books: AsyncConnection, key: str) -> None:
    """One transaction at a time per key. The lock goes with the transaction, so a crash leaves no key in flight."""
    if not await books.scalar(select(func.pg_try_advisory_xact_lock(func.hashtextextended(key, 0)))):
        raise in_flight(key)


async def recall(
    books: AsyncConnection, key: str, asked: BaseModel, remembered_since: datetime
) -> dict[str, Any] | None:
    """The stored answer; None for a key that is new or was last used before `remembered_since`."""
    known = select(idempotency_keys).where(
        idempotency_keys.c.idempotency_key == key, idempotency_keys.c.remembered_at > remembered_since
    )
    row = (await books.execute(known)).one_or_none()
    if row is None:
        return None
    if row.request_hash != request_hash(asked):
        raise Refusal("idempotency_conflict", f"The key {key} was used for another request.")
    answer: dict[str, Any] = row.answer
    return answer


async def remember(books: AsyncConnection, key: str, asked: BaseModel, answer: dict[str, Any], now: datetime) -> None:
    """Stores the answer; a forgotten key's row is written over."""
    columns = {
        "request_hash": request_hash(asked),
        "refund_id": answer["refund_id"],
        "answer": answer,
        "remembered_at": now,
    }
    await books.execute(
        insert(idempotency_keys)
        .values(idempotency_key=key, **columns)
        .on_conflict_do_update(index_elements=["idempotency_key"], set_=columns)
    )
