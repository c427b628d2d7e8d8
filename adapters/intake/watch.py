"""Waiting for operations, by asking the store: quickly at first, then every half second."""

import asyncio
from collections.abc import Callable, Sequence

from adapters.intake.ports import Progress, Standing
from workflows.domain.principal import Principal

FIRST_LOOK_SECONDS = 0.02
SLOWEST_LOOK_SECONDS = 0.5


class Watch:
    """Watches on behalf of callers who wait. `closing` says that the process is about to end."""

    def __init__(
        self, progress: Progress, clock: Callable[[], float], closing: Callable[[], bool] = lambda: False
    ) -> None:
        self._progress, self._clock, self._closing = progress, clock, closing

    async def until(
        self, enough: Callable[[Standing], bool], principal: Principal, operation_ids: Sequence[str], seconds: float
    ) -> dict[str, Standing]:
        """Return where the operations stand once that is `enough` for each, or patience has ended."""
        deadline, pause = self._clock() + seconds, FIRST_LOOK_SECONDS
        while True:
            standings = await self._progress.standings(principal, operation_ids)
            left = deadline - self._clock()
            if left <= 0 or self._closing() or all(map(enough, standings.values())):
                return standings
            await asyncio.sleep(min(pause, left))
            pause = min(pause * 1.5, SLOWEST_LOOK_SECONDS)
