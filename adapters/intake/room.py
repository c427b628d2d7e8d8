"""How many turns one door has under way at once, and who is next: overload ends in a refusal, not in a collapse.

A turn has a place from when it is judged until none of its operations waits to be begun: what waits for people or takes
its time downstream takes no place from others. When all places are taken, turns wait a moment. The next place
goes to the tenant who has the fewest, so one who asks for much waits for itself and for nobody else. Who waits in vain,
or would be one too many of a tenant's, is told to come back later, and nothing was begun.
"""

import asyncio
import math
import secrets
import time
from collections import Counter, defaultdict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from workflows.domain.errors import Overloaded

PATIENCE_SECONDS = 2.0
"""How long a turn waits for a place."""

WEIGHT = 0.1
"""Of the newest stay in the mean that says how soon to come back."""

LATEST_RETRY = 30.0

CHANCE = secrets.SystemRandom()

UNLIMITED = 1_000_000
"""So many places are as good as no limit."""


class Room:
    """So many places; of each tenant half as many turns may wait for one."""

    def __init__(
        self,
        places: int,
        *,
        patience: float = PATIENCE_SECONDS,
        clock: Callable[[], float] = time.monotonic,
        chance: Callable[[], float] = CHANCE.random,
    ) -> None:
        """`chance`, from 0 to 1, keeps those who were turned away from all coming back at once."""
        self._places, self._patience, self._clock, self._chance = places, patience, clock, chance
        self._taken: Counter[str] = Counter()
        self._queues: defaultdict[str, deque[asyncio.Future[None]]] = defaultdict(deque)
        self._stay = 0.0

    @asynccontextmanager
    async def place(self, tenant: str) -> AsyncIterator["Place"]:
        """A place of this tenant's, until the block ends or `Place.leave` is called.

        Raises:
            Overloaded: there is none, and will be none soon.
        """
        await self._enter(tenant)
        place = Place(self, tenant, self._clock())
        try:
            yield place
        finally:
            place.leave()

    async def _enter(self, tenant: str) -> None:
        if self._taken.total() < self._places and not self._queues:
            self._taken[tenant] += 1
            return
        if len(self._queues.get(tenant, ())) >= max(1, self._places // 2):
            raise Overloaded(self._retry_after())
        await self._queue(tenant)

    async def _queue(self, tenant: str) -> None:
        called: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queues[tenant].append(called)
        try:
            async with asyncio.timeout(self._patience):
                await called
        except BaseException as error:
            if called.done() and not called.cancelled():
                # It was given a place in the same moment.
                self._give_back(tenant)
            else:
                self._strike_off(tenant, called)
            if isinstance(error, TimeoutError):
                raise Overloaded(self._retry_after()) from None
            raise

    def left(self, tenant: str, since: float) -> None:
        """A place is free again that was taken at that moment of our clock."""
        self._stay += WEIGHT * (self._clock() - since - self._stay)
        self._give_back(tenant)

    def _give_back(self, tenant: str) -> None:
        self._taken[tenant] -= 1
        if not self._taken[tenant]:
            del self._taken[tenant]
        while self._queues and self._taken.total() < self._places:
            self._call_next()

    def _call_next(self) -> None:
        # Of those with as few, whoever's turn has waited longest: queues are in the order of their beginning.
        tenant = min(self._queues, key=lambda name: self._taken[name])
        called = self._queues[tenant][0]
        self._strike_off(tenant, called)
        if not called.done():
            self._taken[tenant] += 1
            called.set_result(None)

    def _strike_off(self, tenant: str, called: asyncio.Future[None]) -> None:
        queue = self._queues[tenant]
        if called in queue:
            queue.remove(called)
        if not queue:
            del self._queues[tenant]

    def _waiting(self) -> int:
        return sum(map(len, self._queues.values()))

    def _retry_after(self) -> int:
        """Whole seconds: as long as those who are here and wait will take, and up to twice that."""
        seconds = self._stay * (1 + self._waiting() / self._places) * (1 + self._chance())
        return math.ceil(min(max(seconds, 1.0), LATEST_RETRY))


class Place:
    """One turn's."""

    def __init__(self, room: Room, tenant: str, since: float) -> None:
        self._room, self._tenant, self._since = room, tenant, since
        self._left = False

    def leave(self) -> None:
        """Let somebody else have it; doing so twice is doing so once."""
        if not self._left:
            self._left = True
            self._room.left(self._tenant, self._since)
