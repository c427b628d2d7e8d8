"""Tool definitions as this surface's requests list them."""

from typing import Any

from adapters.envelopes.envelope import ToolDefinition


def render(definition: ToolDefinition) -> dict[str, Any]:
    """Return one entry of a request's `tools`; the surface has neither deferred tools nor examples."""
    return {
        "type": "function",
        "function": {
            "name": definition.name,
            "description": definition.description,
            "parameters": dict(definition.parameters),
            **({"strict": True} if definition.strict else {}),
        },
    }
