"""A closed loop: so many callers, each of whom asks again as soon as it is answered."""

import asyncio
import time
from collections.abc import Awaitable, Callable

Call = Callable[[], Awaitable[object]]


async def closed_loop(call: Call, callers: int, calls: int) -> list[float]:
    """Call so often in all; returns the seconds that each call took."""
    left, taken = calls, list[float]()

    async def caller() -> None:
        nonlocal left
        while left > 0:
            left -= 1
            began = time.perf_counter()
            await call()
            taken.append(time.perf_counter() - began)

    await asyncio.gather(*(caller() for _ in range(min(callers, calls))))
    return taken
