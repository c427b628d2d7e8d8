"""One delivery of one event: a signed POST of which only the status counts."""

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import httpx2
from standardwebhooks.webhooks import Webhook

from adapters.pauses import retry_after
from adapters.webhooks.receivers import Receiver

GONE: Final = 410
"""The receiver does not want this any more, and says so for good."""

ASKS_FOR_A_PAUSE: Final = frozenset({429, 503})


@dataclass(frozen=True)
class Event:
    """What is told: `event_id` is the same however often it is; `data` are JSON values."""

    event_id: str
    what: str
    at: datetime
    data: dict[str, Any]

    def body(self) -> str:
        """The bytes that are signed and sent."""
        told = {"type": self.what, "timestamp": self.at.isoformat(), "data": self.data}
        return json.dumps(told, ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True)
class Fate:
    """What came of a delivery: without a `failure` it was taken. `refused` is for good."""

    failure: str = ""
    refused: bool = False
    not_before_seconds: float = 0.0


class Sender:
    """Posts to receivers and nowhere else.

    Redirects are not followed, no proxy is taken from the environment, and of what a receiver answers nothing is read
    but the status and how long it wants to be left alone.
    """

    def __init__(self, keys: Sequence[str], seconds: float, clock: Callable[[], datetime]) -> None:
        """Each delivery is signed with every key and may take so many seconds; `clock` gives the time in UTC."""
        self._keys = tuple(map(Webhook, keys))
        self._seconds, self._clock = seconds, clock
        self._http = httpx2.AsyncClient(trust_env=False, follow_redirects=False, timeout=seconds)

    async def send(self, receiver: Receiver, event: Event) -> Fate:
        """Deliver it once; raises nothing for what the receiver or the network did."""
        body = event.body()
        try:
            # The client's own limit starts anew with every byte, so that a slow drip would last for ever.
            async with asyncio.timeout(self._seconds):
                return await self._post(receiver, body, self._headers(event, body))
        # Whatever a stranger makes of it is a failed delivery, and must not end who delivers.
        except Exception as error:
            return Fate(type(error).__name__)

    async def close(self) -> None:
        """Close its connections."""
        await self._http.aclose()

    async def _post(self, receiver: Receiver, body: str, headers: dict[str, str]) -> Fate:
        async with self._http.stream("POST", receiver.url, content=body.encode(), headers=headers) as response:
            return _fate(response)

    def _headers(self, event: Event, body: str) -> dict[str, str]:
        now = self._clock()
        return {
            "content-type": "application/json",
            "webhook-id": event.event_id,
            "webhook-timestamp": str(int(now.timestamp())),
            "webhook-signature": " ".join(key.sign(event.event_id, now, body) for key in self._keys),
        }


def _fate(response: httpx2.Response) -> Fate:
    if response.is_success:
        return Fate()
    pause = retry_after(response) if response.status_code in ASKS_FOR_A_PAUSE else None
    return Fate(f"status {response.status_code}", response.status_code == GONE, pause or 0.0)
