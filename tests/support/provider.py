"""The payments provider as tests use it: orders and quotes of their own, fault switches, evidence."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2

from tests.support.plain import PLAIN
from tests.support.proposals import fresh

Json = dict[str, Any]


class ProviderAdmin:
    """Holds the provider's two keys; the executor's worker holds only the first of them."""

    def __init__(self, url: str, api_key: str, admin_key: str) -> None:
        self._api = httpx2.AsyncClient(base_url=url, headers=_bearer(api_key), timeout=30, verify=PLAIN)
        self._admin = httpx2.AsyncClient(base_url=url, headers=_bearer(admin_key), timeout=30, verify=PLAIN)

    async def close(self) -> None:
        await self._api.aclose()
        await self._admin.aclose()

    async def add_order(self, *, merchant: str = "tenant-a", amount: int = 12_000, currency: str = "KRW") -> str:
        """A fresh order with a payment of its own; returns its id."""
        order_id = fresh("O")
        body = {"order_id": order_id, "merchant": merchant, "customer": "user-17", "currency": currency}
        await self._ask(self._admin, "POST", "/_admin/orders", json=body | {"amount": amount})
        return order_id

    async def replace_payment(self, order_id: str) -> None:
        """What was seen of the order before is no longer so."""
        await self._ask(self._admin, "POST", f"/_admin/orders/{order_id}/replace-payment")

    async def order(self, order_id: str) -> Json:
        return await self._ask(self._api, "GET", f"/v1/orders/{order_id}")

    async def quote(self, order_id: str, amount: int = 12_000, currency: str = "KRW") -> Json:
        body = {"order_id": order_id, "amount": amount, "currency": currency}
        return await self._ask(self._api, "POST", "/v1/quotes", json=body)

    async def found_quote(self, quote_id: str) -> Json:
        """A quote as it stands now."""
        return await self._ask(self._api, "GET", f"/v1/quotes/{quote_id}")

    async def refund_arguments(self, order_id: str, amount: int = 12_000, currency: str = "KRW") -> Json:
        """The arguments of refund_payment for a new quote on that order."""
        quote = await self.quote(order_id, amount, currency)
        names = {"quote_id": quote["quote_id"], "quote_version": quote["version"]}
        return {"order_id": order_id, "amount": amount, "currency": currency} | names

    async def ledger(self, operation_id: str | None = None) -> Json:
        """All posts and effects, or those of one operation."""
        params = {} if operation_id is None else {"client_reference": operation_id}
        return await self._ask(self._admin, "GET", "/_admin/ledger", params=params)

    async def posts(self, operation_id: str | None = None) -> int:
        """How many refund requests have reached the provider."""
        return len((await self.ledger(operation_id))["posts"])

    async def effects(self, operation_id: str | None = None) -> int:
        """How many refunds were made."""
        return len((await self.ledger(operation_id))["refunds"])

    async def switch(self, *faults: Json, **switches: Any) -> None:
        """State all switches at once; they stay until `clear` or the next call of this."""
        await self._ask(self._admin, "PUT", "/_admin/switches", json={"faults": faults, **switches})

    async def clear(self) -> None:
        await self._ask(self._admin, "DELETE", "/_admin/switches")

    @asynccontextmanager
    async def switched(self, *faults: Json, **switches: Any) -> AsyncIterator[None]:
        """With these switches, and without them afterwards."""
        await self.switch(*faults, **switches)
        try:
            yield
        finally:
            await self.clear()

    async def reset(self) -> None:
        """Seed data only. It takes away the orders of every test, so only one that owns the stack may do it."""
        await self._ask(self._admin, "POST", "/_admin/reset")

    async def _ask(self, client: httpx2.AsyncClient, method: str, path: str, **request: Any) -> Json:
        answer = await client.request(method, path, **request)
        answer.raise_for_status()
        return dict(answer.json())


def _bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}
