"""A host's standard streams on one side, a running door on the other: each line is one message, each message one POST.

Nothing is decided here and nothing is tried twice. What the host writes goes to the door byte for byte, so no number
is read and written anew on the way; what the door answers becomes lines again. The token is this process's own.

Whatever stands in the door's place, a host hears messages of the protocol and nothing else, and of each request an end.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, BinaryIO, Final

import httpx2
from mcp.shared.inbound import encode_header_value

from adapters import strict_json
from adapters.mcp.server import streams
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
        self._under_way: dict[asyncio.Task[None], Any] = {}
        self._unread = asyncio.Event()
        self._revision = ""

    async def carry(self, source: BinaryIO) -> None:
        """Carry every line of `source` to its end, or until nobody reads what is answered."""
        carrying, unread = asyncio.ensure_future(self._carry(source)), asyncio.ensure_future(self._unread.wait())
        await asyncio.wait({carrying, unread}, return_when=asyncio.FIRST_COMPLETED)
        for each in (carrying, unread, *self._under_way):
            each.cancel()
        await asyncio.gather(carrying, unread, *self._under_way, return_exceptions=True)
        if not carrying.cancelled():
            carrying.result()

    async def _carry(self, source: BinaryIO) -> None:
        async for line in streams.lines(source, LONGEST_LINE):
            await self._take(line)
        if self._under_way:
            await asyncio.wait(self._under_way, timeout=FAREWELL_SECONDS)

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
            task = asyncio.ensure_future(self._forward(message, line))
            self._under_way[task] = _id_of(message)
            task.add_done_callback(lambda over: self._under_way.pop(over, None))

    def _cancel(self, message: Json) -> None:
        """Stop waiting for an answer: over HTTP that is said by closing the stream."""
        params = message.get("params")
        wanted = params.get("requestId") if isinstance(params, dict) else None
        for task, request_id in self._under_way.items():
            if request_id is not None and request_id == wanted:
                task.cancel()

    async def _forward(self, message: Json, line: bytes) -> None:
        answered, number, sentence = False, NOT_CONNECTED, "The door does not answer, or not to the end."
        try:
            async with self._with_the_door:
                answered = await self._exchange(message, line)
        except InvalidConfiguration as unfit:
            number, sentence = REFUSED, str(unfit)
        except (httpx2.HTTPError, OSError):
            # Whether it arrived nobody knows; the same call with the same request id finds out.
            pass
        if "id" in message and not answered:
            await self._say(_error(_id_of(message), number, sentence))

    async def _exchange(self, message: Json, line: bytes) -> bool:
        """Tell the host what the door says until it has answered; whether it has."""
        async with self._web.stream("POST", self._url, content=line, headers=self._headers(message)) as answer:
            async for raw in _messages(answer, message):
                told = _read(raw)
                if "method" in told:
                    await self._say(raw)
                elif {"id"} <= told.keys() & message.keys() and told["id"] == _id_of(message):
                    self._learn(message, told)
                    await self._say(raw)
                    return True
        return False

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

    def _learn(self, message: Json, told: Json) -> None:
        """Which revision the handshake has come to."""
        if message.get("method") == "initialize":
            result = told.get("result")
            settled = result.get("protocolVersion") if isinstance(result, dict) else None
            self._revision = settled if isinstance(settled, str) else ""

    async def _say(self, message: bytes) -> None:
        try:
            async with self._writing:
                await streams.write(self._output, message)
        except OSError:
            self._unread.set()


async def _messages(answer: httpx2.Response, message: Json) -> AsyncIterator[bytes]:
    """The messages of one answer, each in one line."""
    kind = answer.headers.get("content-type", "").partition(";")[0]
    if kind == "text/event-stream":
        async for event in _events(answer):
            yield event
    elif kind == "application/json":
        yield _under_its_id(_in_one_line(await answer.aread()), message)
    elif answer.status_code >= 400 and "id" in message:
        yield _problem(_id_of(message), answer.status_code, await answer.aread())


async def _events(answer: httpx2.Response) -> AsyncIterator[bytes]:
    data: list[str] = []
    async for line in answer.aiter_lines():
        if line.startswith("data:"):
            data.append(line.removeprefix("data:").strip())
        elif not line and data:
            yield _in_one_line("\n".join(data).encode())
            data = []


def _read(raw: bytes) -> Json:
    """What the door says, if it is a message at all: one nobody would take for it must not reach the host."""
    try:
        # Its numbers and depth are the door's affair: they are looked at here, and go on as they came.
        told = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) and told.get("jsonrpc") == "2.0" else {}


def _id_of(message: Json) -> str | int | None:
    """The id under which the host hears of it; none where it has given none that can be one."""
    given = message.get("id")
    return given if isinstance(given, str | int) and not isinstance(given, bool) else None


def _under_its_id(raw: bytes, message: Json) -> bytes:
    """A door that refuses a body as a whole names no id; over one line at a time it is clear whose it was."""
    told = _read(raw)
    refused = "error" in told and told.get("id") is None
    return json.dumps({**told, "id": _id_of(message)}).encode() if refused else raw


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
