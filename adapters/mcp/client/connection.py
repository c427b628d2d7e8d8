"""One open connection to a server. It lives in a task of its own, so that whoever calls may be cancelled without it."""

import asyncio
import logging
import secrets
from contextlib import AbstractAsyncContextManager
from math import isfinite
from typing import Any, Final

import mcp_types
from mcp import Client
from mcp.client import advertise
from mcp.client.session import ClientSession
from mcp.shared.dispatcher import ProgressFnT
from pydantic import RootModel

from adapters.mcp.client.watching import Streams, watched
from workflows.domain.invocation import Hear, listener

Json = dict[str, Any]

TASKS: Final = "io.modelcontextprotocol/tasks"
US: Final = mcp_types.Implementation(name="onceward", version="1")
MOST_PAGES: Final = 50
MOST_TOOLS: Final = 2000


class AsItCame(RootModel[Json]):
    """A result as the server wrote it."""


class ServerAway(Exception):
    """The server cannot be reached, or does not speak the protocol."""


class Connection:
    """Made by `opened`. It answers no question of the server's: no sampling, no elicitation, no roots."""

    def __init__(self, transport: AbstractAsyncContextManager[Streams]) -> None:
        self.id = secrets.token_hex(4)
        self._client = Client(
            watched(transport), cache=None, client_info=US, extensions=[advertise(TASKS)], input_required_max_rounds=0
        )
        self._ready: asyncio.Future[ClientSession] = asyncio.get_running_loop().create_future()
        self._leave = asyncio.Event()
        self._task = asyncio.create_task(self._live())

    @classmethod
    async def opened(cls, transport: AbstractAsyncContextManager[Streams]) -> "Connection":
        """Connect and agree on a revision; raises `ServerAway`."""
        _hush()
        connection = cls(transport)
        try:
            await asyncio.shield(connection._ready)
        except BaseException:
            await connection.close()
            raise
        return connection

    @property
    def alive(self) -> bool:
        """Whether it is still there as far as we know."""
        return not self._task.done()

    @property
    def identity(self) -> str:
        """The name that the server gives itself, empty when it gives none."""
        info = self._client.server_info
        return info.name if info is not None else ""

    async def listed(self) -> list[mcp_types.Tool]:
        """Every tool that the server has now, asked anew."""
        session, found, cursor = await self._session(), list[mcp_types.Tool](), None
        for _ in range(MOST_PAGES):
            page = await session.list_tools(params=mcp_types.PaginatedRequestParams(cursor=cursor))
            found += page.tools
            cursor = page.next_cursor
            if cursor is None or len(found) > MOST_TOOLS:
                return found
        return found

    async def asked(self, request: mcp_types.Request[Any, Any]) -> Json:
        """Send one request once, and return its result as it came, checked against the revision's own schema.

        Raises:
            MCPError: a JSON-RPC error, or the connection is lost.
            ValidationError: the result is none of this revision.
        """
        session = await self._session()
        return (await session.send_request(request, AsItCame, progress_callback=_telling(listener()))).root

    def leave(self) -> None:
        """Begin to leave; a server that was started for it is ended, which may take seconds."""
        self._leave.set()
        if not self._ready.done():
            self._task.cancel()

    async def close(self) -> None:
        """Leave, and wait until that is done. Whoever is cancelled meanwhile leaves it to be done."""
        self.leave()
        await asyncio.wait({self._task})

    async def _session(self) -> ClientSession:
        return await asyncio.shield(self._ready)

    async def _live(self) -> None:
        try:
            async with self._client as client:
                self._ready.set_result(client.session)
                await self._leave.wait()
        except Exception:
            # The package's errors may hold what the server said; of that nothing is let out.
            if not self._ready.done():
                self._ready.set_exception(ServerAway())
                self._ready.exception()
        finally:
            if not self._ready.done():
                self._ready.cancel()


def _hush() -> None:
    """The package's log repeats what a server has written, and that may be anything."""
    for name in ("mcp.client", "mcp.shared", "client"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def _telling(hear: Hear) -> ProgressFnT:
    # Its words are left behind, as they may be anything.
    async def heard(progress: float, total: float | None, message: str | None) -> None:  # noqa: ARG001 - as above
        if isfinite(progress) and (total is None or isfinite(total)):
            hear(progress, total)

    return heard
