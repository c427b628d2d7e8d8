"""Waiting for operations, by asking the store: the longer the wait has been, the less often."""

import asyncio
from collections.abc import Callable, Sequence

from adapters.intake.ports import Progress, Standing
from workflows.domain.principal import Principal

FIRST_LOOK_SECONDS = 0.02
SLOWEST_LOOK_SECONDS = 0.5
SHARE_OF_THE_WAIT = 0.1
"""A pause is this share of the time waited so far, so that nobody learns of an end later than by that much."""


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
        begun = self._clock()
        while True:
            standings = await self._progress.standings(principal, operation_ids)
            waited = self._clock() - begun
            left = seconds - waited
            if left <= 0 or self._closing() or all(map(enough, standings.values())):
                return standings
            pause = min(max(FIRST_LOOK_SECONDS, SHARE_OF_THE_WAIT * waited), SLOWEST_LOOK_SECONDS)
            await asyncio.sleep(min(pause, left))
