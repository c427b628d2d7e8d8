"""The provider as a run uses it: orders and quotes beforehand, fault switches all along."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Any

import httpx2

Json = dict[str, Any]

FAULTS: dict[str, Json] = {
    "commit-then-drop": {"do": "commit-then-drop"},
    "drop-before-commit": {"do": "drop-before-commit"},
    "commit-late": {"do": "commit-late", "seconds": 3},
    "commit-then-hang": {"do": "commit-then-hang", "seconds": 3},
    # Longer than our client waits.
    "commit-then-hang-long": {"do": "commit-then-hang", "seconds": 9},
    "429": {"do": "429", "seconds": 2},
    "500": {"do": "500"},
    "503": {"do": "503"},
    "422": {"do": "422"},
    "slow-read": {"do": "slow-read", "seconds": 1},
}
"""A plan's words in the provider's own."""

LOOK_UPS = ({"on": "lookup", "do": "503"}, {"on": "lookup", "do": "drop-before-commit"}, {"on": "lookup", "do": "500"})


class Provider:
    """Its two keys, and the switches as they should stand. They live in its memory, so a restart forgets them."""

    def __init__(self, url: str, api_key: str, admin_key: str) -> None:
        self._api = httpx2.AsyncClient(base_url=url, headers={"Authorization": f"Bearer {api_key}"}, timeout=20)
        self._admin = httpx2.AsyncClient(base_url=url, headers={"Authorization": f"Bearer {admin_key}"}, timeout=20)
        self._faults: list[Json] = []
        self._completion_seconds = 0.0
        self._lock = asyncio.Lock()
        self.fired: Counter[str] = Counter()
        """Faults of reads that were met. Those of refunds stand in the provider's own books."""

    async def close(self) -> None:
        await self._api.aclose()
        await self._admin.aclose()

    async def add_order(self, order_id: str, merchant: str, amount: int) -> None:
        """An order of which so much was paid."""
        body = {"order_id": order_id, "merchant": merchant, "customer": "user-17", "currency": "KRW", "amount": amount}
        (await self._admin.post("/_admin/orders", json=body)).raise_for_status()

    async def quote(self, order_id: str, amount: int) -> Json:
        """A quote's id and version, as the arguments of a refund name them."""
        answer = await self._api.post("/v1/quotes", json={"order_id": order_id, "amount": amount, "currency": "KRW"})
        quote = answer.raise_for_status().json()
        return {"quote_id": quote["quote_id"], "quote_version": quote["version"]}

    async def arm(self, faults: Sequence[Json]) -> None:
        """Add switches, each for one request."""
        async with self._lock:
            await self._look()
            self._faults.extend({"times": 1, **fault} for fault in faults)
            await self._state()

    async def complete_after(self, seconds: float) -> None:
        """From now on refunds stay pending for so long."""
        async with self._lock:
            self._completion_seconds = seconds
            await self._look()
            await self._state()

    async def look(self) -> None:
        """Take note of what has fired, before the provider forgets it."""
        async with self._lock:
            await self._look()

    async def restore(self) -> None:
        """After a restart: the switches that had not fired yet."""
        async with self._lock:
            await self._state()

    async def hide(self, operation_id: str, fault: str) -> None:
        """The refund of this operation meets that fault and cannot be looked up, also once all is calm."""
        match = {"match": {"client_reference": operation_id}}
        await self.arm(
            [{**FAULTS[fault], "on": "refund", **match}, {"on": "lookup", "do": "503", "times": None, **match}]
        )

    async def find(self, operation_id: str) -> None:
        """The refund of this operation can be looked up again."""
        async with self._lock:
            await self._look()
            mine = {"client_reference": operation_id}
            self._faults = [fault for fault in self._faults if fault.get("match") != mine or fault["on"] != "lookup"]
            await self._state()

    async def calm(self) -> None:
        """No more faults but those of what cannot be looked up."""
        async with self._lock:
            await self._look()
            self._faults = [fault for fault in self._faults if "client_reference" in fault.get("match", {})]
            self._completion_seconds = 0.0
            await self._state()

    async def _look(self) -> None:
        try:
            stand = (await self._admin.get("/_admin/switches")).raise_for_status().json()["faults"]
        except httpx2.HTTPError:
            return
        if len(stand) != len(self._faults):
            # It has been started again since.
            return
        for fault, seen in zip(self._faults, stand, strict=True):
            if fault["times"] is None:
                continue
            if fault["on"] != "refund" and fault["times"] > seen["times"]:
                self.fired[f"provider: {fault['on']} {fault['do']}"] += fault["times"] - seen["times"]
            fault["times"] = seen["times"]
        self._faults = [fault for fault in self._faults if fault["times"] != 0]

    async def _state(self) -> None:
        # Quotes that serve more than once take one of the provider's own protections away: what is left against a
        # second refund is the key under which it is asked for.
        body = {
            "faults": self._faults,
            "completion_seconds": self._completion_seconds,
            "quote_single_use": False,
        }
        try:
            (await self._admin.put("/_admin/switches", json=body)).raise_for_status()
        except httpx2.TransportError:
            # It is away; whoever starts it again restores.
            return
