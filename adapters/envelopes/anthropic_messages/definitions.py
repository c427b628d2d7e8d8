"""Tool definitions as this surface's requests list them."""

from typing import Any

from adapters.envelopes.envelope import ToolDefinition


def render(definition: ToolDefinition) -> dict[str, Any]:
    """Return one entry of a request's `tools`."""
    return {
        "name": definition.name,
        "description": definition.description,
        "input_schema": dict(definition.parameters),
        **({"strict": True} if definition.strict else {}),
        **({"defer_loading": True} if definition.deferred else {}),
        **({"input_examples": [dict(example) for example in definition.examples]} if definition.examples else {}),
    }
