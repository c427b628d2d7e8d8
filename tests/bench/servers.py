"""Real servers beside what is measured, in a loop of their own, so that what is timed may block."""

import asyncio
import threading
from collections.abc import Collection, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from worker.dev.stack import Stack

T = TypeVar("T")


class Loop:
    """An event loop in a thread; `wait` blocks until a coroutine is done in it."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def wait(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """What the coroutine gives."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    def close(self) -> None:
        """End the thread."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


@contextmanager
def running(folder: Path, only: Collection[str] | None = None) -> Iterator[tuple[Stack, Loop]]:
    """The stack, or some of its processes, and the loop that it runs in."""
    loop = Loop()
    stack = Stack(folder, only=only, restart=False)
    try:
        loop.wait(stack.__aenter__())
        try:
            yield stack, loop
        finally:
            loop.wait(stack.__aexit__(None, None, None))
    finally:
        loop.close()
