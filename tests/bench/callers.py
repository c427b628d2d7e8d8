"""Callers that have refunds made at several doors, one after the other, and keep what they were told."""

import asyncio
import itertools
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import httpx2

from tests.bench.measuring import Percentiles, percentiles
from tests.support.onceward import Onceward
from tests.support.plain import PLAIN
from tests.support.proposals import fresh
from tests.support.responses import call, response_with

WAIT_SECONDS: Final = 30.0
OVERLOADED, UNUSUAL_FROM = 503, 400
STILL: Final = ("operation_in_progress", "reconciliation_pending")
"""Codes of what goes on: the same response is handed in again."""


@dataclass
class Told:
    """What callers of one tenant were told: seconds of each turn with all its tries, and what was not an answer."""

    seconds: list[float] = field(default_factory=list)
    refused: int = 0
    cut: int = 0
    unusual: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Tenant:
    """Of one tenant in one measurement; times in seconds.

    `refused` is the share of tries that were told 503; `cut` tries ended without an answer and were made again.
    """

    callers: int
    turns: int
    per_second: float
    times: Percentiles
    refused: float
    unusual: dict[str, int]
    cut: int = 0


class Callers:
    """As many as it takes, spread over the doors."""

    def __init__(self, onceward: Onceward, doors: Sequence[str]) -> None:
        limits = httpx2.Limits(max_connections=None)
        self._onceward = onceward
        self._doors = [httpx2.AsyncClient(base_url=url, timeout=90, verify=PLAIN, limits=limits) for url in doors]

    async def close(self) -> None:
        """Give the connections back."""
        for door in self._doors:
            await door.aclose()

    async def run(self, seconds: float, **callers: int) -> dict[str, Tenant]:
        """So many callers of each tenant for so long; each finishes what it has begun."""
        until_when, told = time.monotonic() + seconds, {tenant: Told() for tenant in callers}
        turns = [
            self._call(tenant, door, told[tenant], until_when)
            for tenant, number in callers.items()
            for door in itertools.islice(itertools.cycle(self._doors), number)
        ]
        began = time.monotonic()
        await asyncio.gather(*turns)
        took = time.monotonic() - began
        return {tenant: _summary(callers[tenant], told[tenant], took) for tenant in callers}

    async def probe(self, tenant: str) -> float:
        """Seconds that one turn of that tenant takes now."""
        told = Told()
        await self._call(tenant, self._doors[0], told, 0.0)
        return told.seconds[0]

    async def _call(self, tenant: str, door: httpx2.AsyncClient, told: Told, until_when: float) -> None:
        token = self._onceward.token(tenant=tenant, seconds=24 * 3600)
        while True:
            order = await self._onceward.provider.add_order(merchant=tenant)
            asked = call("refund_payment", await self._onceward.provider.refund_arguments(order))
            body = {"surface": "anthropic-messages", "wait_seconds": WAIT_SECONDS}
            body["response"] = response_with("anthropic-messages", asked, response_id=fresh("response"))
            await self._until_answered(door, {"Authorization": f"Bearer {token}"}, body, told)
            if time.monotonic() >= until_when:
                return

    async def _until_answered(
        self, door: httpx2.AsyncClient, headers: dict[str, str], body: dict[str, Any], told: Told
    ) -> None:
        began = time.monotonic()
        while True:
            try:
                answer = await door.post("/v1/turns", json=body, headers=headers)
            except httpx2.TransportError:
                # Who has waited for long may meet the door as it ends the connection; the same again is safe.
                told.cut += 1
                continue
            if answer.status_code == OVERLOADED and answer.json()["code"] == "overloaded":
                told.refused += 1
                await asyncio.sleep(float(answer.headers["Retry-After"]))
                continue
            if answer.status_code >= UNUSUAL_FROM:
                told.unusual[f"{answer.status_code}"] += 1
                return
            (result,) = answer.json()["results"]
            if result["final"] or result["error"]["code"] not in STILL:
                break
        if result["status"] != "succeeded":
            told.unusual[result["error"]["code"]] += 1
        told.seconds.append(time.monotonic() - began)


def _summary(callers: int, told: Told, seconds: float) -> Tenant:
    turns = len(told.seconds)
    return Tenant(
        callers=callers,
        turns=turns,
        per_second=round(turns / seconds, 2),
        times=Percentiles(*(round(each, 3) for each in percentiles(told.seconds))),
        refused=round(told.refused / max(1, told.refused + turns), 3),
        unusual=dict(told.unusual),
        cut=told.cut,
    )
