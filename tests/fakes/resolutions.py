"""Operators' words, in memory."""

from tests.fakes.world import World
from workflows.domain.resolution import Resolution


class MemoryResolutions:
    """Fits `activities.ports.Resolutions`."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def given(self, operation_id: str, generation: int, item: str = "") -> Resolution | None:
        return self._world.resolutions.get((operation_id, item, generation))
