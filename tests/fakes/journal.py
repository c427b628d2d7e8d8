"""The journal of handler calls, in memory."""

from tests.fakes.world import Entry, World
from workflows.domain.errors import AlreadyEnded
from workflows.domain.lifecycle import ENDS, State
from workflows.domain.operation import Operation


class MemoryJournal:
    """Fits `activities.ports.Journal`."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def began(self, operation: Operation, generation: int) -> int:
        kept = self._world.kept(operation.operation_id)
        if kept.operation.state in ENDS:
            raise AlreadyEnded
        if kept.operation.state is State.PROPOSED:
            kept.step(State.STARTED)
        self._world.entries.append(Entry(operation.operation_id, generation))
        return len(self._world.entries)

    async def sent(self, entry: int, request_id: str, task_id: str) -> None:
        made = self._world.entries[entry - 1]
        made.request_id, made.task_id = request_id, task_id or None

    async def ended(self, entry: int, outcome: str) -> None:
        self._world.entries[entry - 1].outcome = outcome
