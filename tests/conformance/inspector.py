"""The MCP Inspector's command line as a host, with a token of its user's."""

import asyncio
import json
from typing import Any

from tests.conformance.workshop import Workshop
from tests.support.onceward import Onceward


async def lists_and_calls(workshop: Workshop, onceward: Onceward) -> bool:
    """Whether it finds our tools and comes to a result."""
    listed = await _asked(workshop, onceward, "--method", "tools/list")
    called = await _asked(workshop, onceward, "--method", "tools/call", "--tool-name", "test_simple_text")
    names = {tool["name"] for tool in listed.get("tools", [])}
    return {"refund_payment", "get_operation"} <= names and called.get("isError") is False


async def _asked(workshop: Workshop, onceward: Onceward, *words: str) -> dict[str, Any]:
    where = ("--cli", f"{onceward.stack.links.door}/mcp", "--transport", "http")
    who = ("--header", f"Authorization: Bearer {onceward.token()}")
    done = await asyncio.to_thread(workshop.node, workshop.inspector, *where, *who, *words)
    try:
        told = json.loads(done.stdout)
    except json.JSONDecodeError:
        print(done.stdout, done.stderr)
        return {}
    return told if isinstance(told, dict) else {}
