"""The orders that every demo starts from."""

from datetime import UTC, datetime
from typing import Final, NamedTuple

from sqlalchemy import exists, insert, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from examples.payments_provider.tables import (
    metadata,
    orders,
    payment_numbers,
    payments,
    quote_numbers,
    refund_numbers,
)

PLACED_AT: Final = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
"""One fixed moment, so that two runs of a demo print the same orders."""


class SeedOrder(NamedTuple):
    """An order with the one payment that paid for it."""

    number: int
    merchant: str
    customer: str
    amount: int
    currency: str
    title: str
    refunded: int = 0


ORDERS: Final = (
    SeedOrder(17, "tenant-a", "user-17", 12_000, "KRW", "Ceramic mug"),
    SeedOrder(18, "tenant-a", "user-17", 5_000, "KRW", "Tea towel"),
    SeedOrder(19, "tenant-a", "user-19", 3_000_000, "KRW", "Espresso machine"),
    SeedOrder(20, "tenant-a", "user-20", 25_50, "USD", "Travel cup"),
    SeedOrder(21, "tenant-b", "user-21", 12_000, "KRW", "Notebook"),
    # Refunded in part before these books began: there is no refund row for it.
    SeedOrder(22, "tenant-a", "user-22", 20_000, "KRW", "Pour-over set", refunded=8_000),
)


async def is_empty(books: AsyncConnection) -> bool:
    """Whether these books have never been written in."""
    return not await books.scalar(select(exists().select_from(orders)))


async def plant(books: AsyncConnection) -> None:
    """Writes the seed orders."""
    await books.execute(insert(payments), [_payment(order) for order in ORDERS])
    await books.execute(insert(orders), [_order(order) for order in ORDERS])


async def replant(books: AsyncConnection) -> None:
    """Forgets everything that has happened and starts again, numbers included."""
    tables = ", ".join(str(table) for table in metadata.sorted_tables)
    await books.execute(text(f"TRUNCATE {tables} RESTART IDENTITY"))
    for sequence in (refund_numbers, quote_numbers, payment_numbers):
        await books.execute(text(f"ALTER SEQUENCE {sequence.schema}.{sequence.name} RESTART"))
    await plant(books)


def _payment(order: SeedOrder) -> dict[str, object]:
    return {"payment_id": f"pay-{order.number}", "amount": order.amount, "refunded": order.refunded}


def _order(order: SeedOrder) -> dict[str, object]:
    return {
        "order_id": f"O-{order.number}",
        "merchant": order.merchant,
        "customer": order.customer,
        "currency": order.currency,
        "payment_id": f"pay-{order.number}",
        "items": [{"title": order.title, "quantity": 1, "amount": order.amount}],
        "placed_at": PLACED_AT,
    }
