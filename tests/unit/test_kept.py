"""What takes long to read is read seldom, and nobody waits long for it."""

import asyncio

import pytest

from tests.support.waiting import until
from worker.kept import SHARE, SHORTEST_SECONDS, Aged, Kept

NO_PATIENCE = 0.0


class Source:
    """Counts its readings; each takes so long by its own clock, and waits while it is held."""

    def __init__(self, takes: float = 0.0) -> None:
        self.now, self.readings, self.takes = 0.0, 0, takes
        self.failure: Exception | None = None
        self.released = asyncio.Event()
        self.released.set()

    def clock(self) -> float:
        return self.now

    async def read(self) -> int:
        self.readings += 1
        reading = self.readings
        await self.released.wait()
        self.now += self.takes
        if self.failure is not None:
            raise self.failure
        return reading

    def kept(self, patience: float = 5.0) -> Kept[int]:
        return Kept(self.read, clock=self.clock, patience=patience)


async def test_it_is_read_once_however_often_it_is_asked_for() -> None:
    source = Source()
    kept = source.kept()
    answers = await asyncio.gather(*[kept.latest() for _ in range(10)])
    source.now += SHORTEST_SECONDS - 1
    assert {each.value for each in answers if each} == {1}
    assert await kept.latest() == Aged(1, SHORTEST_SECONDS - 1)


async def test_an_old_value_is_read_again() -> None:
    source = Source()
    kept = source.kept()
    await kept.latest()
    source.now += SHORTEST_SECONDS
    assert await kept.latest() == Aged(2, 0.0)


async def test_what_took_long_is_kept_so_much_longer() -> None:
    source = Source(takes=3.0)
    kept = source.kept()
    await kept.latest()
    source.now += SHARE * 3.0 - 1
    assert (await kept.latest() or Aged(0, 0.0)).value == 1
    source.now += 1
    assert (await kept.latest() or Aged(0, 0.0)).value == 2


async def test_nobody_waits_for_a_reading_that_goes_on() -> None:
    source = Source()
    kept = source.kept(NO_PATIENCE)
    source.released.clear()
    assert await kept.latest() is None
    source.released.set()
    assert await until(kept.latest, lambda seen: seen is not None) == Aged(1, 0.0)
    source.released.clear()
    source.now += SHORTEST_SECONDS
    assert await kept.latest() == Aged(1, SHORTEST_SECONDS)
    source.released.set()
    assert await until(kept.latest, lambda seen: seen != Aged(1, SHORTEST_SECONDS)) == Aged(2, 0.0)


async def test_a_reading_that_fails_says_so_and_the_next_one_is_tried_at_once() -> None:
    source = Source()
    kept = source.kept()
    source.failure = ConnectionError("gone")
    with pytest.raises(ConnectionError):
        await kept.latest()
    source.failure = None
    assert await kept.latest() == Aged(2, 0.0)
