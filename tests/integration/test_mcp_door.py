"""The door for MCP hosts lets in whom the other door lets in, and reads as strictly."""

from typing import Any

import pytest

from tests.support.mcp_host import NEWEST, ask, host, naming
from tests.support.onceward import Onceward
from tests.support.proposals import fresh
from workflows.domain.intent import digest

METADATA = "/.well-known/oauth-protected-resource"


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "OPTIONS"])
async def test_without_a_token_a_host_is_told_where_tokens_come_from(onceward: Onceward, method: str) -> None:
    answer = await onceward.door.request(method, "/mcp")
    assert answer.status_code == 401
    where = f'resource_metadata="{onceward.stack.links.door}{METADATA}/mcp"'
    assert where in answer.headers["www-authenticate"]
    page = (await onceward.door.get(f"{METADATA}/mcp")).json()
    assert page == (await onceward.door.get(METADATA)).json()
    assert page["resource"] == f"{onceward.stack.links.door}/mcp"
    assert page["authorization_servers"] == [onceward.stack.environment("issuer")["ONCEWARD_ISSUER"]]


@pytest.mark.parametrize(
    "unfit",
    [
        {"audience": "onceward-back-office"},
        {"audience": "another"},
        {"seconds": -3600},
        {"issuer": "https://elsewhere"},
    ],
    ids=str,
)
async def test_a_token_that_is_not_for_agents_is_worth_nothing_here(onceward: Onceward, unfit: Any) -> None:
    answer = await ask(onceward, "tools/list", {}, token=onceward.token(**unfit))
    assert answer.status_code == 401
    assert 'error="invalid_token"' in answer.headers["www-authenticate"]


async def test_a_page_of_somebody_else_cannot_make_a_browser_call_tools(onceward: Onceward) -> None:
    for origin in ("https://evil.example.test", "null", "http://localhost:1"):
        assert (await ask(onceward, "tools/list", {}, Origin=origin)).status_code == 403
    assert (await ask(onceward, "tools/list", {}, Origin=onceward.stack.links.door)).status_code == 200


@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_there_is_no_stream_to_listen_to_and_no_session_to_end(onceward: Onceward, method: str) -> None:
    answer = await onceward.door.request(method, "/mcp", headers={"Authorization": f"Bearer {onceward.token()}"})
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


@pytest.mark.parametrize(
    ("body", "number"),
    [
        (b"", -32700),
        (b"{", -32700),
        (b'{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/list"}', -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_order","arguments":{"x":NaN}}}', -32700),
        (b'[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]', -32600),
        (b'"text"', -32600),
        (b'{"jsonrpc":"2.0","id":{"a":"s3cret"},"method":"tools/list"}', -32600),
        (b'{"jsonrpc":"2.0","id":true,"method":"tools/list"}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":["s3cret"]}', -32600),
        (b'{"jsonrpc":"1.0","id":1,"method":"tools/list"}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"result":{"s3cret":1}}', -32600),
    ],
)
async def test_what_is_no_single_strict_message_is_refused_whole(onceward: Onceward, body: bytes, number: int) -> None:
    headers = {"Authorization": f"Bearer {onceward.token()}", "Accept": "application/json, text/event-stream"}
    for revision in ({}, {"MCP-Protocol-Version": NEWEST}):
        answer = await onceward.door.post("/mcp", content=body, headers=headers | revision)
        assert answer.status_code == 400
        assert answer.json()["error"]["code"] == number
        assert "s3cret" not in answer.text


async def test_a_body_without_measure_is_not_read_to_its_end(onceward: Onceward) -> None:
    headers = {"Authorization": f"Bearer {onceward.token()}"}
    answer = await onceward.door.post("/mcp", content=b" " * (8 * 1024 * 1024 + 1), headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")


async def test_nobody_takes_a_hosts_name_away_at_the_other_door(onceward: Onceward) -> None:
    """Whoever knows how the name of another's request is kept could otherwise use it up before them."""
    named = fresh("request")
    arguments = await onceward.provider.refund_arguments(await onceward.provider.add_order())
    kept = f"mcp-{digest(['user-17', 'support-agent'])[:32]}"
    other = onceward.token(subject="user-18")
    await onceward.turn((kept, "get_order", {"order_id": "O-17"}), request_id=named, token=other)
    async with host(onceward) as client:
        answer = await client.call_tool("refund_payment", arguments, meta=naming(named))
    assert answer.structured_content is not None
    assert answer.structured_content["status"] == "waiting"


async def test_both_doors_name_different_operations_by_the_same_id(onceward: Onceward) -> None:
    """A host's name for its request is its own, and never that of a model's response."""
    named = fresh("request")
    arguments = await onceward.provider.refund_arguments(await onceward.provider.add_order())
    other = await onceward.provider.refund_arguments(await onceward.provider.add_order())
    reply = await onceward.turn(("mcp", "refund_payment", arguments), request_id=named)
    async with host(onceward) as client:
        answer = await client.call_tool("refund_payment", other, meta=naming(named))
    assert answer.structured_content is not None
    assert answer.structured_content["status"] == "waiting"
    assert answer.structured_content["operation_id"] != reply.operation_id
