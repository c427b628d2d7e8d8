"""The stdio transport, for servers that are not careful about what they print.

Everything on a server's standard output ought to be messages, and often is not. What is no message is skipped and
counted, never interpreted and never logged: it may hold anything. Whoever prints too much of it, or has one line that
is too long to be any message, is ended; whoever waits for an answer then learns that the connection is lost.
"""

import asyncio
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Final

import anyio
import structlog
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCResponse, jsonrpc_message_adapter

from adapters.mcp.client.watching import Streams

log = structlog.get_logger(__name__)

LONGEST_LINE: Final = 4 * 1024 * 1024
"""Bytes of one message; of a longer line nothing is kept."""

MOST_FOREIGN_LINES: Final = 100
"""So many lines in a row that are no message, and the server is ended."""

MOST_UNASKED: Final = 10_000
"""So many messages in a row that answer nothing, such as progress, and the server is ended."""

CHUNK: Final = 64 * 1024

GRACE_SECONDS: Final = 2.0
"""How long a server may take to end by itself once its input is closed, and again once it is asked to."""

Inbound = MemoryObjectSendStream[SessionMessage | Exception]
Outbound = MemoryObjectReceiveStream[SessionMessage]


@asynccontextmanager
async def stdio_server(
    name: str, command: Sequence[str], environment: Mapping[str, str], *, stderr: int | None = DEVNULL
) -> AsyncIterator[Streams]:
    """Start a server with exactly this environment and talk to it; it has ended, with all its children, afterwards.

    Raises:
        OSError: it cannot be started.
    """
    process = await asyncio.create_subprocess_exec(
        *command, stdin=PIPE, stdout=PIPE, stderr=stderr, env=dict(environment), start_new_session=True
    )
    inbound, read_stream = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write_stream, outbound = anyio.create_memory_object_stream[SessionMessage](0)
    async with read_stream, write_stream:
        reader = asyncio.create_task(_Lines(name, process).carry(inbound))
        writer = asyncio.create_task(_write(process, outbound, inbound))
        try:
            yield read_stream, write_stream
        finally:
            for task in (reader, writer):
                task.cancel()
            await _ended(process)
            await asyncio.gather(reader, writer, return_exceptions=True)


class _Lines:
    """The lines of one server's standard output."""

    def __init__(self, name: str, process: Process) -> None:
        self._name, self._process = name, process
        self._line, self._too_long = bytearray(), False
        self._foreign, self._unasked = 0, 0

    @property
    def _bearable(self) -> bool:
        return self._foreign < MOST_FOREIGN_LINES and self._unasked < MOST_UNASKED

    async def carry(self, inbound: Inbound) -> None:
        """Hand each message on until the output ends or holds too much else."""
        output = self._process.stdout
        async with inbound:
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                while output is not None and self._bearable:
                    chunk = await output.read(CHUNK)
                    if not chunk:
                        return
                    for message in self._messages(chunk):
                        await inbound.send(message)
            _signal(self._process, signal.SIGKILL)

    def _messages(self, chunk: bytes) -> list[SessionMessage]:
        *ended, rest = chunk.split(b"\n")
        found = []
        for piece in ended:
            self._add(piece)
            message = self._take()
            if message is not None:
                found.append(message)
            if not self._bearable:
                return found
        self._add(rest)
        return found

    def _add(self, piece: bytes) -> None:
        self._too_long = self._too_long or len(self._line) + len(piece) > LONGEST_LINE
        if self._too_long:
            self._line.clear()
        else:
            self._line += piece

    def _take(self) -> SessionMessage | None:
        line, too_long = bytes(self._line).strip(), self._too_long
        self._line.clear()
        self._too_long = False
        if not line and not too_long:
            return None
        try:
            message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValueError:
            self._foreign += 1
            if self._foreign in (1, MOST_FOREIGN_LINES):
                log.warning("mcp_foreign_lines", server=self._name, lines=self._foreign, most=MOST_FOREIGN_LINES)
            return None
        self._foreign = 0
        self._unasked = 0 if isinstance(message, JSONRPCResponse | JSONRPCError) else self._unasked + 1
        return SessionMessage(message)


async def _write(process: Process, outbound: Outbound, inbound: Inbound) -> None:
    input_ = process.stdin
    async with outbound:
        async for item in outbound:
            try:
                if input_ is not None:
                    input_.write(item.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
                    await input_.drain()
            except (OSError, RuntimeError):
                # Nobody reads any more, so nobody will answer either.
                await inbound.aclose()
                return


async def _ended(process: Process) -> None:
    """End the server as the protocol says: close its input, wait, ask, make."""
    if process.stdin is not None:
        process.stdin.close()
    for how in (None, signal.SIGTERM, signal.SIGKILL):
        if how is not None:
            _signal(process, how)
        with suppress(TimeoutError):
            async with asyncio.timeout(GRACE_SECONDS):
                await process.wait()
                break
    # Children that it has left behind go with it.
    _signal(process, signal.SIGKILL)


def _signal(process: Process, how: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, how)
