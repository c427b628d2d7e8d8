"""What the process between a host's standard streams and a door does with lines and answers."""

import asyncio
import json
from io import BytesIO
from typing import Any

import httpx2
import pytest

from adapters.mcp.server.stdio import LONGEST_LINE, Bridge

Json = dict[str, Any]

EVENTS = b"""event: message
data: {"jsonrpc":"2.0",
data: "method":"progress"}

: ping

data: {"id":1}

"""


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
    assert await carried(door, request("tools/list")) == [{"jsonrpc": "2.0", "method": "progress"}, {"id": 1}]


async def test_an_answer_of_many_lines_is_one_line() -> None:
    door = Door(httpx2.Response(200, content=b'{\n"id":\r\n1}', headers={"Content-Type": "application/json"}))
    assert await carried(door, request("tools/list")) == [{"id": 1}]


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
