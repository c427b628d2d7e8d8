"""Starts everything, lets everyone have their turns, and reads what each has left behind."""

import asyncio
import random
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
from temporalio.client import Client

from adapters.postgres.engine import Database
from tests.bench.durable import contestants, costs, house, quiet, telling
from tests.bench.durable.contestants import Contestant
from tests.bench.durable.costs import Meter, milliseconds_each
from tests.bench.durable.figures import ALONE, TOGETHER, Found, Measured, Slot
from tests.bench.durable.histories import trail
from tests.bench.durable.house import House
from tests.bench.durable.onceward import Onceward
from tests.bench.durable.plan import Plan
from tests.bench.durable.steps import Steps
from tests.support.plain import PLAIN

Slots = defaultdict[tuple[str, int], list[Slot]]
"""Of each contestant with so many callers, repeat by repeat."""


async def measure(plan: Plan) -> Found:
    """Everyone's figures. What does not start, or does not come to success, ends it with an error that says which."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        async with house.running(Path(folder) / "durable") as running, _guests(running) as guests:
            return await guests.measured(plan)


class Guests:
    """Everyone who takes part, in one house."""

    def __init__(self, everyone: Sequence[Contestant], meter: Meter, client: Client, owner: Database) -> None:
        self._all, self._meter, self._client, self._owner = everyone, meter, client, owner

    async def measured(self, plan: Plan) -> Found:
        """Warm up, take the turns, read the histories."""
        print(plan.words(len(self._all)), flush=True)
        for each in self._all:
            await self._turn(each, TOGETHER, plan.warm_up)
        slots = await self._repeats(plan)
        return {each.name: await self._figures(each, slots) for each in self._all}

    async def _repeats(self, plan: Plan) -> Slots:
        order, slots = random.Random(plan.seed), Slots(list)
        for repeat in range(plan.repeats):
            turns = [(each, callers) for each in self._all for callers in (ALONE, TOGETHER)]
            for each, callers in order.sample(turns, len(turns)):
                slot = await self._turn(each, callers, plan.alone if callers == ALONE else plan.together)
                slots[each.name, callers].append(slot)
                print(telling.progress(repeat, plan, each.name, callers, slot), flush=True)
        return slots

    async def _turn(self, each: Contestant, callers: int, calls: int) -> Slot:
        async with self._relayed(each):
            await each.prepare(calls)
            await quiet.settled(self._owner)
            before, own, began = self._meter.read(), costs.callers(), time.perf_counter()
            seconds = await _driven(each, callers, calls)
            elapsed, owned = time.perf_counter() - began, costs.callers()
        await quiet.settled(self._owner)
        after = self._meter.read()
        cpu = milliseconds_each(before, after, calls) | milliseconds_each(own, owned, calls)
        return Slot(seconds, elapsed, cpu, {**after.memory_mb, **owned.memory_mb})

    @asynccontextmanager
    async def _relayed(self, each: Contestant) -> AsyncIterator[None]:
        if each.started_by_relay:
            yield
            return
        async with quiet.without_starts(self._owner):
            yield

    async def _figures(self, each: Contestant, slots: Slots) -> Measured:
        left = await trail(self._client, list(each.workflows))
        return Measured(each.name, each.about, slots[each.name, ALONE], slots[each.name, TOGETHER], left)


async def _driven(each: Contestant, callers: int, calls: int) -> list[float]:
    """The times of its calls; raises RuntimeError, which says whose call failed and how."""
    try:
        return await each.drive(callers, calls)
    except Exception as error:
        raise RuntimeError(f"{each.name}: {type(error).__name__}: {error}") from error


@asynccontextmanager
async def _guests(running: House) -> AsyncIterator[Guests]:
    owner = Database(running.stack.dsn("onceward_owner"), application_name="bench-owner", pool_size=16)
    limits = httpx2.Limits(max_connections=32)
    try:
        await contestants.furnish(owner)
        async with (
            Onceward.connected(running.stack) as onceward,
            Steps.connected(running.stack.dsn("onceward_worker")) as steps,
            httpx2.AsyncClient(timeout=60, verify=PLAIN, limits=limits) as http,
        ):
            everyone = contestants.all_of(running, onceward, steps, owner, http)
            yield Guests(everyone, Meter(running.pids), onceward.client, owner)
    finally:
        await owner.close()


def run(plan: Plan) -> Found:
    """From a program."""
    return asyncio.run(measure(plan))
