"""How to tell that a child can be used: it answers, it listens, or it says so itself."""

import asyncio
from collections.abc import Awaitable, Callable

from worker.dev.layout import Layout
from worker.dev.ports import HOST

Probe = Callable[[Layout, str], Awaitable[bool]]

# Longer than a healthy local server ever takes to answer (seconds).
PROBE_TIMEOUT = 2.0


def answers(port: str, path: str = "/healthz") -> Probe:
    """HTTP 200 on a path."""

    async def probe(layout: Layout, _name: str) -> bool:
        try:
            return await asyncio.wait_for(_status(layout.ports[port], path), PROBE_TIMEOUT) == 200
        except (OSError, ValueError, TimeoutError):
            return False

    return probe


def listens(port: str) -> Probe:
    """A TCP connection is accepted."""

    async def probe(layout: Layout, _name: str) -> bool:
        try:
            _, writer = await asyncio.wait_for(asyncio.open_connection(HOST, layout.ports[port]), PROBE_TIMEOUT)
        except (OSError, TimeoutError):
            return False
        writer.close()
        return True

    return probe


async def says_so(layout: Layout, name: str) -> bool:
    """The child has touched the file that ``ONCEWARD_READY_FILE`` names: for those that listen on no port."""
    return layout.folder.ready_file(name).exists()


async def _status(port: int, path: str) -> int:
    # A few lines instead of an HTTP client: the supervisor should be up at once and depend on nothing that it starts.
    reader, writer = await asyncio.open_connection(HOST, port)
    try:
        writer.write(f"GET {path} HTTP/1.1\r\nHost: {HOST}:{port}\r\nConnection: close\r\n\r\n".encode())
        return int((await reader.readline()).split()[1])
    except IndexError as cut_short:
        raise ValueError("no status line") from cut_short
    finally:
        writer.close()
