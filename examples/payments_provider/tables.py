"""The provider's books. Amounts are integers in the currency's minor unit; moments are UTC."""

from sqlalchemy import (
    JSON,
    BigInteger,
    CheckConstraint,
    Column,
    DateTime,
    ForeignKey,
    Identity,
    Index,
    Integer,
    MetaData,
    Sequence,
    Table,
    Text,
)
from sqlalchemy.sql.elements import TextClause
from sqlalchemy.sql.expression import text

SCHEMA = "payments"

FIRST_REFUND_NUMBER = 204
"""Refunds count up from rf-204, so that a walk-through reads the same on every machine."""
FIRST_QUOTE_NUMBER = 301
"""Away from the refund numbers, so that nobody takes one for the other."""
FIRST_PAYMENT_NUMBER = 101
"""Above the payments of the seed data, which end at pay-22."""

metadata = MetaData(schema=SCHEMA)

refund_numbers = Sequence("refund_numbers", start=FIRST_REFUND_NUMBER, metadata=metadata)
quote_numbers = Sequence("quote_numbers", start=FIRST_QUOTE_NUMBER, metadata=metadata)
payment_numbers = Sequence("payment_numbers", start=FIRST_PAYMENT_NUMBER, metadata=metadata)


def _numbered(prefix: str, sequence: Sequence) -> TextClause:
    return text(f"'{prefix}-' || nextval('{SCHEMA}.{sequence.name}')")


def _moment(name: str, *, nullable: bool = False) -> Column[object]:
    return Column(name, DateTime(timezone=True), nullable=nullable)


payments = Table(
    "payments",
    metadata,
    Column("payment_id", Text, primary_key=True, server_default=_numbered("pay", payment_numbers)),
    Column("amount", BigInteger, CheckConstraint("amount > 0"), nullable=False),
    Column("refunded", BigInteger, nullable=False, server_default="0"),
    Column("version", Integer, nullable=False, server_default="1"),
    CheckConstraint("refunded BETWEEN 0 AND amount", name="never_more_than_was_paid"),
    comment="One row per captured payment: what was paid, and how much of it has been given back.",
)

orders = Table(
    "orders",
    metadata,
    Column("order_id", Text, primary_key=True),
    Column("merchant", Text, nullable=False, comment="The tenant that owns the order."),
    Column("customer", Text, nullable=False),
    Column("currency", Text, nullable=False),
    Column("payment_id", Text, ForeignKey(payments.c.payment_id), nullable=False, comment="The payment of today."),
    Column("version", Integer, nullable=False, server_default="1", comment="Rises with every change and refund."),
    Column("items", JSON, nullable=False),
    _moment("placed_at"),
    comment="One row per order of a merchant; it points to the payment that pays for it now.",
)

quotes = Table(
    "quotes",
    metadata,
    Column("quote_id", Text, primary_key=True, server_default=_numbered("qt", quote_numbers)),
    Column("version", Integer, nullable=False, server_default="1"),
    Column("order_id", Text, ForeignKey(orders.c.order_id), nullable=False),
    Column("payment_id", Text, ForeignKey(payments.c.payment_id), nullable=False),
    Column("payment_version", Integer, nullable=False, comment="The payment as it was when the quote was given."),
    Column("merchant", Text, nullable=False),
    Column("amount", BigInteger, nullable=False),
    Column("currency", Text, nullable=False),
    Column("refundable", BigInteger, nullable=False, comment="What could be refunded when the quote was given."),
    _moment("expires_at"),
    _moment("consumed_at", nullable=True),
    comment="One row per offer to refund a stated amount; it moves no money by itself.",
)

refunds = Table(
    "refunds",
    metadata,
    Column("refund_id", Text, primary_key=True, server_default=_numbered("rf", refund_numbers)),
    Column("quote_id", Text, ForeignKey(quotes.c.quote_id), nullable=False),
    Column("payment_id", Text, ForeignKey(payments.c.payment_id), nullable=False),
    Column("order_id", Text, ForeignKey(orders.c.order_id), nullable=False),
    Column("amount", BigInteger, CheckConstraint("amount > 0"), nullable=False),
    Column("currency", Text, nullable=False),
    Column("client_reference", Text, nullable=False),
    Column("reason", Text),
    Column("idempotency_key", Text, nullable=False),
    _moment("created_at"),
    _moment("completes_at"),
    Index("refunds_by_client_reference", "client_reference"),
    comment="One row per effect: money that has been given back. Rows are only ever added.",
)

idempotency_keys = Table(
    "idempotency_keys",
    metadata,
    Column("idempotency_key", Text, primary_key=True),
    Column("request_hash", Text, nullable=False),
    Column("refund_id", Text, ForeignKey(refunds.c.refund_id), nullable=False),
    Column(
        "answer", JSON, nullable=False, comment="Not JSONB: repeated to the letter, in the order of the first time."
    ),
    _moment("remembered_at"),
    comment="One row per key that has made a refund: what was asked with it and what was answered.",
)

posts = Table(
    "posts",
    metadata,
    Column("post_id", BigInteger, Identity(), primary_key=True),
    _moment("at"),
    Column("idempotency_key", Text),
    Column("client_reference", Text),
    Column("outcome", Text, nullable=False),
    Column("fault", Text, comment="The switch that this request ran into."),
    Column("refund_id", Text),
    comment="One row per refund request that reached us, whatever became of it and whatever the caller heard.",
)
