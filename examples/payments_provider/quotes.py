"""Quotes: an offer to refund a stated amount of a stated payment. A quote moves no money."""

from datetime import datetime, timedelta
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StrictInt
from sqlalchemy import Row, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from examples.payments_provider.orders import MAX_AMOUNT, Order, read_order
from examples.payments_provider.refusals import Refusal
from examples.payments_provider.tables import quotes


class QuoteRequest(BaseModel):
    """What the caller would like to refund; `amount` in the currency's minor unit."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    order_id: str = Field(min_length=1)
    amount: StrictInt = Field(gt=0, le=MAX_AMOUNT)
    currency: str


class Quote(BaseModel):
    """An offer as it stood at the moment of reading; `refundable` is that of the moment it was given."""

    model_config = ConfigDict(frozen=True)

    quote_id: str
    version: int
    order_id: str
    payment_id: str
    payment_version: int
    merchant: str
    amount: int
    currency: str
    refundable: int
    expires_at: datetime
    state: Literal["open", "consumed", "expired"]

    @classmethod
    def from_row(cls, row: Row[Any], now: datetime) -> Self:
        """The quote as it is at the moment `now`."""
        return cls(state=state_of(row.consumed_at, row.expires_at, now), **row._asdict())


def state_of(
    consumed_at: datetime | None, expires_at: datetime, now: datetime
) -> Literal["open", "consumed", "expired"]:
    """A used quote stays used, whatever the clock says."""
    if consumed_at is not None:
        return "consumed"
    return "expired" if now >= expires_at else "open"


async def give_quote(books: AsyncConnection, asked: QuoteRequest, lifetime: timedelta, now: datetime) -> Quote:
    """Checks what can be checked now and writes the offer down."""
    order = await read_order(books, asked.order_id)
    _require_possible(order, asked)
    given = await books.execute(
        insert(quotes).values(expires_at=now + lifetime, **_terms(order, asked.amount)).returning(quotes)
    )
    return Quote.from_row(given.one(), now)


async def read_quote(books: AsyncConnection, quote_id: str, now: datetime, *, lock: bool = False) -> Quote:
    """The quote; with `lock` nobody else can use it until the transaction ends."""
    wanted = select(quotes).where(quotes.c.quote_id == quote_id)
    row = (await books.execute(wanted.with_for_update() if lock else wanted)).one_or_none()
    if row is None:
        raise Refusal("not_found", f"There is no quote {quote_id}.")
    return Quote.from_row(row, now)


async def consume(books: AsyncConnection, quote_id: str, now: datetime) -> None:
    """A quote is good for one refund."""
    await books.execute(update(quotes).where(quotes.c.quote_id == quote_id).values(consumed_at=now))


async def keep_open(books: AsyncConnection, quote_id: str, payment_version: int) -> None:
    """For experiments: the quote may be used again, so it follows the payment past its own refund."""
    await books.execute(update(quotes).where(quotes.c.quote_id == quote_id).values(payment_version=payment_version))


async def order_of(books: AsyncConnection, quote_id: str | None) -> str | None:
    """The order that a quote is about, if there is such a quote."""
    order_id: str | None = await books.scalar(select(quotes.c.order_id).where(quotes.c.quote_id == quote_id))
    return order_id


def _require_possible(order: Order, asked: QuoteRequest) -> None:
    if asked.currency != order.currency:
        raise Refusal("currency_mismatch", f"Order {order.order_id} was paid in {order.currency}.")
    if asked.amount > order.payment.refundable:
        raise Refusal("amount_exceeds_refundable", f"At most {order.payment.refundable} can be refunded.")


def _terms(order: Order, amount: int) -> dict[str, object]:
    return {
        "order_id": order.order_id,
        "payment_id": order.payment.payment_id,
        "payment_version": order.payment.version,
        "merchant": order.merchant,
        "amount": amount,
        "currency": order.currency,
        "refundable": order.payment.refundable,
    }
