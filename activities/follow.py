"""Waiting for other operations of the same turn to end. It looks at our own database and changes nothing.

Who waits in an activity keeps others from being run: many turns that wait for reads would leave no room for the very
reads that they wait for. So only the first try waits, and briefly; after it the server is asked to try again later.
"""

import asyncio
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from temporalio import activity
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory

from activities.ports import Operations
from activities.step import is_the_last_attempt, step
from workflows import contracts
from workflows.domain.lifecycle import ENDS
from workflows.messages import Followed, FollowOrder

HELD_SECONDS = 1.0
"""How long the first try looks again and again: most reads have ended by then."""
FIRST_LOOK_SECONDS, GROWTH = 0.02, 1.2

SHORTEST_PAUSE_SECONDS = 0.5
SHARE_OF_THE_WAIT = 0.25
"""A later try comes after this share of the time waited so far, so patience is over before the attempts are."""


class Follow:
    """Looks until all of them have ended or patience has."""

    def __init__(self, operations: Operations) -> None:
        self._operations = operations

    @activity.defn(name=contracts.FOLLOW)
    async def follow(self, order: FollowOrder) -> Followed:
        """Return the states in which the operations have ended; no states when not all have in time.

        Raises:
            ApplicationError: not all have ended yet; it says when to try again.
        """
        async with step():
            ended = await self._ends(order.operation_ids, 0.0 if _tried_before() else HELD_SECONDS)
        waited = (datetime.now(UTC) - activity.info().scheduled_time).total_seconds()
        if ended is None and waited < order.patience_seconds and not is_the_last_attempt(contracts.FOLLOW):
            raise _not_yet(waited)
        return Followed(ended or [])

    async def _ends(self, operation_ids: Sequence[str], seconds: float) -> list[str] | None:
        """The states of all of them once they have ended, None when that takes longer than so many seconds."""
        deadline, pause = time.monotonic() + seconds, FIRST_LOOK_SECONDS
        while True:
            states = await self._operations.states(operation_ids)
            if all(state in ENDS for state in states):
                return [state.value for state in states]
            if time.monotonic() >= deadline:
                return None
            await asyncio.sleep(pause)
            pause *= GROWTH


def _tried_before() -> bool:
    return activity.info().attempt > 1


def _not_yet(waited: float) -> ApplicationError:
    return ApplicationError(
        "not all have ended yet",
        type="not_ended_yet",
        next_retry_delay=timedelta(seconds=max(SHORTEST_PAUSE_SECONDS, SHARE_OF_THE_WAIT * waited)),
        # Nothing is wrong, so nobody is told of it.
        category=ApplicationErrorCategory.BENIGN,
    )
