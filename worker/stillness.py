"""Ends a process whose event loop stands still, so that what it holds is taken up by another.

Temporal's client has threads of its own. They prolong the workflow task of a step that is at work, for as long as they
live and whether the step goes on or not; a loop that hangs would keep its operations from everybody else.
"""

import asyncio
import faulthandler
import os
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

LOOKS = 30
"""So many looks in succession, one each second, at which the loop has not moved."""

EVERY_SECONDS = 1.0

EXIT_CODE = 1


class Pulse:
    """Looks are counted, not seconds: of a process that was stopped as a whole nobody has looked meanwhile."""

    def __init__(self, looks: int = LOOKS) -> None:
        self._most, self._in_vain, self._has_beaten = looks, 0, False

    def beat(self) -> None:
        """The loop has moved."""
        self._has_beaten = True

    def has_stopped(self) -> bool:
        """Look once; whether it has not moved for as many looks as are granted."""
        self._in_vain = 0 if self._has_beaten else self._in_vain + 1
        self._has_beaten = False
        return self._in_vain >= self._most


@asynccontextmanager
async def ends_when_still(pulse: Pulse) -> AsyncIterator[None]:
    """While the block runs, end the process once this loop stands still; where each thread stood goes to stderr."""
    over = threading.Event()
    beating = asyncio.create_task(_beat(pulse))
    threading.Thread(target=_watch, args=(pulse, over), name="stillness", daemon=True).start()
    try:
        yield
    finally:
        over.set()
        beating.cancel()
        await asyncio.gather(beating, return_exceptions=True)


async def _beat(pulse: Pulse) -> None:
    while True:
        pulse.beat()
        await asyncio.sleep(EVERY_SECONDS / 2)


def _watch(pulse: Pulse, over: threading.Event) -> None:
    while not over.wait(EVERY_SECONDS):
        if pulse.has_stopped():
            print("The event loop stands still; this process ends, and another takes up its work.", file=sys.stderr)
            faulthandler.dump_traceback(all_threads=True)
            # Nothing that asks the loop for anything would come to an end.
            os._exit(EXIT_CODE)
