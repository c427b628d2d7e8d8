"""Tool definitions as this surface's requests list them."""

import re
from typing import Any, Final

from adapters.envelopes.envelope import ToolDefinition
from workflows.domain.errors import InvalidConfiguration

FIRST_CHARACTER: Final = re.compile(r"[a-zA-Z_]")
"""What a name may begin with; one bad name fails the whole request."""


def render(definition: ToolDefinition) -> dict[str, Any]:
    """Return one entry of `functionDeclarations`; a request's `tools` holds `{"functionDeclarations": [entry, ...]}`.

    The surface has no strict mode, no deferred tools and no examples for one function.

    Raises:
        InvalidConfiguration: the name begins with a digit or a dash.
    """
    if not FIRST_CHARACTER.match(definition.name):
        raise InvalidConfiguration(f"on this surface a tool name must begin with {FIRST_CHARACTER.pattern}")
    return {
        "name": definition.name,
        "description": definition.description,
        "parametersJsonSchema": dict(definition.parameters),
    }
