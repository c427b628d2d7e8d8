"""A small host on our client, for the suite: `python -m tests.conformance.client URL`.

It does what an executor does with somebody's server: asks what there is, calls a tool, and answers no question.
"""

import asyncio
import json
import os
import sys
from typing import Any

from mcp import Client, MCPError

REVISION = os.environ.get("MCP_CONFORMANCE_PROTOCOL_VERSION", "2026-07-28")
TOLD: dict[str, Any] = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
"""What the suite wants of this scenario: `toolCalls`, each with `name` and `arguments`, where it wants certain ones."""


async def main(url: str) -> None:
    """List the tools, and call those that the suite names, or else each with arguments that fit its schema."""
    mode: Any = "legacy" if REVISION < "2026" else "auto"
    async with Client(url, mode=mode, read_timeout_seconds=20) as client:
        tools = (await client.list_tools()).tools
        fitting = [{"name": tool.name, "arguments": _arguments(tool.input_schema)} for tool in tools]
        for call in TOLD.get("toolCalls", fitting):
            try:
                await client.call_tool(call["name"], call["arguments"])
            except MCPError as refused:
                print(f"{call['name']}: {refused.code}", file=sys.stderr)


def _arguments(schema: dict[str, Any]) -> dict[str, Any]:
    """Something that fits, for every argument that must be there."""
    fitting: dict[str, Any] = {"string": "text", "number": 1, "integer": 1, "boolean": True, "array": [], "object": {}}
    properties = schema.get("properties", {})
    return {name: fitting.get(each.get("type", "string"), "text") for name, each in properties.items()}


if __name__ == "__main__":
    asyncio.run(main(sys.argv[-1]))
