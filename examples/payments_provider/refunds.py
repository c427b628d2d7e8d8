"""Refunds: the only thing here that moves money. One transaction per refund decides everything."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StrictInt
from sqlalchemy import ColumnElement, Row, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from examples.payments_provider import keys, quotes
from examples.payments_provider.faults import Switches
from examples.payments_provider.orders import MAX_AMOUNT, Payment, lock_payment, take
from examples.payments_provider.quotes import Quote
from examples.payments_provider.refusals import Refusal
from examples.payments_provider.tables import idempotency_keys, refunds


class RefundRequest(BaseModel):
    """The quote to carry out, said again in full so that a mix-up is noticed; `amount` in minor units."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    quote_id: str
    quote_version: StrictInt
    amount: StrictInt = Field(gt=0, le=MAX_AMOUNT)
    currency: str
    client_reference: Annotated[str, Field(min_length=1, max_length=255)]
    reason: str | None = None


class Refund(BaseModel):
    """Money given back. It is committed from the start; `pending` only means that the bank is not done yet."""

    model_config = ConfigDict(frozen=True)

    refund_id: str
    status: Literal["pending", "completed"]
    quote_id: str
    payment_id: str
    order_id: str
    amount: int
    currency: str
    client_reference: str
    reason: str | None
    created_at: datetime
    completed_at: datetime | None

    @classmethod
    def from_row(cls, row: Row[Any], now: datetime) -> Self:
        """The refund as it is at the moment `now`: completion needs nobody to do anything."""
        done = now >= row.completes_at
        status = "completed" if done else "pending"
        return cls.model_validate(
            {**row._asdict(), "status": status, "completed_at": row.completes_at if done else None}
        )


@dataclass(frozen=True)
class Answer:
    """What the caller is to be told, and whether it was told from memory."""

    body: dict[str, Any]
    replayed: bool


async def refund(books: AsyncConnection, key: str, asked: RefundRequest, switches: Switches, now: datetime) -> Answer:
    """Carries out a quote once, or repeats the stored answer. Must run in a transaction of its own."""
    await keys.claim(books, key)
    lifetime = timedelta(seconds=switches.key_lifetime_seconds)
    stored = await keys.recall(books, key, asked, remembered_since=now - lifetime)
    if stored is not None:
        return Answer(stored, replayed=True)
    quote = await quotes.read_quote(books, asked.quote_id, now, lock=True)
    require_open(quote)
    require_same_terms(quote, asked)
    require_unchanged(quote, await lock_payment(books, quote.order_id))
    made = await _move_money(books, key, asked, quote, switches, now)
    body = made.model_dump(mode="json")
    await keys.remember(books, key, asked, body, now)
    return Answer(body, replayed=False)


def require_open(quote: Quote) -> None:
    """A quote serves once and not for ever."""
    if quote.state == "consumed":
        raise Refusal("quote_consumed", f"Quote {quote.quote_id} has been used.")
    if quote.state == "expired":
        raise Refusal("quote_expired", f"Quote {quote.quote_id} was good until {quote.expires_at.isoformat()}.")


def require_same_terms(quote: Quote, asked: RefundRequest) -> None:
    """The caller means the quote that we mean."""
    if asked.quote_version != quote.version:
        raise Refusal("quote_version_mismatch", f"Quote {quote.quote_id} is at version {quote.version}.")
    if asked.currency != quote.currency:
        raise Refusal("currency_mismatch", f"Quote {quote.quote_id} is in {quote.currency}.")
    if asked.amount != quote.amount:
        raise Refusal("amount_mismatch", f"Quote {quote.quote_id} is for {quote.amount}.")


def require_unchanged(quote: Quote, payment: Payment) -> None:
    """The order's payment must be the quoted one, and nothing may have happened to it since."""
    if (payment.payment_id, payment.version) != (quote.payment_id, quote.payment_version):
        raise Refusal("payment_changed", f"The payment of order {quote.order_id} has changed since the quote.")
    if quote.amount > payment.refundable:
        raise Refusal("amount_exceeds_refundable", f"At most {payment.refundable} can be refunded.")


async def read_refund(books: AsyncConnection, refund_id: str, now: datetime) -> Refund:
    """One refund, or a refusal."""
    found = await _find(books, now, refunds.c.refund_id == refund_id)
    if not found:
        raise Refusal("not_found", f"There is no refund {refund_id}.")
    return found[0]


async def find_by_reference(books: AsyncConnection, client_reference: str, now: datetime) -> list[Refund]:
    """Never forgets."""
    return await _find(books, now, refunds.c.client_reference == client_reference)


async def find_by_key(books: AsyncConnection, key: str, now: datetime, lifetime: timedelta) -> list[Refund]:
    """Knows only what the key itself still knows: nothing once the key is forgotten."""
    remembered = select(idempotency_keys.c.refund_id).where(
        idempotency_keys.c.idempotency_key == key, idempotency_keys.c.remembered_at > now - lifetime
    )
    return await _find(books, now, refunds.c.refund_id.in_(remembered))


async def _find(books: AsyncConnection, now: datetime, *wanted: ColumnElement[bool]) -> list[Refund]:
    found = await books.execute(select(refunds).where(*wanted).order_by(refunds.c.created_at))
    return [Refund.from_row(row, now) for row in found]


async def _move_money(
    books: AsyncConnection, key: str, asked: RefundRequest, quote: Quote, switches: Switches, now: datetime
) -> Refund:
    payment_version = await take(books, quote.order_id, quote.payment_id, quote.amount)
    if switches.quote_single_use:
        await quotes.consume(books, quote.quote_id, now)
    else:
        await quotes.keep_open(books, quote.quote_id, payment_version)
    completes_at = now + timedelta(seconds=switches.completion_seconds)
    added = await books.execute(
        insert(refunds)
        .values(idempotency_key=key, created_at=now, completes_at=completes_at, **_terms(asked, quote))
        .returning(refunds)
    )
    return Refund.from_row(added.one(), now)


def _terms(asked: RefundRequest, quote: Quote) -> dict[str, object]:
    return {
        "quote_id": quote.quote_id,
        "payment_id": quote.payment_id,
        "order_id": quote.order_id,
        "amount": quote.amount,
        "currency": quote.currency,
        "client_reference": asked.client_reference,
        "reason": asked.reason,
    }
