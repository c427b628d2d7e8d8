"""A receiver of webhooks on this machine, in good order or hostile, that remembers what it was told."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from standardwebhooks.webhooks import Webhook

SECRET = "whsec_" + "b25jZXdhcmQtdGVzdC1zZWNyZXQtMDEyMzQ1Njc4OQ=="
OLD_SECRET = "whsec_" + "b25jZXdhcmQtb2xkLXNlY3JldC0wMTIzNDU2Nzg5MA=="

Answer = Callable[[asyncio.StreamWriter], Awaitable[None]]


@dataclass(frozen=True)
class Heard:
    """One request, as it came."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def event_id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def told(self) -> dict[str, Any]:
        return dict(json.loads(self.body))

    @property
    def operation_id(self) -> str:
        return str(self.told["data"]["operation_id"])

    def verified(self, secret: str = SECRET) -> Any:
        """As a receiver does it with the official package; raises when it was not signed with this secret."""
        return Webhook(secret).verify(self.body, self.headers)


def status(code: int, **headers: str) -> Answer:
    """A plain answer."""

    async def answer(writer: asyncio.StreamWriter) -> None:
        lines = [f"HTTP/1.1 {code} So", *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items())]
        writer.write("\r\n".join([*lines, "content-length: 0", "", ""]).encode())

    return answer


async def closes(writer: asyncio.StreamWriter) -> None:
    """It hangs up without a word."""


async def babbles(writer: asyncio.StreamWriter) -> None:
    """What it says is no HTTP."""
    writer.write(b"\x00\xffnonsense\r\n\r\n")


async def drips(writer: asyncio.StreamWriter) -> None:
    """It never stops to begin with its answer, one byte at a time."""
    writer.write(b"HTTP/1.1 200 OK\r\nx-slow: ")
    while True:
        writer.write(b"a")
        await writer.drain()
        await asyncio.sleep(0.01)


async def floods(writer: asyncio.StreamWriter) -> None:
    """It is content, and its answer has no end."""
    writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        writer.write(b"secret of the receiver " * 10_000)
        await writer.drain()


async def boasts(writer: asyncio.StreamWriter) -> None:
    """Its header has no end."""
    writer.write(b"HTTP/1.1 200 OK\r\nx-large: ")
    while True:
        writer.write(b"a" * 100_000)
        await writer.drain()


@dataclass
class Listener:
    """Remembers every request and answers each in the same way, until it is told to answer otherwise."""

    answer: Answer = field(default_factory=lambda: status(204))
    heard: list[Heard] = field(default_factory=list)
    port: int = 0
    hanging: int = 0
    released: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    async def hangs(self, _: asyncio.StreamWriter) -> None:
        """An answer that does not come before it is released."""
        self.hanging += 1
        await self.released.wait()

    def of(self, operation_id: str) -> list[Heard]:
        return [heard for heard in self.heard if heard.operation_id == operation_id]

    def types_of(self, operation_id: str) -> list[str]:
        return [heard.told["type"] for heard in self.of(operation_id)]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                self.heard.append(await _request(reader))
                await self.answer(writer)
                await writer.drain()
        finally:
            writer.close()


@asynccontextmanager
async def listening(answer: Answer | None = None) -> AsyncIterator[Listener]:
    """A listener on a port of its own."""
    listener = Listener(answer or status(204))
    calls: set[asyncio.Task[None]] = set()

    def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        calls.add(asyncio.ensure_future(listener._serve(reader, writer)))

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    listener.port = server.sockets[0].getsockname()[1]
    try:
        yield listener
    finally:
        listener.released.set()
        server.close()
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        await server.wait_closed()


async def _request(reader: asyncio.StreamReader) -> Heard:
    head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    fields = (line.split(": ", 1) for line in head[1:] if line)
    headers = {name.lower(): value for name, value in fields}
    return Heard(head[0].split()[1], headers, await reader.readexactly(int(headers["content-length"])))
