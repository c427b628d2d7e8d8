"""Tool definitions as this surface's requests list them."""

from collections.abc import Mapping
from typing import Any

from adapters.envelopes.envelope import ToolDefinition


def render(definition: ToolDefinition) -> dict[str, Any]:
    """Return one entry of a request's `tools`; without `strict` the provider would try to be strict on its own."""
    return {
        "type": "function",
        "name": definition.name,
        "description": definition.description,
        "parameters": dict(definition.parameters),
        "strict": definition.strict,
        **({"defer_loading": True} if definition.deferred else {}),
    }


def found_definitions(data: Any) -> list[dict[str, Any]]:
    """Return the tools that a search has brought up: `data` is `{"tools": [...]}` with definitions as `render` gives.

    What is no definition is left out: the model is told of nothing that it could not call.
    """
    tools = data.get("tools") if isinstance(data, Mapping) else None
    given = tools if isinstance(tools, list) else []
    return [_listed(tool) for tool in given if isinstance(tool, Mapping) and tool.get("name")]


def _listed(tool: Mapping[str, Any]) -> dict[str, Any]:
    """A function must say its parameters and whether they are strict."""
    kind = tool.get("type", "function")
    return {"type": kind, **({"parameters": None, "strict": False} if kind == "function" else {}), **tool}
