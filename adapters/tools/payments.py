"""Refunds: look an order up, quote, refund.

A quote moves no money. The refund names the quote and its version, so that what was quoted is what is refunded; the
provider checks both again when the money moves.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, Protocol

import httpx2
from pydantic import BaseModel, Field, SecretStr

from adapters.downstream.payments import Payments
from adapters.tools.family import Family, policy_beside
from workflows.domain.authorization import Admit
from workflows.domain.contract import (
    ApprovalRule,
    Arguments,
    Contract,
    EffectKind,
    Idempotency,
    Limits,
    Recovery,
    Repetition,
    Risk,
    ToolResult,
)
from workflows.domain.effect import Dispatch, Effect
from workflows.domain.errors import CallRefused, NextAction, refused
from workflows.domain.gate import Layer, Verdict
from workflows.domain.impact import Fact, Impact, Inspection, Money, Resource
from workflows.domain.principal import Principal

RULES = {
    "refund_amount_exceeded": refused(NextAction.ASK_USER, "The amount is more than can still be refunded."),
    "currency_mismatch": refused(NextAction.FIX_ARGUMENTS, "The currency is not the payment's currency."),
    "amount_mismatch": refused(NextAction.PROPOSE_AGAIN, "The amount is not the quoted amount; make a new quote."),
    "quote_expired": refused(NextAction.PROPOSE_AGAIN, "The quote has expired; make a new one."),
    "quote_changed": refused(
        NextAction.PROPOSE_AGAIN, "The quote no longer matches the order, its payment or its version; make a new one."
    ),
    "quote_consumed": refused(NextAction.DO_NOT_RETRY, "The quote has already been used."),
}
"""Our words for what the shop and the provider say no to."""

OrderId = Annotated[
    str,
    Field(
        description="Order id as the shop issued it, such as O-17.", examples=["O-17"], pattern=r"^[A-Za-z0-9-]{1,40}$"
    ),
]
QuoteId = Annotated[
    str,
    Field(description="Quote id as prepare_refund gave it.", examples=["q-1"], pattern=r"^[A-Za-z0-9-]{1,60}$"),
]
Amount = Annotated[
    int,
    Field(
        description="Amount in the currency's minor unit, a whole number: 12000 is 12,000 won in KRW (which has no "
        "minor unit) and 120.00 dollars in USD.",
        examples=[12000],
        gt=0,
        le=10**12,
    ),
]
Currency = Annotated[
    Literal["KRW", "JPY", "USD", "EUR"],
    Field(description="ISO 4217 code of the payment's own currency.", examples=["KRW"]),
]


class Provider(Protocol):
    """The payments provider as these tools need it."""

    async def order(self, order_id: str) -> dict[str, Any]: ...  # noqa: D102 - see adapters.downstream.payments
    async def quote(self, quote_id: str) -> dict[str, Any]: ...  # noqa: D102
    async def make_quote(self, order_id: str, amount: int, currency: str) -> dict[str, Any]: ...  # noqa: D102
    async def refund(self, body: dict[str, Any], dispatch: Dispatch) -> Effect: ...  # noqa: D102
    async def find_refund(self, body: dict[str, Any], dispatch: Dispatch) -> Effect | None: ...  # noqa: D102


class OrderArguments(Arguments):
    """Which order to look at."""

    order_id: OrderId


class OrderFound(ToolResult):
    """An order as the provider has it now; amounts in the currency's minor unit."""

    order_id: str
    currency: str
    paid: int
    refunded: int
    refundable: int
    observed_at: str


class GetOrder:
    """Looks one order up."""

    contract = Contract(
        name="get_order",
        title="Look up an order",
        description=(
            "Look up one order of the signed-in user's shop: currency, amount paid, already refunded and still "
            "refundable. Use it before quoting a refund. It changes nothing. Not for searching orders."
        ),
        version="1",
        effect=EffectKind.READ,
        idempotency=Idempotency.READ,
        risk=Risk.LOW,
        resource=("order", "order_id"),
        tags=frozenset(
            {"order status", "purchase", "how much was paid", "주문", "주문 조회", "주문 내역", "얼마 결제"}
        ),
        arguments=OrderArguments,
        result=OrderFound,
        fresh_seconds=60.0,
    )

    def __init__(self, provider: Provider) -> None:
        self._provider = provider

    async def read(self, arguments: OrderArguments, principal: Principal, admit: Admit) -> Mapping[str, Any]:
        """Return the order in `OrderFound`'s shape; another tenant's order is `not_found`."""
        order = await own_order(self._provider, arguments.order_id, principal)
        admit(_resource(order))
        payment = order["payment"]
        return {
            "order_id": order["order_id"],
            "currency": order["currency"],
            "paid": payment["amount"],
            "refunded": payment["refunded"],
            "refundable": payment["refundable"],
            "observed_at": _now(),
        }


class QuoteArguments(Arguments):
    """What to quote."""

    order_id: OrderId
    amount: Amount
    currency: Currency


class QuoteMade(ToolResult):
    """A quote. `refund_payment` wants its id and version; it ends at `expires_at`."""

    quote_id: str
    version: int
    order_id: str
    amount: int
    currency: str
    refundable: int
    expires_at: str
    moves_money: bool = False


class PrepareRefund:
    """Makes a quote; the provider keeps it until it expires, and nothing else comes of it."""

    contract = Contract(
        name="prepare_refund",
        title="Quote a refund",
        description=(
            "Quote a refund for one order of the signed-in user's shop and get a quote id and version. It moves no "
            "money and promises none; refund_payment does that. Ask the user when the amount is not certain."
        ),
        version="1",
        effect=EffectKind.READ,
        idempotency=Idempotency.READ,
        risk=Risk.LOW,
        resource=("order", "order_id"),
        tags=frozenset(
            {"refund quote", "how much can be refunded", "refund amount", "환불 견적", "환불 가능 금액", "얼마 환불"}
        ),
        arguments=QuoteArguments,
        result=QuoteMade,
        rules=RULES,
    )

    def __init__(self, provider: Provider) -> None:
        self._provider = provider

    async def read(self, arguments: QuoteArguments, principal: Principal, admit: Admit) -> Mapping[str, Any]:
        """Return the quote in `QuoteMade`'s shape; raises `CallRefused` with the business's code."""
        admit(_resource(await own_order(self._provider, arguments.order_id, principal)))
        return await self._provider.make_quote(arguments.order_id, arguments.amount, arguments.currency)


class RefundArguments(Arguments):
    """The refund, with the quote that it rests on."""

    order_id: OrderId
    quote_id: QuoteId
    quote_version: Annotated[int, Field(description="Version of that quote.", examples=[1], ge=1, le=10**6)]
    amount: Amount
    currency: Currency


class RefundMade(ToolResult):
    """A refund that the provider says is completed; `refund_id` is the provider's receipt."""

    refund_id: str
    status: Literal["completed"]
    order_id: str
    amount: int
    currency: str


class RefundPayment:
    """Pays money back."""

    contract = Contract(
        name="refund_payment",
        title="Refund a payment",
        description=(
            "Pay money back for one order, exactly as quoted by prepare_refund: give that quote's id, version, amount "
            "and currency. It moves money and cannot be undone; a person may have to approve it first. Never call it "
            "again for the same refund: ask for the operation's state instead."
        ),
        version="1",
        effect=EffectKind.WRITE,
        idempotency=Idempotency.KEYED,
        risk=Risk.HIGH,
        resource=("order", "order_id"),
        tags=frozenset({"refund", "money back", "reimburse", "return the money", "환불", "돈 돌려줘", "결제 취소"}),
        arguments=RefundArguments,
        result=RefundMade,
        approval=ApprovalRule(approver_role="approver:refunds"),
        reversible=False,
        # The provider finishes a request within 15 s of taking it and remembers a key for a day.
        recovery=Recovery(settle_seconds=15.0, key_lifetime_seconds=24 * 3600.0, give_up_seconds=900.0),
        limits=Limits(attempt_seconds=10.0, sends=5),
        rules=RULES,
        # Two quotes for one refund are two ways to one act.
        repetition=Repetition(arguments=("order_id", "amount", "currency"), seconds=600.0),
    )

    def __init__(self, provider: Provider) -> None:
        self._provider = provider

    async def inspect(self, arguments: RefundArguments, principal: Principal) -> Inspection:
        """Look at the order and the quote as they are now."""
        order = await own_order(self._provider, arguments.order_id, principal)
        quote = await self._provider.quote(arguments.quote_id)
        if quote.get("merchant") != principal.tenant:
            raise CallRefused("not_found")
        return Inspection(_impact(order, arguments), _refusal(arguments, order, quote))

    async def apply(self, arguments: RefundArguments, dispatch: Dispatch) -> Effect:
        """Send the refund once."""
        return await self._provider.refund(_body(arguments), dispatch)

    async def look_up(self, arguments: RefundArguments, dispatch: Dispatch) -> Effect | None:
        """Find the refund made for this operation."""
        return await self._provider.find_refund(_body(arguments), dispatch)


async def own_order(provider: Provider, order_id: str, principal: Principal) -> dict[str, Any]:
    """The order, if it belongs to the principal's tenant; otherwise it is absent."""
    order = await provider.order(order_id)
    if order.get("merchant") != principal.tenant:
        raise CallRefused("not_found")
    return order


def _refusal(arguments: RefundArguments, order: Mapping[str, Any], quote: Mapping[str, Any]) -> Verdict | None:
    """The first business rule that says no, on the state that was just seen."""
    payment = order["payment"]
    rules = (
        (arguments.currency != order["currency"], "currency_mismatch"),
        (quote["order_id"] != arguments.order_id, "quote_changed"),
        (quote["version"] != arguments.quote_version, "quote_changed"),
        (quote["payment_id"] != payment["payment_id"], "quote_changed"),
        (quote["payment_version"] != payment["version"], "quote_changed"),
        (quote["state"] == "consumed", "quote_consumed"),
        (quote["state"] != "open", "quote_expired"),
        (quote["amount"] != arguments.amount, "amount_mismatch"),
        (arguments.amount > payment["refundable"], "refund_amount_exceeded"),
    )
    return next((Verdict(Layer.BUSINESS, code) for broken, code in rules if broken), None)


def _resource(order: Mapping[str, Any]) -> Resource:
    payment = order["payment"]
    return Resource(
        kind="order",
        id=order["order_id"],
        owner_tenant=order["merchant"],
        # Everything that the approver relies on: which payment, and each change of it.
        version=f"{order['version']}/{payment['payment_id']}/{payment['version']}",
    )


def _impact(order: Mapping[str, Any], arguments: RefundArguments) -> Impact:
    payment, currency = order["payment"], order["currency"]
    return Impact(
        resource=_resource(order),
        action="Refund a payment",
        money=Money(arguments.amount, arguments.currency),
        reversible=False,
        facts=(
            Fact("Payment", payment["payment_id"]),
            Fact("Customer", order["customer"]),
            Fact("Paid", money=Money(payment["amount"], currency)),
            Fact("Already refunded", money=Money(payment["refunded"], currency)),
            Fact("Still refundable", money=Money(payment["refundable"], currency)),
        ),
    )


def _body(arguments: RefundArguments) -> dict[str, Any]:
    return arguments.model_dump(include={"quote_id", "quote_version", "amount", "currency"})


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


class PaymentsSettings(BaseModel):
    """How to reach the provider."""

    url: str = Field(pattern="^https?://", description="the payments provider's base URL")
    api_key: SecretStr = Field(description="our key at the payments provider")
    timeout_seconds: float = Field(8.0, gt=0, le=60, description="seconds for one exchange with the provider")


@asynccontextmanager
async def connect(settings: PaymentsSettings) -> AsyncIterator[Sequence[Any]]:
    """The tools, with one client for them all."""
    async with httpx2.AsyncClient(
        base_url=settings.url,
        headers={"Authorization": f"Bearer {settings.api_key.get_secret_value()}"},
        timeout=settings.timeout_seconds,
    ) as client:
        provider = Payments(client)
        yield [GetOrder(provider), PrepareRefund(provider), RefundPayment(provider)]


FAMILY = Family(
    name="payments",
    contracts=(GetOrder.contract, PrepareRefund.contract, RefundPayment.contract),
    connect=connect,
    settings=PaymentsSettings,
    policy=policy_beside(__file__),
)
