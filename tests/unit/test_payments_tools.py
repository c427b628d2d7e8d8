"""The refund tools' rules on a state of the shop."""

from typing import Any

import pytest

from adapters.tools.payments import (
    GetOrder,
    OrderArguments,
    PrepareRefund,
    QuoteArguments,
    RefundArguments,
    RefundPayment,
)
from tests.support.proposals import CALLER
from workflows.domain.effect import Dispatch, Effect
from workflows.domain.errors import CallRefused
from workflows.domain.impact import Money, Resource

GOOD: dict[str, Any] = {
    "order_id": "O-17",
    "quote_id": "qt-301",
    "quote_version": 1,
    "amount": 12_000,
    "currency": "KRW",
}


def nobody_is_asked(resource: Resource) -> None:
    raise AssertionError(f"{resource} was found")


class Shop:
    """One order with one quote, to be changed by a test."""

    def __init__(self) -> None:
        self.payment: dict[str, Any] = {
            "payment_id": "pay-17", "amount": 20_000, "refunded": 8_000, "refundable": 12_000, "version": 2,
        }  # fmt: skip
        self.the_order: dict[str, Any] = {
            "order_id": "O-17", "merchant": "tenant-a", "customer": "user-17", "currency": "KRW", "version": 5,
            "payment": self.payment,
        }  # fmt: skip
        self.the_quote: dict[str, Any] = {
            "quote_id": "qt-301", "merchant": "tenant-a", "version": 1, "order_id": "O-17", "amount": 12_000,
            "payment_id": "pay-17", "payment_version": 2, "currency": "KRW", "state": "open",
        }  # fmt: skip
        self.sent: list[dict[str, Any]] = []

    async def order(self, order_id: str) -> dict[str, Any]:
        return self.the_order

    async def quote(self, quote_id: str) -> dict[str, Any]:
        return self.the_quote

    async def make_quote(self, order_id: str, amount: int, currency: str) -> dict[str, Any]:
        return self.the_quote

    async def refund(self, body: dict[str, Any], dispatch: Dispatch) -> Effect:
        self.sent.append(body)
        return Effect.applied("rf-204", {})

    async def find_refund(self, body: dict[str, Any], dispatch: Dispatch) -> Effect | None:
        return None


async def refusal(shop: Shop, **changes: Any) -> str | None:
    inspection = await RefundPayment(shop).inspect(RefundArguments(**GOOD | changes), CALLER)
    return inspection.refusal.code if inspection.refusal else None


async def test_a_refund_as_quoted_is_refused_by_no_rule() -> None:
    assert await refusal(Shop()) is None


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"currency": "USD"}, "currency_mismatch"),
        ({"quote_version": 2}, "quote_changed"),
        ({"order_id": "O-18"}, "quote_changed"),
        ({"amount": 11_999}, "amount_mismatch"),
        ({"amount": 12_001}, "amount_mismatch"),
    ],
    ids=str,
)
async def test_a_call_that_does_not_match_its_quote_is_refused(changes: dict[str, Any], code: str) -> None:
    assert await refusal(Shop(), **changes) == code


@pytest.mark.parametrize(
    ("part", "changes", "code"),
    [
        ("the_quote", {"state": "consumed"}, "quote_consumed"),
        ("the_quote", {"state": "expired"}, "quote_expired"),
        ("the_quote", {"state": "invented"}, "quote_expired"),
        ("payment", {"payment_id": "pay-18"}, "quote_changed"),
        ("payment", {"version": 3}, "quote_changed"),
        ("payment", {"refundable": 11_999}, "refund_amount_exceeded"),
    ],
    ids=str,
)
async def test_a_state_that_has_moved_on_is_refused(part: str, changes: dict[str, Any], code: str) -> None:
    shop = Shop()
    getattr(shop, part).update(changes)
    assert await refusal(shop) == code


@pytest.mark.parametrize("merchant", ["tenant-b", "", None])
async def test_an_order_of_another_tenant_is_absent_for_every_tool(merchant: str | None) -> None:
    shop = Shop()
    shop.the_order["merchant"] = merchant
    for asking in (
        RefundPayment(shop).inspect(RefundArguments(**GOOD), CALLER),
        GetOrder(shop).read(OrderArguments(order_id="O-17"), CALLER, nobody_is_asked),
        PrepareRefund(shop).read(QuoteArguments(order_id="O-17", amount=1, currency="KRW"), CALLER, nobody_is_asked),
    ):
        with pytest.raises(CallRefused) as refused:
            await asking
        assert refused.value.code == "not_found"


async def test_the_impact_is_the_servers_own() -> None:
    impact = (await RefundPayment(Shop()).inspect(RefundArguments(**GOOD), CALLER)).impact
    assert impact.money == Money(12_000, "KRW")
    assert not impact.reversible
    assert (impact.resource.id, impact.resource.owner_tenant) == ("O-17", "tenant-a")
    assert {fact.label: fact.money for fact in impact.facts if fact.money} == {
        "Paid": Money(20_000, "KRW"),
        "Already refunded": Money(8_000, "KRW"),
        "Still refundable": Money(12_000, "KRW"),
    }


@pytest.mark.parametrize(
    ("part", "changes"),
    [("the_order", {"version": 6}), ("payment", {"payment_id": "pay-18"}), ("payment", {"version": 3})],
    ids=str,
)
async def test_whatever_an_approver_relies_on_changes_the_version(part: str, changes: dict[str, Any]) -> None:
    before, shop = Shop(), Shop()
    getattr(shop, part).update(changes)
    tool = RefundArguments(**GOOD)
    one = (await RefundPayment(before).inspect(tool, CALLER)).impact.resource.version
    other = (await RefundPayment(shop).inspect(tool, CALLER)).impact.resource.version
    assert one != other


async def test_a_look_sends_nothing() -> None:
    shop = Shop()
    await RefundPayment(shop).inspect(RefundArguments(**GOOD), CALLER)
    await RefundPayment(shop).look_up(RefundArguments(**GOOD), Dispatch("op_1", "tenant-a", "key-1", 1))
    assert shop.sent == []


async def test_what_was_quoted_is_what_is_sent() -> None:
    shop = Shop()
    await RefundPayment(shop).apply(RefundArguments(**GOOD), Dispatch("op_1", "tenant-a", "key-1", 1))
    assert shop.sent == [{name: GOOD[name] for name in ("quote_id", "quote_version", "amount", "currency")}]


async def test_a_quote_of_another_tenant_is_absent() -> None:
    shop = Shop()
    shop.the_quote["merchant"] = "tenant-b"
    with pytest.raises(CallRefused) as refused:
        await RefundPayment(shop).inspect(RefundArguments(**GOOD), CALLER)
    assert refused.value.code == "not_found"


async def test_a_quote_is_made_only_once_the_policy_has_seen_whose_order_it_is() -> None:
    shop = Shop()
    shop.make_quote = None  # type: ignore[assignment]

    def refuse(resource: Resource) -> None:
        assert (resource.id, resource.owner_tenant) == ("O-17", "tenant-a")
        raise CallRefused("permission_denied")

    with pytest.raises(CallRefused, match="permission_denied"):
        await PrepareRefund(shop).read(QuoteArguments(order_id="O-17", amount=1, currency="KRW"), CALLER, refuse)
