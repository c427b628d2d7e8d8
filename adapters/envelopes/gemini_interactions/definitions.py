"""Tool definitions as this surface's requests list them."""

from typing import Any

from adapters.envelopes.envelope import ToolDefinition


def render(definition: ToolDefinition) -> dict[str, Any]:
    """Return one entry of a request's `tools`; the surface has neither a strict mode nor examples."""
    return {
        "type": "function",
        "name": definition.name,
        "description": definition.description,
        "parameters": dict(definition.parameters),
        **({"defer_loading": True} if definition.deferred else {}),
    }
