"""A small host on our client, for the suite: `python -m tests.conformance.client URL`.

It does what an executor does with somebody's server: asks what there is, calls a tool, and answers no question.
"""

import asyncio
import os
import sys
from typing import Any

from mcp import Client, MCPError

REVISION = os.environ.get("MCP_CONFORMANCE_PROTOCOL_VERSION", "2026-07-28")
ARGUMENTS: dict[str, dict[str, Any]] = {"add_numbers": {"a": 5, "b": 3}}


async def main(url: str) -> None:
    """List the tools and call each that the suite has, with the arguments that its schema asks for."""
    mode: Any = "legacy" if REVISION < "2026" else REVISION
    async with Client(url, mode=mode, read_timeout_seconds=20) as client:
        for tool in (await client.list_tools()).tools:
            try:
                await client.call_tool(tool.name, ARGUMENTS.get(tool.name) or _arguments(tool.input_schema))
            except MCPError as refused:
                print(f"{tool.name}: {refused.code}", file=sys.stderr)


def _arguments(schema: dict[str, Any]) -> dict[str, Any]:
    """Something that fits, for every argument that must be there."""
    fitting: dict[str, Any] = {"string": "text", "number": 1, "integer": 1, "boolean": True, "array": [], "object": {}}
    properties = schema.get("properties", {})
    return {name: fitting.get(each.get("type", "string"), "text") for name, each in properties.items()}


if __name__ == "__main__":
    asyncio.run(main(sys.argv[-1]))
