"""A door that is asked for more than it bears says so, and lets tenants in by turns."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from adapters.intake.room import Room
from tests.support.waiting import until
from workflows.domain.errors import Overloaded

SOON, LONG = 0.05, 30.0


@asynccontextmanager
async def taken(room: Room, *tenants: str) -> AsyncIterator[AsyncExitStack]:
    """These have a place each."""
    async with AsyncExitStack() as stack:
        for tenant in tenants:
            await stack.enter_async_context(room.place(tenant))
        yield stack


class Queue:
    """Turns that wait for a place, in the order in which they get one; each leaves when the test says so."""

    def __init__(self, room: Room) -> None:
        self.room, self.called, self.leaving = room, list[str](), asyncio.Event()
        self.turns: list[asyncio.Task[None]] = []

    async def join(self, *tenants: str) -> None:
        for tenant in tenants:
            self.turns.append(asyncio.create_task(self._stay(tenant)))
            await asyncio.sleep(0)

    async def _stay(self, tenant: str) -> None:
        async with self.room.place(tenant):
            self.called.append(tenant)
            await self.leaving.wait()

    async def all_have_left(self) -> None:
        self.leaving.set()
        await asyncio.gather(*self.turns)


async def test_as_many_as_there_are_places_come_in_at_once() -> None:
    async with taken(Room(3, patience=SOON), "a", "a", "a"):
        pass


async def test_one_more_waits_until_somebody_leaves() -> None:
    room = Room(2, patience=LONG)
    queue = Queue(room)
    async with taken(room, "a", "b"):
        await queue.join("c")
        assert queue.called == []
    await queue.all_have_left()
    assert queue.called == ["c"]


async def test_who_waits_in_vain_is_told_when_to_come_back_and_leaves_no_trace() -> None:
    room = Room(1, patience=SOON)
    async with taken(room, "a"):
        with pytest.raises(Overloaded) as refused:
            async with room.place("b"):
                pass
        assert refused.value.retry_after >= 1
    async with taken(room, "b"):
        pass


async def test_of_one_tenant_only_so_many_may_wait_and_the_others_still_may() -> None:
    room = Room(4, patience=LONG)
    queue = Queue(room)
    async with taken(room, *["loud"] * 4):
        await queue.join("loud", "loud")
        with pytest.raises(Overloaded):
            async with room.place("loud"):
                pass
        await queue.join("quiet")
    await queue.all_have_left()
    assert sorted(queue.called) == ["loud", "loud", "quiet"]


async def test_the_next_place_is_for_the_tenant_who_has_the_fewest() -> None:
    room = Room(4, patience=LONG)
    queue = Queue(room)
    async with taken(room, "loud", "loud", "loud") as places:
        async with taken(room, "quiet"):
            await queue.join("loud", "loud", "quiet")
            await places.aclose()
            await until(lambda: called(queue), lambda names: len(names) == 3)
        assert queue.called[0] == "quiet"
    await queue.all_have_left()


async def test_tenants_with_as_many_come_in_by_turns() -> None:
    room = Room(1, patience=LONG)
    queue = Queue(room)
    queue.leaving.set()
    async with taken(room, "z"):
        await queue.join("a", "b")
    await queue.all_have_left()
    assert queue.called == ["a", "b"]


async def test_who_has_left_early_takes_no_place_and_leaves_once() -> None:
    room = Room(1, patience=SOON)
    async with room.place("a") as place:
        place.leave()
        place.leave()
        async with taken(room, "b"):
            with pytest.raises(Overloaded):
                async with room.place("c"):
                    pass


async def test_who_hangs_up_while_waiting_leaves_the_queue() -> None:
    room = Room(2, patience=LONG)
    queue = Queue(room)
    async with taken(room, "a", "a"):
        await queue.join("gone", "stays")
        queue.turns[0].cancel()
        await asyncio.gather(queue.turns[0], return_exceptions=True)
    queue.turns = queue.turns[1:]
    await until(lambda: called(queue), lambda names: names == ["stays"])
    await queue.all_have_left()


async def test_who_hangs_up_in_the_moment_of_being_called_gives_the_place_to_the_next() -> None:
    room = Room(1, patience=LONG)
    queue = Queue(room)
    async with taken(room, "a"):
        await queue.join("gone", "stays")
    # The first has its place now, and has not noticed yet.
    queue.turns[0].cancel()
    await asyncio.gather(queue.turns[0], return_exceptions=True)
    queue.turns = queue.turns[1:]
    await until(lambda: called(queue), lambda names: names == ["stays"])
    await queue.all_have_left()


async def test_the_longer_turns_stay_the_later_others_are_told_to_come_back() -> None:
    now = 0.0
    room = Room(1, patience=SOON, clock=lambda: now, chance=lambda: 0.0)

    async def told() -> int:
        async with room.place("a"):
            with pytest.raises(Overloaded) as refused:
                async with room.place("b"):
                    pass
            return refused.value.retry_after

    assert await told() == 1
    for _ in range(60):
        async with room.place("a"):
            now += 7.0
    assert await told() == 7


async def called(queue: Queue) -> list[str]:
    return queue.called
