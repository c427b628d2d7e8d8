"""One server: connected when it is needed, held against its pins before every call, each call sent once."""

import asyncio
import subprocess
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Final

import mcp_types
import structlog
from mcp import MCPError
from pydantic import ValidationError

from adapters.mcp.client.answers import Answer, NotSent, Uncertain, answer_in, fate_of
from adapters.mcp.client.configuration import ServerEntry
from adapters.mcp.client.connection import Connection, ServerAway
from adapters.mcp.client.http import http_server
from adapters.mcp.client.pins import PinnedServer, pinned
from adapters.mcp.client.stdio import stdio_server
from adapters.mcp.client.tasks import asked_after, finished, is_at_work, result_in, task_id_in
from adapters.mcp.client.watching import SENDING, Sending, Streams
from workflows.domain.invocation import tell

log = structlog.get_logger(__name__)

Json = dict[str, Any]

START_SECONDS: Final = 60.0
"""How long a server may take until it can be talked to; longer than a call may."""

INHERITED: Final = "PATH"
"""All that a server gets of our own environment beside what is named for it."""


class Server:
    """`variables` holds the values of those that the entry names, and PATH.

    Calls share one connection. A list is asked for before every call and compared with the pins, so that it makes no
    difference whether a server says that its tools have changed, has been exchanged behind its address, or was
    restarted.
    """

    def __init__(
        self,
        name: str,
        entry: ServerEntry,
        pins: PinnedServer,
        variables: Mapping[str, str],
        *,
        stderr: int | None = subprocess.DEVNULL,
    ) -> None:
        self._name, self._entry, self._pins = name, entry, pins
        self._variables, self._stderr = variables, stderr
        self._connection: Connection | None = None
        self._users: dict[Connection, int] = {}
        self._leaving: list[Connection] = []
        self._opening: asyncio.Task[None] | None = None

    async def require(self, tool: str) -> None:
        """Return if the tool is there and what was reviewed; raises `NotSent`."""
        try:
            async with asyncio.timeout(self._entry.deadline_seconds), self._ready_for(tool):
                return
        except TimeoutError:
            raise NotSent("upstream_unavailable") from None

    async def call(self, tool: str, arguments: Json, *, go_on: bool = False) -> Answer:
        """Send one call once and wait for what comes of it, at most until the deadline.

        `go_on`: a task as which the answer is promised is left alone after it, to be asked for by `promised`.

        Raises:
            NotSent: nothing has left, or the server refused before it began.
            Uncertain: it has left, and nobody can say what came of it.
        """
        sending = Sending()
        token = SENDING.set(sending)
        try:
            async with asyncio.timeout(self._entry.deadline_seconds), self._ready_for(tool) as connection:
                sending.connection = connection.id
                result = await connection.asked(_call(tool, arguments))
                if result.get("resultType") == "task":
                    await tell(sending.request_id, task_id_in(result))
                    result = await finished(connection, result, go_on=go_on)
                return answer_in(result, self._pins.tools[tool].outputSchema)
        except MCPError as error:
            raise (fate_of(error) if sending.sent else NotSent("upstream_unavailable")) from None
        except TimeoutError:
            raise _undone("upstream_unavailable", sending) from None
        except ValidationError:
            raise _undone("mcp_wire_error", sending) from None
        finally:
            SENDING.reset(token)

    async def promised(self, tool: str, task_id: str) -> Answer | None:
        """Ask once for an answer that was promised as a task; None when it is still to come.

        Raises:
            NotSent: the server cannot be asked.
            Uncertain: there is no answer, or none that says anything certain.
        """
        try:
            async with asyncio.timeout(self._entry.deadline_seconds), self._ready_for(tool) as connection:
                task = await asked_after(connection, task_id)
                return None if is_at_work(task) else answer_in(result_in(task), self._pins.tools[tool].outputSchema)
        except TimeoutError:
            raise NotSent("upstream_unavailable") from None

    async def live(self) -> PinnedServer:
        """The server as it is now, as it would be pinned.

        Raises:
            NotSent: it cannot be reached, or not in time.
        """
        try:
            async with asyncio.timeout(START_SECONDS), self._listing() as (connection, tools):
                return pinned(self._entry, connection.identity, tools)
        except TimeoutError:
            raise NotSent("upstream_unavailable") from None

    async def close(self) -> None:
        """Leave; a server that was started is ended."""
        await self._given_up()
        for connection in {*self._leaving, *self._users, *([self._connection] if self._connection else [])}:
            await connection.close()

    async def _given_up(self) -> None:
        if self._opening is not None:
            self._opening.cancel()
            await asyncio.gather(self._opening, return_exceptions=True)

    # -- the tool as it is now

    @asynccontextmanager
    async def _ready_for(self, tool: str) -> AsyncIterator[Connection]:
        """A connection over which the tool is what was reviewed, just now."""
        async with self._listing() as (connection, tools):
            named = [each for each in tools if each.name == tool]
            if not named:
                log.warning("mcp_tool_gone", server=self._name, tool=tool)
                raise NotSent("unknown_tool")
            now = pinned(self._entry, connection.identity, named)
            # Of two under one name nobody could say which of them is called.
            if len(named) > 1 or now.tools[tool].digest != self._pins.tools[tool].digest:
                log.warning("mcp_tool_changed", server=self._name, tool=tool)
                raise NotSent("tool_changed")
            yield connection

    @asynccontextmanager
    async def _listing(self) -> AsyncIterator[tuple[Connection, list[mcp_types.Tool]]]:
        """A connection and its list; one that is found dead is made anew, once, as only a list was asked for."""
        try:
            connection, tools = await self._asked_for_its_list()
        except NotSent:
            connection, tools = await self._asked_for_its_list()
        try:
            yield connection, tools
        except asyncio.CancelledError:
            if self._entry.url:
                # Its answer may still drip in, or be asked for again, for as long as the server likes.
                self._retire(connection)
            raise
        finally:
            self._let_go(connection)

    async def _asked_for_its_list(self) -> tuple[Connection, list[mcp_types.Tool]]:
        connection = await self._taken()
        try:
            return connection, await connection.listed()
        except BaseException as error:
            self._retire(connection)
            self._let_go(connection)
            if isinstance(error, MCPError | ServerAway | ValidationError):
                raise NotSent("upstream_unavailable") from None
            raise

    # -- the connection

    async def _taken(self) -> Connection:
        if self._connection is None or not self._connection.alive:
            self._retire(self._connection)
            await self._open()
        connection = self._connection
        if connection is None:
            raise NotSent("upstream_unavailable")
        self._users[connection] = self._users.get(connection, 0) + 1
        return connection

    async def _open(self) -> None:
        """Wait for one opening that all share. It goes on when a caller's deadline has passed: the next finds it."""
        if self._opening is None or self._opening.done():
            self._opening = asyncio.create_task(self._opened())
        await asyncio.shield(self._opening)

    async def _opened(self) -> None:
        try:
            async with asyncio.timeout(START_SECONDS):
                self._connection = await Connection.opened(self._transport())
        except (ServerAway, TimeoutError):
            log.warning("mcp_unreachable", server=self._name)

    def _retire(self, connection: Connection | None) -> None:
        """Give it to nobody any more. Others may still wait for answers over it, so the last of them closes it."""
        if connection is not None and self._connection is connection:
            self._connection = None
            self._users.setdefault(connection, 0)

    def _let_go(self, connection: Connection) -> None:
        self._users[connection] -= 1
        self._leaving = [each for each in self._leaving if each.alive]
        for idle in [each for each, users in self._users.items() if users <= 0 and each is not self._connection]:
            del self._users[idle]
            self._leaving.append(idle)
            # Not waited for: whoever has let it go last may be at the end of its time.
            idle.leave()

    def _transport(self) -> AbstractAsyncContextManager[Streams]:
        entry = self._entry
        if entry.url:
            token = self._variables[entry.authorization] if entry.authorization else ""
            return http_server(entry.url, token, entry.deadline_seconds)
        named = {name: self._variables[name] for name in (INHERITED, *entry.environment) if name in self._variables}
        return stdio_server(self._name, entry.command, named, stderr=self._stderr)


def _call(tool: str, arguments: Json) -> mcp_types.CallToolRequest:
    return mcp_types.CallToolRequest(params=mcp_types.CallToolRequestParams(name=tool, arguments=arguments))


def _undone(code: str, sending: Sending) -> Exception:
    return Uncertain(code) if sending.sent else NotSent("upstream_unavailable")
