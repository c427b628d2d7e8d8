"""Waiting for other operations of the same turn to end. It looks at our own database and changes nothing."""

import asyncio
import time

from temporalio import activity

from activities.ports import Operations
from activities.step import step
from workflows import contracts
from workflows.domain.lifecycle import ENDS
from workflows.messages import Followed, FollowOrder

FIRST_LOOK_SECONDS, SLOWEST_LOOK_SECONDS = 0.02, 1.0


class Follow:
    """Looks until all of them have ended or patience has."""

    def __init__(self, operations: Operations) -> None:
        self._operations = operations

    @activity.defn(name=contracts.FOLLOW)
    async def follow(self, order: FollowOrder) -> Followed:
        """Return the states in which the operations have ended; no states when not all have in time."""
        async with step():
            deadline, pause = time.monotonic() + order.patience_seconds, FIRST_LOOK_SECONDS
            while True:
                states = await self._operations.states(order.operation_ids)
                if all(state in ENDS for state in states):
                    return Followed([state.value for state in states])
                if time.monotonic() >= deadline:
                    return Followed()
                await asyncio.sleep(pause)
                pause = min(pause * 1.2, SLOWEST_LOOK_SECONDS)
