"""A host's standard streams on one side, a running door on the other: each line is one message, each message one POST.

Nothing is decided here and nothing is tried twice. What the host writes goes to the door byte for byte, so no number
is read and written anew on the way; what the door answers becomes lines again. The token is this process's own.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, BinaryIO, Final

import httpx2
from mcp.shared.inbound import encode_header_value

from adapters import strict_json
from workflows.domain.errors import InvalidConfiguration

Json = dict[str, Any]

LONGEST_LINE: Final = 8 * 1024 * 1024
"""Bytes; what a door takes in one body."""

FAREWELL_SECONDS: Final = 60.0
"""How long messages that are under way get to be answered once the host has closed its end."""

AT_ONCE: Final = 16
"""Messages that are with the door at the same time; others wait here for their turn."""

VERSION: Final = "io.modelcontextprotocol/protocolVersion"
NAMED_BY: Final = {"tools/call": "name", "tasks/get": "taskId", "tasks/update": "taskId", "tasks/cancel": "taskId"}
"""The parameter that a method's requests repeat in a header."""

PARSE_ERROR, INVALID_REQUEST, NOT_CONNECTED, REFUSED = -32700, -32600, -32000, -32003
"""JSON-RPC's own numbers, and two of those that are left to servers."""


class Bridge:
    """Carries messages until the host closes its end. `token` is asked for each message, so that it may be renewed.

    Where it cannot be had it raises `InvalidConfiguration`, and the host is told the sentence.
    """

    def __init__(self, web: httpx2.AsyncClient, url: str, token: Callable[[], str], output: BinaryIO) -> None:
        self._web, self._url, self._token, self._output = web, url, token, output
        self._writing, self._with_the_door = asyncio.Lock(), asyncio.Semaphore(AT_ONCE)
        self._under_way: dict[Any, asyncio.Task[None]] = {}
        self._revision = ""

    async def carry(self, source: BinaryIO) -> None:
        """Carry every line of `source` to its end."""
        async for line in _lines(source):
            await self._take(line)
        if self._under_way:
            await asyncio.wait(self._under_way.values(), timeout=FAREWELL_SECONDS)

    async def _take(self, line: bytes) -> None:
        try:
            message = strict_json.parse(line, limit=LONGEST_LINE)
        except strict_json.StrictJsonError as error:
            await self._say(_error(None, PARSE_ERROR, "The line is not strict JSON.", error.code))
            return
        if not isinstance(message, dict):
            await self._say(_error(None, INVALID_REQUEST, "A line must be one JSON-RPC message."))
        elif message.get("method") == "notifications/cancelled":
            self._cancel(message)
        elif message.get("method") == "initialize":
            # Whatever comes after it is in the revision that it settles.
            await self._forward(message, line)
        else:
            self._begin(message, line)

    def _begin(self, message: Json, line: bytes) -> None:
        task = asyncio.ensure_future(self._forward(message, line))
        key = message.get("id", task)
        key = key if isinstance(key, str | int) else task
        self._under_way[key] = task
        task.add_done_callback(lambda _: self._under_way.pop(key, None))

    def _cancel(self, message: Json) -> None:
        """Stop waiting for an answer: over HTTP that is said by closing the stream."""
        params = message.get("params")
        key = params.get("requestId") if isinstance(params, dict) else None
        task = self._under_way.get(key) if isinstance(key, str | int) else None
        if task is not None:
            task.cancel()

    async def _forward(self, message: Json, line: bytes) -> None:
        try:
            async with self._with_the_door:
                await self._exchange(message, line)
        except InvalidConfiguration as unfit:
            if "id" in message:
                await self._say(_error(message["id"], REFUSED, str(unfit)))
        except (httpx2.HTTPError, OSError):
            # Whether it arrived nobody knows; the same call with the same request id finds out.
            if "id" in message:
                await self._say(_error(message["id"], NOT_CONNECTED, "The door does not answer, or not to the end."))

    async def _exchange(self, message: Json, line: bytes) -> None:
        async with self._web.stream("POST", self._url, content=line, headers=self._headers(message)) as answer:
            async for told in _messages(answer, message):
                self._learn(message, told)
                await self._say(told)

    def _headers(self, message: Json) -> dict[str, str]:
        method, params = str(message.get("method", "")), message.get("params")
        given: Mapping[str, Any] = params if isinstance(params, dict) else {}
        meta = given.get("_meta")
        revision = meta.get(VERSION) if isinstance(meta, dict) else None
        name = given.get(NAMED_BY.get(method, ""))
        headers = {
            "Authorization": f"Bearer {self._token()}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "Mcp-Method": encode_header_value(method),
        }
        if isinstance(name, str):
            headers["Mcp-Name"] = encode_header_value(name)
        if revision or self._revision:
            headers["MCP-Protocol-Version"] = encode_header_value(str(revision or self._revision))
        return headers

    def _learn(self, message: Json, told: bytes) -> None:
        """Which revision the handshake has come to."""
        if message.get("method") == "initialize":
            settled = strict_json.parse(told, limit=LONGEST_LINE).get("result", {}).get("protocolVersion")
            self._revision = settled if isinstance(settled, str) else ""

    async def _say(self, message: bytes) -> None:
        async with self._writing:
            await asyncio.to_thread(self._write, message)

    def _write(self, message: bytes) -> None:
        self._output.write(message + b"\n")
        self._output.flush()


async def _lines(source: BinaryIO) -> AsyncIterator[bytes]:
    """Lines that say something; one that is too long is cut, and so is no JSON."""
    cut = False
    while line := await asyncio.to_thread(source.readline, LONGEST_LINE + 1):
        whole = line.endswith(b"\n")
        if line.strip() and not cut:
            yield line.strip()
        cut = not whole


async def _messages(answer: httpx2.Response, message: Json) -> AsyncIterator[bytes]:
    """The messages of one answer, each in one line."""
    kind = answer.headers.get("content-type", "").partition(";")[0]
    if kind == "text/event-stream":
        async for event in _events(answer):
            yield event
    elif kind == "application/json":
        yield _in_one_line(await answer.aread())
    elif answer.status_code >= 400 and "id" in message:
        yield _problem(message["id"], answer.status_code, await answer.aread())


async def _events(answer: httpx2.Response) -> AsyncIterator[bytes]:
    data: list[str] = []
    async for line in answer.aiter_lines():
        if line.startswith("data:"):
            data.append(line.removeprefix("data:").strip())
        elif not line and data:
            yield _in_one_line("\n".join(data).encode())
            data = []


def _problem(request_id: Any, status: int, raw: bytes) -> bytes:
    """The door's refusal of the request as such: of its token, its size, its kind."""
    try:
        told = strict_json.parse(raw)
    except strict_json.StrictJsonError:
        told = {}
    title = told.get("title") if isinstance(told, dict) else None
    code = told.get("code") if isinstance(told, dict) else None
    return _error(request_id, REFUSED, str(title or f"The door has answered {status}."), str(code or "http_error"))


def _error(request_id: Any, number: int, message: str, code: str = "") -> bytes:
    error: Json = {"code": number, "message": message} | ({"data": {"code": code}} if code else {})
    return strict_json.dump({"jsonrpc": "2.0", "id": request_id, "error": error}).encode()


def _in_one_line(message: bytes) -> bytes:
    # A line's end in JSON is white space between its parts.
    return b" ".join(message.splitlines())
