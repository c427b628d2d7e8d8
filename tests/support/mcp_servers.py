"""MCP servers for tests: the fake one on its stage, behind both transports in both revisions, and what it has done."""

import asyncio
import json
import os
import socket
import sys
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from adapters.mcp.client.configuration import ServerEntry
from adapters.mcp.client.pins import NOTHING_PINNED, Lock, lock_beside, write_lock
from adapters.mcp.client.server import Server
from tests.support.waiting import until
from worker.dev.layout import ROOT

Json = dict[str, Any]

FAKE = Path(__file__).with_name("mcp_fake.py")
REVISIONS = ("2026-07-28", "2025-11-25")
TRANSPORTS = ("stdio", "http")

ADD = {
    "name": "add",
    "title": "Add",
    "description": "Adds two numbers.",
    "inputSchema": {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "required": ["a", "b"],
    },
}
RESERVE = {
    "name": "reserve",
    "description": "Reserves stock.",
    "inputSchema": {
        "type": "object",
        "properties": {"sku": {"type": "string"}, "quantity": {"type": "integer"}, "reference": {"type": "string"}},
        "required": ["sku", "quantity", "reference"],
    },
    "outputSchema": {
        "type": "object",
        "properties": {"reservation_id": {"type": "string"}, "sku": {"type": "string"}},
        "required": ["reservation_id"],
    },
}
FIND = {
    "name": "find",
    "description": "Finds a reservation.",
    "inputSchema": {"type": "object", "properties": {"reference": {"type": "string"}}, "required": ["reference"]},
}
TOOLS = (ADD, RESERVE, FIND)
RESERVED = {"reservation_id": "rs-1"}


class Stage:
    """The fake server's folder: what it shall say, and what it has done."""

    def __init__(self, folder: Path, revision: str = REVISIONS[0], **more: Any) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.now: Json = {"revision": revision, "tools": list(TOOLS), "then": {}, **more}
        self.set()

    def set(self, **changes: Any) -> None:
        """Play on like this; the file is exchanged as a whole, as the server reads it at any moment."""
        self.now.update(changes)
        draft = self.folder / "draft.json"
        draft.write_text(json.dumps(self.now), "utf-8")
        draft.replace(self.folder / "stage.json")

    def then(self, tool: str, **what: Any) -> None:
        """What a call of that tool comes to from now on."""
        self.set(then={**self.now["then"], tool: what})

    def lines(self, book: str) -> list[Any]:
        """What it has written down."""
        path = self.folder / f"{book}.jsonl"
        return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []

    def effects(self, tool: str) -> int:
        """How often that tool was carried out."""
        return sum(call["name"] == tool for call in self.lines("calls"))

    def heard(self, method: str) -> list[Json]:
        """Every message of that method that has reached it."""
        return [each for each in self.lines("heard") if each.get("method") == method]

    @property
    def command(self) -> tuple[str, ...]:
        """How it is started over stdio."""
        return (sys.executable, str(FAKE), str(self.folder))


@asynccontextmanager
async def reached(stage: Stage, transport: str, **entry: Any) -> AsyncIterator[ServerEntry]:
    """The entry of the fake's configuration; over HTTP its process runs meanwhile."""
    if transport == "stdio":
        yield ServerEntry(command=stage.command, **entry)
        return
    async with over_http(stage) as url:
        yield ServerEntry(url=url, **entry)


@asynccontextmanager
async def over_http(stage: Stage, port: int = 0) -> AsyncIterator[str]:
    """The fake, listening; it is ended afterwards."""
    port = port or free_port()
    async with _listening([sys.executable, str(FAKE), str(stage.folder), str(port)], port, {}) as url:
        yield url


@asynccontextmanager
async def inventory(book: Path) -> AsyncIterator[str]:
    """The example's server, made with the official package, over Streamable HTTP."""
    port = free_port()
    command = [sys.executable, str(ROOT / "examples/inventory/server.py"), "--port", str(port)]
    async with _listening(command, port, {"INVENTORY_BOOK": str(book)}) as url:
        yield url


@asynccontextmanager
async def _listening(command: Sequence[str], port: int, named: dict[str, str]) -> AsyncIterator[str]:
    process = await asyncio.create_subprocess_exec(*command, env={**os.environ, **named}, stderr=DEVNULL)
    try:
        await until(lambda: _answers(port), bool)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def _answers(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True


@asynccontextmanager
async def server_of(entry: ServerEntry, variables: Json | None = None) -> AsyncIterator[Server]:
    """The client's side of it, pinned as the server is at this moment."""
    values = {"PATH": "/usr/bin:/bin", **(variables or {})}
    async with _closing(Server("fake", entry, NOTHING_PINNED, values)) as first:
        pins = await first.live()
    async with _closing(Server("fake", entry, pins, values)) as server:
        yield server


@asynccontextmanager
async def _closing(server: Server) -> AsyncIterator[Server]:
    try:
        yield server
    finally:
        await server.close()


async def pin(path: Path, entries: Sequence[tuple[str, ServerEntry]], variables: Json | None = None) -> None:
    """Write the lock beside a configuration, as a person would have reviewed it."""
    pinned = {}
    for name, entry in entries:
        async with server_of(entry, variables) as server:
            pinned[name] = await server.live()
    write_lock(lock_beside(path), Lock(servers=pinned))
