"""The processes of a run: the embedded stack with two workers, two relays and two doors, and what is done to them."""

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from tests.chaos.load import TWO_APPROVERS_ABOVE, UNASKED_UP_TO
from tests.chaos.steps import DOORS, RELAYS, WORKERS
from worker.dev import environment
from worker.dev.children import TABLE
from worker.dev.errors import ChildFailed, UnknownChild
from worker.dev.layout import Layout
from worker.dev.stack import Stack

PATIENCE_SECONDS = 90.0
"""How long a killed process may take until it serves again, what it stands on included."""

LOOK_SECONDS = 0.5

ENOUGH = 10**15
"""Won that nobody reaches in a day."""

SERVERS = ("postgres", "temporal", "provider", "issuer")
EVERYTHING = (*SERVERS, *DOORS, *RELAYS, *WORKERS)


def _worker_environment(layout: Layout) -> environment.Environment:
    """The worker of the stack, with a policy by which small acts pass unasked and very large ones need two people."""
    return {
        **environment.worker(layout),
        "ONCEWARD_POLICY_UNASKED_UP_TO": json.dumps({"KRW": UNASKED_UP_TO}),
        "ONCEWARD_POLICY_DAILY_UNASKED_UP_TO": json.dumps({"KRW": ENOUGH}),
        "ONCEWARD_POLICY_TENANT_DAILY_UNASKED_UP_TO": json.dumps({"KRW": ENOUGH}),
        "ONCEWARD_POLICY_TWO_APPROVERS_ABOVE": json.dumps({"KRW": TWO_APPROVERS_ABOVE}),
    }


TABLE_OF_RUNS = tuple(
    replace(child, environment=_worker_environment) if child.name == "worker" else child for child in TABLE
)


class Processes:
    """Kills, pauses and revives; whatever dies by itself is revived too, and counted."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        self.deaths: Counter[str] = Counter()
        self._busy = {name: asyncio.Lock() for name in EVERYTHING}

    @classmethod
    @asynccontextmanager
    async def started(cls, state: Path) -> AsyncIterator["Processes"]:
        """All of them, kept running until the block ends."""
        async with Stack(state, table=TABLE_OF_RUNS, restart=False) as stack:
            copies = [name for name in (*DOORS, *RELAYS, *WORKERS) if name not in stack.running()]
            await asyncio.gather(*(stack.spawn(name.removesuffix("-2"), name=name) for name in copies))
            processes = cls(stack)
            keeping = asyncio.create_task(processes.keep())
            try:
                yield processes
            finally:
                keeping.cancel()
                await asyncio.gather(keeping, return_exceptions=True)
                # They have nothing left to do, and an end in good order takes each of them seconds.
                ours = [name for name in (*DOORS, *RELAYS, *WORKERS) if name in stack.running()]
                await asyncio.gather(*(stack.kill(name) for name in ours))

    async def kill(self, names: Iterable[str]) -> bool:
        """SIGKILL them all at once and start them again; False when none of them ran."""
        return any(await asyncio.gather(*(self._kill(name) for name in names)))

    @asynccontextmanager
    async def paused(self, name: str) -> AsyncIterator[bool]:
        """SIGSTOP for the time of the block; gives whether it ran."""
        async with self._busy[name]:
            runs = name in self.stack.running()
            if runs:
                self.stack.pause(name)
            try:
                yield runs
            finally:
                if name in self.stack.running():
                    self.stack.resume(name)

    async def keep(self) -> None:
        """Start again what has died by itself."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            missing = [name for name in EVERYTHING if name not in self.stack.running()]
            await asyncio.gather(*(self._find_dead(name) for name in missing if not self._busy[name].locked()))

    async def all_running(self) -> None:
        """Return when each of them runs and nothing is done to any."""
        for name in EVERYTHING:
            async with self._busy[name]:
                await self._revive(name)

    async def _kill(self, name: str) -> bool:
        async with self._busy[name]:
            try:
                await self.stack.kill(name)
            except UnknownChild:
                return False
            finally:
                await self._revive(name)
            return True

    async def _find_dead(self, name: str) -> None:
        async with self._busy[name]:
            if name not in self.stack.running():
                self.deaths[name] += 1
                await self._revive(name)

    async def _revive(self, name: str) -> None:
        """Start it as often as it takes: what it stands on may be away just now."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                await self.stack.start(name)
            except ChildFailed:
                if time.monotonic() > deadline:
                    raise
            else:
                return
