"""A value that takes long to read, kept for a while."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")

SHORTEST_SECONDS = 5.0
"""A value is not read again before, however often it is asked for."""

SHARE = 20
"""Nor before so many times as long as reading it took: it costs a twentieth of the time at most."""

PATIENCE_SECONDS = 4.0
"""Whoever asks waits no longer for a new value and is given the last one: scrapers give up after ten."""


class Aged(NamedTuple, Generic[T]):
    """A value and its age in seconds."""

    value: T
    seconds: float


class Kept(Generic[T]):
    """Reads when it is asked, one reading at a time, and not too often; `clock` gives seconds."""

    def __init__(
        self,
        read: Callable[[], Awaitable[T]],
        *,
        clock: Callable[[], float] = time.monotonic,
        patience: float = PATIENCE_SECONDS,
    ) -> None:
        self._read, self._clock, self._patience = read, clock, patience
        self._reading: asyncio.Task[None] | None = None
        self._last: tuple[T, float] | None = None
        self._keep_until = clock()

    async def latest(self) -> Aged[T] | None:
        """The value, None as long as the first reading goes on; raises what a reading raised that has failed."""
        if self._reading is None and self._clock() >= self._keep_until:
            self._reading = asyncio.create_task(self._renew())
        if self._reading is not None:
            await self._wait_for(self._reading)
        return None if self._last is None else Aged(self._last[0], self._clock() - self._last[1])

    async def _wait_for(self, reading: asyncio.Task[None]) -> None:
        await asyncio.wait({reading}, timeout=self._patience)
        if not reading.done():
            return
        if self._reading is reading:
            self._reading = None
        reading.result()

    async def _renew(self) -> None:
        began = self._clock()
        self._last = (await self._read(), began)
        now = self._clock()
        self._keep_until = now + max(SHORTEST_SECONDS, SHARE * (now - began))
