"""The payments provider over HTTP."""

from typing import Any, NoReturn
from urllib.parse import quote

import httpx2
import structlog

from adapters.downstream.http_writes import fate_of_failure, fate_of_refusal
from workflows.domain.effect import MISMATCH, Dispatch, Effect
from workflows.domain.errors import CallRefused

log = structlog.get_logger(__name__)

REFUSALS = {
    "amount_exceeds_refundable": "refund_amount_exceeded",
    "currency_mismatch": "currency_mismatch",
    "amount_mismatch": "amount_mismatch",
    "quote_expired": "quote_expired",
    "quote_consumed": "quote_consumed",
    "quote_version_mismatch": "quote_changed",
    "payment_changed": "quote_changed",
    "not_found": "not_found",
}
"""The provider's refusals in our words."""

UNCERTAIN = frozenset({"idempotency_conflict", "idempotency_in_flight"})
"""Something was done, or is being done, under our key."""


class Payments:
    """Orders, quotes and refunds at the provider.

    Reads raise `CallRefused` with `not_found` or `upstream_unavailable`; writes give an `Effect` and never raise for
    what the provider or the network did.
    """

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self._client = client

    async def order(self, order_id: str) -> dict[str, Any]:
        """One order with its payment: amounts in minor units."""
        return await self._get(f"/v1/orders/{_segment(order_id)}")

    async def quote(self, quote_id: str) -> dict[str, Any]:
        """One quote with its version, state and expiry."""
        return await self._get(f"/v1/quotes/{_segment(quote_id)}")

    async def make_quote(self, order_id: str, amount: int, currency: str) -> dict[str, Any]:
        """A quote for a refund. It moves no money and ends by itself."""
        body = {"order_id": order_id, "amount": amount, "currency": currency}
        return await self._read("POST", "/v1/quotes", json=body)

    async def refund(self, body: dict[str, Any], dispatch: Dispatch) -> Effect:
        """Send one refund under our key, with our operation id as the provider's client reference."""
        payload = {**body, "client_reference": dispatch.operation_id}
        headers = {"Idempotency-Key": dispatch.idempotency_key}
        try:
            response = await self._client.post("/v1/refunds", json=payload, headers=headers)
        except httpx2.RequestError as error:
            return fate_of_failure(error)
        if response.is_success:
            return effect_of(_object(response), body)
        return fate_of_refusal(response, REFUSALS, UNCERTAIN)

    async def find_refund(self, body: dict[str, Any], dispatch: Dispatch) -> Effect | None:
        """The refund made for our operation, None when the provider knows of none.

        The look-up by client reference does not forget, unlike the one by key.
        """
        found = await self._read("GET", "/v1/refunds", params={"client_reference": dispatch.operation_id})
        refunds = found.get("refunds")
        if not isinstance(refunds, list):
            raise CallRefused("upstream_unavailable")
        if len(refunds) > 1:
            # That cannot be, and a person must see it: nothing is concluded from it.
            log.error("several_refunds_for_one_operation", operation_id=dispatch.operation_id, number=len(refunds))
            return Effect.unknown(code=MISMATCH)
        return effect_of(refunds[0], body) if refunds else None

    async def _get(self, path: str) -> dict[str, Any]:
        return await self._read("GET", path)

    async def _read(self, method: str, path: str, **request: Any) -> dict[str, Any]:
        try:
            response = await self._client.request(method, path, **request)
        except httpx2.RequestError:
            raise CallRefused("upstream_unavailable") from None
        if response.is_success:
            # A page of somebody in between is no answer of the provider.
            return _object(response) or _unavailable()
        effect = fate_of_refusal(response, REFUSALS)
        raise CallRefused(effect.code if effect.code and not effect.retryable else "upstream_unavailable")


def effect_of(refund: Any, asked: dict[str, Any]) -> Effect:
    """What the provider's own record of a refund proves: only `completed`, and only of what was asked, is success."""
    if not isinstance(refund, dict) or not isinstance(refund.get("refund_id"), str):
        return Effect.unknown()
    same = all(refund.get(name) == asked[name] for name in ("quote_id", "amount", "currency"))
    if refund.get("status") == "completed" and same:
        return Effect.applied(refund["refund_id"], refund)
    return Effect.unknown(refund["refund_id"], None if same else MISMATCH)


def _unavailable() -> NoReturn:
    raise CallRefused("upstream_unavailable")


def _object(response: httpx2.Response) -> dict[str, Any]:
    try:
        body = response.json()
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def _segment(value: str) -> str:
    return quote(value, safe="")
