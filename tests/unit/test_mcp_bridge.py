"""What the process between a host's standard streams and a door does with lines and answers."""

import asyncio
import json
from io import BytesIO
from threading import Event
from typing import Any

import httpx2
import pytest

from adapters.mcp.server.stdio import LONGEST_LINE, Bridge

Json = dict[str, Any]

EVENTS = b"""event: message
data: {"jsonrpc":"2.0",
data: "method":"progress"}

: ping

data: {"jsonrpc":"2.0","id":1,"result":{}}

"""


RESULT: Json = {"jsonrpc": "2.0", "id": 1, "result": {}}


class Unread(BytesIO):
    """The output of a process to which nobody listens any more."""

    def flush(self) -> None:
        raise BrokenPipeError


class Silence(BytesIO):
    """The input of a host that says one line, and then nothing for ever."""

    def readline(self, size: int | None = -1) -> bytes:
        line = super().readline(size)
        if not line:
            Event().wait()
        return line


class Door:
    """Answers as told; keeps what it was sent."""

    def __init__(self, answer: httpx2.Response | None = None) -> None:
        self._answer, self.requests = answer, list[httpx2.Request]()

    async def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        if self._answer is None:
            await asyncio.Event().wait()
            raise AssertionError
        return self._answer


async def carried(door: Door, *lines: bytes) -> list[Json]:
    """The messages that a host hears when it says these lines and closes its end."""
    output = BytesIO()
    async with httpx2.AsyncClient(transport=httpx2.MockTransport(door)) as web:
        bridge = Bridge(web, "http://door/mcp", lambda: "token", output)
        await bridge.carry(BytesIO(b"".join(line + b"\n" for line in lines)))
    return [json.loads(line) for line in output.getvalue().splitlines()]


def request(method: str, number: int = 1, **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode()


async def test_each_event_of_a_stream_is_a_line() -> None:
    door = Door(httpx2.Response(200, content=EVENTS, headers={"Content-Type": "text/event-stream"}))
    assert await carried(door, request("tools/list")) == [{"jsonrpc": "2.0", "method": "progress"}, RESULT]


async def test_an_answer_of_many_lines_is_one_line() -> None:
    door = Door(
        httpx2.Response(
            200, content=b'{\n"jsonrpc":"2.0","id":\r\n1,"result":{}}', headers={"Content-Type": "application/json"}
        )
    )
    assert await carried(door, request("tools/list")) == [RESULT]


async def test_what_a_host_no_longer_waits_for_is_not_waited_for() -> None:
    gone = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    async with asyncio.timeout(10):
        assert await carried(Door(), request("tools/call", name="get_order"), json.dumps(gone).encode()) == []


async def test_headers_say_what_the_message_says() -> None:
    door = Door(httpx2.Response(202))
    about = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    await carried(door, request("tools/call", name="주문", _meta=about), request("tasks/get", 2, taskId="op_1"))
    call, task = sorted(door.requests, key=lambda each: each.headers["mcp-method"], reverse=True)
    assert call.headers["mcp-protocol-version"] == "2026-07-28"
    assert call.headers["mcp-name"] == "=?base64?7KO866y4?="
    assert (task.headers["mcp-method"], task.headers["mcp-name"]) == ("tasks/get", "op_1")
    assert call.headers["authorization"] == "Bearer token"


async def test_the_revision_of_a_handshake_holds_for_what_comes_after_it() -> None:
    settled = {"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": "2025-11-25"}}
    door = Door(httpx2.Response(200, json=settled))
    await carried(door, request("initialize"), request("tools/list", 2))
    first, second = door.requests
    assert "mcp-protocol-version" not in first.headers
    assert second.headers["mcp-protocol-version"] == "2025-11-25"


@pytest.mark.parametrize("line", [b"x" * (LONGEST_LINE + 100), b'{"a":1,"a":2}', b"\xff\xfe", b"[1]"])
async def test_a_line_that_is_no_message_is_told_once_and_never_sent(line: bytes) -> None:
    door = Door(httpx2.Response(202))
    (told,) = await carried(door, line)
    assert told["id"] is None
    assert told["error"]["code"] in (-32700, -32600)
    assert door.requests == []


async def test_a_refusal_of_the_door_is_told_under_the_requests_id() -> None:
    problem = {"title": "The bearer token has expired.", "code": "expired_token"}
    door = Door(httpx2.Response(401, json=problem, headers={"Content-Type": "application/problem+json"}))
    (told,) = await carried(door, request("tools/list", 7))
    assert (told["id"], told["error"]["data"]["code"]) == (7, "expired_token")


@pytest.mark.parametrize(
    ("status", "kind", "body"),
    [
        (200, "text/html", b"<h1>Sign in</h1>"),
        (200, "application/json", b""),
        (200, "application/json", b"null"),
        (200, "application/json", b"[" * 100_000),
        (200, "application/json", b'[{"jsonrpc":"2.0","id":7,"result":{}}]'),
        (200, "application/json", b'{"jsonrpc":"2.0","id":99,"result":{}}'),
        (200, "text/event-stream", b"data: hello\n\n"),
        (200, "text/event-stream", b'data: {"jsonrpc":"2.0","id":7,"res'),
        (200, "text/event-stream", b'data: {"jsonrpc":"2.0","method":"notifications/progress"}\n\n'),
        (202, "application/json", b""),
        (204, "", b""),
        (307, "text/plain", b""),
        (502, "application/json", b'{"message":"Bad gateway"}'),
        (502, "application/json", b"Bad\ngateway"),
        (500, "text/plain", b"boom"),
    ],
)
@pytest.mark.parametrize("method", ["initialize", "tools/call"])
async def test_a_request_is_answered_once_whatever_stands_in_the_doors_place(
    method: str, status: int, kind: str, body: bytes
) -> None:
    """A host that hears nothing waits for ever, and one that hears something else than the protocol breaks."""
    door = Door(httpx2.Response(status, content=body, headers={"Content-Type": kind}))
    heard = await carried(door, request(method, 7))
    assert all(message["jsonrpc"] == "2.0" for message in heard)
    (answer,) = [message for message in heard if "method" not in message]
    assert answer["id"] == 7
    assert answer["error"]["code"] in (-32000, -32003)


async def test_an_answer_is_carried_however_deep_its_data_are() -> None:
    """What a tool has found may be as deep as we read, and stands inside an answer."""
    deep: Any = "found"
    for _ in range(100):
        deep = [deep]
    door = Door(httpx2.Response(200, json=RESULT | {"result": {"structuredContent": deep}}))
    (answer,) = await carried(door, request("tools/call"))
    assert answer["result"]["structuredContent"] == deep


async def test_a_request_that_has_no_good_id_is_answered_under_none() -> None:
    refused = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "No."}}
    door = Door(httpx2.Response(400, json=refused))
    assert await carried(door, b'{"jsonrpc":"2.0","id":{"a":1},"method":"tools/list"}') == [refused]


async def test_of_two_requests_under_one_id_both_are_answered() -> None:
    door = Door(httpx2.Response(200, json=RESULT))
    assert await carried(door, request("tools/list"), request("tools/list")) == [RESULT, RESULT]


async def test_it_ends_when_nobody_reads_what_it_says() -> None:
    door = Door(httpx2.Response(200, json=RESULT))
    async with asyncio.timeout(10), httpx2.AsyncClient(transport=httpx2.MockTransport(door)) as web:
        bridge = Bridge(web, "http://door/mcp", lambda: "token", Unread())
        await bridge.carry(Silence(request("tools/list") + b"\n"))
