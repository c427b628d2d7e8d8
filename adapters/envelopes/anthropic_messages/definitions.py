"""Tool definitions as this surface's requests list them."""

from collections.abc import Mapping
from typing import Any

from adapters.envelopes.envelope import ToolDefinition
from adapters.envelopes.strict.anthropic import FIELD_NAME
from adapters.outside_schema.places import each_schema


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


def takes(schema: Mapping[str, Any]) -> bool:
    """Return whether all fields, at any depth, have names that the provider takes."""
    return all(FIELD_NAME.fullmatch(name) for each in each_schema(dict(schema)) for name in each.get("properties", {}))
