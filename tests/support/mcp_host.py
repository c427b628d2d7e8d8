"""An MCP host before our door: the official client, and requests written by hand where it would write others."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.support.onceward import Onceward
from tests.support.plain import PLAIN

Json = dict[str, Any]

NEWEST = "2026-07-28"
REVISIONS = {NEWEST: "auto", "2025-11-25": "legacy"}
"""What a client is told so that it speaks that revision."""

TASKS = "io.modelcontextprotocol/tasks"
REQUEST_ID = "dev.onceward/request-id"

_ids = count(1)


@asynccontextmanager
async def host(onceward: Onceward, token: str = "", mode: Any = "auto", **options: Any) -> AsyncIterator[Client]:
    """The official client, connected with that token, or with that of a user of tenant-a."""
    headers = {"Authorization": f"Bearer {token or onceward.token()}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60, verify=PLAIN) as web:
        transport = streamable_http_client(f"{onceward.stack.links.door}/mcp", http_client=web)
        async with Client(transport, mode=mode, **options) as client:
            yield client


async def ask(
    onceward: Onceward, method: str, params: Json, *, token: str = "", tasks: bool = False, **headers: str
) -> httpx2.Response:
    """One request of the newest revision; `tasks`: its host knows that extension. `headers` are added or replace."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": NEWEST,
        "io.modelcontextprotocol/clientCapabilities": {"extensions": {TASKS: {}}} if tasks else {},
        **params.get("_meta", {}),
    }
    named = {"Mcp-Name": params["name"]} if method == "tools/call" else {}
    sent = {
        "Authorization": f"Bearer {token or onceward.token()}",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": NEWEST,
        "Mcp-Method": method,
        **named,
        **headers,
    }
    body = {"jsonrpc": "2.0", "id": next(_ids), "method": method, "params": {**params, "_meta": meta}}
    return await onceward.door.post("/mcp", json=body, headers=sent)


async def result(onceward: Onceward, method: str, params: Json, **options: Any) -> Json:
    """The result of one request of the newest revision, which must have one."""
    answer = (await ask(onceward, method, params, **options)).json()
    assert "result" in answer, answer
    return dict(answer["result"])


def naming(request_id: Any) -> Any:
    """The `_meta` of a call by which a host names its request."""
    return {REQUEST_ID: request_id}
