"""Waiting for operations: a look, then nothing until there is news of one of them, and another look."""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from adapters.intake.ports import Progress, Standing
from workflows.domain.lifecycle import State
from workflows.domain.principal import Principal

FIRST_LOOK_SECONDS = 0.02
SLOWEST_LOOK_SECONDS = 0.5
SHARE_OF_THE_WAIT = 0.1
"""A pause is this share of the time waited so far, so that nobody learns of an end later than by that much."""


class Ear(Protocol):
    """Hears of some operations."""

    async def within(self, seconds: float, seen: Mapping[str, State]) -> None:
        """Return once one of them may stand elsewhere than was `seen`, or when the time is over."""


class News(Protocol):
    """Says when it is time to look."""

    def about(self, operation_ids: Sequence[str]) -> AbstractContextManager[Ear]:
        """Hear of these operations from now on; what happens before the first look is then seen by it."""


class NoNews:
    """Fits `News` where nobody tells any: it is always time to look, the longer the wait has been, the less often."""

    def about(self, _: Sequence[str]) -> AbstractContextManager[Ear]:
        """See `News`."""
        return nullcontext(_Pauses())


class _Pauses:
    def __init__(self) -> None:
        self._waited = 0.0

    async def within(self, seconds: float, _: Mapping[str, State]) -> None:
        pause = min(max(FIRST_LOOK_SECONDS, SHARE_OF_THE_WAIT * self._waited), SLOWEST_LOOK_SECONDS, seconds)
        self._waited += pause
        await asyncio.sleep(pause)


class Watch:
    """Watches on behalf of callers who wait. `closing` says that the process is about to end."""

    def __init__(
        self,
        progress: Progress,
        clock: Callable[[], float],
        closing: Callable[[], bool] = lambda: False,
        news: News | None = None,
    ) -> None:
        self._progress, self._clock, self._closing = progress, clock, closing
        self._news = news or NoNews()

    async def until(
        self,
        enough: Callable[[Standing], bool],
        principal: Principal,
        operation_ids: Sequence[str],
        seconds: float,
        seen: Callable[[Collection[Standing]], None] = lambda _: None,
    ) -> dict[str, Standing]:
        """Return where the operations stand once that is `enough` for each, or patience has ended.

        `seen` is told of each look.
        """
        begun = self._clock()
        with self._news.about(operation_ids) as ear:
            while True:
                standings = await self._progress.standings(principal, operation_ids)
                seen(standings.values())
                left = seconds - (self._clock() - begun)
                if left <= 0 or self._closing() or all(map(enough, standings.values())):
                    return standings
                await ear.within(left, {name: standing.state for name, standing in standings.items()})
