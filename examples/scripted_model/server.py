"""The scripted model as a server inside the caller's own event loop."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager

import uvicorn

from examples.scripted_model.app import create_app
from examples.scripted_model.script import Script
from examples.scripted_model.scripts import SCRIPTS

HOST = "127.0.0.1"


class _Guest(uvicorn.Server):
    """A server that leaves the signals to its host."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def scripted_model(scripts: Mapping[str, Script] = SCRIPTS, port: int = 0) -> AsyncIterator[str]:
    """Serve until the end of the block; gives the base URL. Port 0 takes a free one."""
    with socket.create_server((HOST, port)) as listener:
        config = uvicorn.Config(create_app(scripts), log_level="warning", lifespan="off", ws="none")
        server = _Guest(config)
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            # The socket listens already: whoever connects before the first accept waits a moment.
            yield f"http://{HOST}:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            await serving
