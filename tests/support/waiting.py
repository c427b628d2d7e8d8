"""Waiting for something that happens by itself, without guessing how long it takes."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")

PATIENCE_SECONDS = 45.0
"""Longer than anything here takes on a busy machine; a test that gets there has failed."""
POLL_SECONDS = 0.03


async def until(look: Callable[[], Awaitable[T]], content: Callable[[T], bool], within: float = PATIENCE_SECONDS) -> T:
    """Look again and again; return the first look that is `content`, or fail with the last one."""
    deadline = time.monotonic() + within
    while True:
        seen = await look()
        if content(seen):
            return seen
        assert time.monotonic() < deadline, f"it did not happen within {within} s; last seen: {seen!r}"
        await asyncio.sleep(POLL_SECONDS)


def wait_until(happened: Callable[[], bool], within: float = PATIENCE_SECONDS) -> None:
    """Look again and again, where nothing else has to go on meanwhile; fail when it has not happened in time."""
    deadline = time.monotonic() + within
    while not happened():
        assert time.monotonic() < deadline, f"it did not happen within {within} s"
        time.sleep(POLL_SECONDS)
