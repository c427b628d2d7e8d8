"""Our own client, as an executor uses it, for the suite: `python -m tests.conformance.client URL`.

It asks what the server's tools are, takes the answer for reviewed, calls a tool, and answers no question.
"""

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from typing import Any

from adapters.mcp.client.answers import NotSent, Uncertain
from adapters.mcp.client.configuration import ServerEntry
from adapters.mcp.client.pins import NOTHING_PINNED
from adapters.mcp.client.server import Server

TOLD: dict[str, Any] = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
"""What the suite wants of this scenario: `toolCalls`, each with `name` and `arguments`, where it wants certain ones."""


async def main(url: str) -> None:
    """List the tools, and call those that the suite names, or else each with arguments that fit its schema."""
    entry = ServerEntry(url=url, deadline_seconds=20)
    asking = Server("suite", entry, NOTHING_PINNED, {})
    pins = await asking.live()
    await asking.close()
    fitting = [{"name": name, "arguments": _arguments(tool.inputSchema)} for name, tool in pins.tools.items()]
    server = Server("suite", entry, pins, {})
    for call in TOLD.get("toolCalls", fitting):
        try:
            await server.call(call["name"], call["arguments"])
        except (NotSent, Uncertain) as end:
            print(f"{call['name']}: {end.code}", file=sys.stderr)
    await server.close()


def _arguments(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Something that fits, for every argument that must be there."""
    fitting: dict[str, Any] = {"string": "text", "number": 1, "integer": 1, "boolean": True, "array": [], "object": {}}
    properties = schema.get("properties", {})
    return {name: fitting.get(each.get("type", "string"), "text") for name, each in properties.items()}


if __name__ == "__main__":
    asyncio.run(main(sys.argv[-1]))
