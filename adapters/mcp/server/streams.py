"""A host's standard streams, line by line.

Whoever has started us may stop writing or reading at any moment and for ever. Both are waited for in threads that
nobody waits for in turn, so that neither keeps the process from its end.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from functools import partial
from threading import Thread
from typing import BinaryIO, TypeVar

Made = TypeVar("Made")


async def lines(source: BinaryIO, longest: int) -> AsyncIterator[bytes]:
    """Lines that say something; one of more than `longest` bytes is cut, and so is no JSON."""
    cut = False
    while line := await _aside(lambda: source.readline(longest + 1)):
        whole = line.endswith(b"\n")
        if line.strip() and not cut:
            yield line.strip()
        cut = not whole


async def write(output: BinaryIO, line: bytes) -> None:
    """Write one line; raises `OSError` when nobody listens any more."""

    def work() -> None:
        output.write(line + b"\n")
        output.flush()

    await _aside(work)


async def _aside(work: Callable[[], Made]) -> Made:
    # A thread of the loop's own pool would be waited for when the loop ends.
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Made] = loop.create_future()

    def run() -> None:
        try:
            made = work()
        except Exception as failure:
            tell(partial(done.set_exception, failure))
        else:
            tell(partial(done.set_result, made))

    def tell(end: Callable[[], object]) -> None:
        # The loop may have ended meanwhile, or nobody waits any more.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(lambda: None if done.done() else end())

    Thread(target=run, daemon=True).start()
    return await done
