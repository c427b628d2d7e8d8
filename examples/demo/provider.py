"""The payments provider's other side: its fault switches and its ledger."""

from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import httpx2


@dataclass(frozen=True)
class Ledger:
    """What really happened there, for one operation or for all."""

    posts: list[dict[str, Any]]
    refunds: list[dict[str, Any]]
    effects_by_operation: dict[str, int]

    @property
    def effects(self) -> int:
        """Refunds made."""
        return len(self.refunds)

    @property
    def faults(self) -> tuple[str | None, ...]:
        """The switch that each post ran into, if any."""
        return tuple(post["fault"] for post in self.posts)


class Provider:
    """Switches and evidence; our client reference there is the operation id."""

    def __init__(self, url: str, admin_key: str) -> None:
        headers = {"Authorization": f"Bearer {admin_key}"}
        self._http = httpx2.AsyncClient(base_url=f"{url}/_admin", headers=headers, trust_env=False)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.aclose()

    async def break_next_refund(self, do: str, order_id: str, seconds: float | None = None) -> None:
        """Set one switch for the next refund of one order."""
        fault = {"on": "refund", "do": do, "seconds": seconds, "times": 1, "match": {"order_id": order_id}}
        (await self._http.put("/switches", json={"faults": [fault]})).raise_for_status()

    async def replace_payment(self, order_id: str) -> str:
        """The customer pays anew; gives the new payment's id."""
        answer = (await self._http.post(f"/orders/{order_id}/replace-payment")).raise_for_status().json()
        return str(answer["payment"]["payment_id"])

    async def ledger(self, operation_id: str | None = None) -> Ledger:
        """Posts and refunds so far."""
        params = {} if operation_id is None else {"client_reference": operation_id}
        body = (await self._http.get("/ledger", params=params)).raise_for_status().json()
        return Ledger(body["posts"], body["refunds"], body["effects_by_client_reference"])
