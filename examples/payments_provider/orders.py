"""Orders and the payments that paid for them."""

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictInt, computed_field
from sqlalchemy import ColumnElement, Row, insert, select, update
from sqlalchemy.dialects.postgresql import insert as insert_or_ignore
from sqlalchemy.ext.asyncio import AsyncConnection

from examples.payments_provider.refusals import Refusal
from examples.payments_provider.tables import orders, payments

MAX_AMOUNT = 10**12
"""In minor units; beyond it a number is a slip of the finger, and all sums stay far from the limit of a bigint."""


class Payment(BaseModel):
    """Money that was captured; amounts are in the minor unit of the order's currency."""

    model_config = ConfigDict(frozen=True)

    payment_id: str
    amount: int
    refunded: int
    version: int

    @computed_field  # type: ignore[prop-decorator]
    @property
    def refundable(self) -> int:
        """What has not been given back yet."""
        return self.amount - self.refunded

    @computed_field  # type: ignore[prop-decorator]
    @property
    def status(self) -> Literal["captured", "partially_refunded", "refunded"]:
        """How much of it has been given back, in a word."""
        if self.refunded == 0:
            return "captured"
        return "partially_refunded" if self.refundable else "refunded"


class Order(BaseModel):
    """An order of one merchant's customer; `version` rises with every change, refunds included."""

    model_config = ConfigDict(frozen=True)

    order_id: str
    merchant: str
    customer: str
    currency: str
    version: int
    payment: Payment
    items: list[dict[str, Any]]
    placed_at: datetime


class NewOrder(BaseModel):
    """What a test has to say about an order of its own."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    order_id: str = Field(min_length=1)
    merchant: str = Field(min_length=1)
    customer: str = Field(min_length=1)
    currency: str = Field(pattern="^[A-Z]{3}$")
    amount: StrictInt = Field(gt=0, le=MAX_AMOUNT)


async def read_order(books: AsyncConnection, order_id: str) -> Order:
    """The order with its payment, as committed now."""
    found = await books.execute(
        select(orders, *_payment_columns()).join_from(orders, payments).where(orders.c.order_id == order_id)
    )
    row = found.one_or_none()
    if row is None:
        raise _no_order(order_id)
    return _order(row)


async def lock_payment(books: AsyncConnection, order_id: str) -> Payment:
    """The order's payment of this moment; order and payment stay as they are until the transaction ends.

    Everybody locks the order first and its payment second.
    """
    payment_id = await books.scalar(select(orders.c.payment_id).where(orders.c.order_id == order_id).with_for_update())
    if payment_id is None:
        raise _no_order(order_id)
    locked = await books.execute(select(payments).where(payments.c.payment_id == payment_id).with_for_update())
    return Payment.model_validate(locked.one()._asdict())


async def take(books: AsyncConnection, order_id: str, payment_id: str, amount: int) -> int:
    """Moves `amount` from refundable to refunded on a locked payment; its new version."""
    await _raise_version(books, order_id)
    version: int = (
        await books.execute(
            update(payments)
            .where(payments.c.payment_id == payment_id)
            .values(refunded=payments.c.refunded + amount, version=payments.c.version + 1)
            .returning(payments.c.version)
        )
    ).scalar_one()
    return version


async def add_order(books: AsyncConnection, new: NewOrder, now: datetime) -> Order:
    """An order with a payment of its own; an order id is never taken twice."""
    payment_id = await _add_payment(books, amount=new.amount)
    added = await books.scalar(
        insert_or_ignore(orders)
        .values(payment_id=payment_id, items=[], placed_at=now, **new.model_dump(exclude={"amount"}))
        .on_conflict_do_nothing()
        .returning(orders.c.order_id)
    )
    if added is None:
        raise Refusal("order_exists", f"There is an order {new.order_id} already.")
    return await read_order(books, new.order_id)


async def replace_payment(books: AsyncConnection, order_id: str) -> Order:
    """The customer pays anew with another card: same amounts, other payment."""
    old = await lock_payment(books, order_id)
    payment_id = await _add_payment(books, amount=old.amount, refunded=old.refunded)
    await _raise_version(books, order_id, payment_id=payment_id)
    return await read_order(books, order_id)


async def _add_payment(books: AsyncConnection, **columns: int) -> str:
    added = await books.execute(insert(payments).values(**columns).returning(payments.c.payment_id))
    payment_id: str = added.scalar_one()
    return payment_id


async def _raise_version(books: AsyncConnection, order_id: str, **changes: str) -> None:
    await books.execute(
        update(orders).where(orders.c.order_id == order_id).values(version=orders.c.version + 1, **changes)
    )


def _payment_columns() -> list[ColumnElement[Any]]:
    return [payments.c.amount, payments.c.refunded, payments.c.version.label("payment_version")]


def _order(row: Row[Any]) -> Order:
    columns = row._asdict()
    return Order.model_validate({**columns, "payment": {**columns, "version": row.payment_version}})


def _no_order(order_id: str) -> Refusal:
    return Refusal("not_found", f"There is no order {order_id}.")
