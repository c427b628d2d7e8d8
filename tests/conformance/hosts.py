"""Hosts of other makers that do not live in our own environment, each with a token of its user's."""

import asyncio
import json
from typing import Any

from tests.conformance.workshop import AGENTS, INSPECTOR, Workshop
from tests.support.onceward import Onceward


async def seen_by(workshop: Workshop, onceward: Onceward) -> dict[str, bool]:
    """Whether each host finds our tools and comes to a result."""
    return {
        INSPECTOR: await _inspector_comes_to_a_result(workshop, onceward),
        AGENTS: await _agent_comes_to_a_result(workshop, onceward),
    }


async def _agent_comes_to_a_result(workshop: Workshop, onceward: Onceward) -> bool:
    said = await asyncio.to_thread(workshop.agent, f"{onceward.stack.links.door}/mcp", onceward.token())
    return "This is a simple text response for testing." in said


async def _inspector_comes_to_a_result(workshop: Workshop, onceward: Onceward) -> bool:
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
