"""How far a run is: what was delivered so far, and waiting for it to be more."""

import asyncio


class Delivered:
    """Counts acts whose first delivery has been answered or given up."""

    def __init__(self, of: int) -> None:
        self.of = of
        self.number = 0
        self._changed = asyncio.Condition()

    async def add(self, number: int) -> None:
        """So many more."""
        async with self._changed:
            self.number += number
            self._changed.notify_all()

    async def reach(self, number: int) -> None:
        """Return once there are so many, or all."""
        async with self._changed:
            await self._changed.wait_for(lambda: self.number >= min(number, self.of))
