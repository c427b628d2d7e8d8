"""What `tools/list` says: the tools that this caller may be offered, and the two for coming back to an operation."""

from collections.abc import Iterable, Sequence
from typing import Any

import mcp_types as types

from adapters.intake.offers import Offers
from adapters.mcp.server.answers import fitted, output_schema_of
from adapters.mcp.server.own_tools import OWN_TOOLS
from workflows.domain.catalog import Catalog
from workflows.domain.contract import Contract, Trust
from workflows.domain.errors import InvalidConfiguration
from workflows.domain.principal import Principal

FRESH_SECONDS = 60
"""How long a host may go by a list: what is offered follows the roles of the token, and is asked again at each call."""


class ToolList:
    """The list, by caller.

    Raises:
        InvalidConfiguration: a tool of the catalog has the name of one of ours.
    """

    def __init__(self, catalog: Catalog, offers: Offers, surface: str) -> None:
        self._catalog, self._names = catalog, offers.names(surface)
        self._tools = {
            each.name: _tool(each, offers.definition(surface, each.name).name)
            for each in catalog.all()
            if each.name in self._names
        }
        self._output = {name: tool.output_schema for name, tool in self._tools.items()}
        self._output |= {tool.name: tool.output_schema for tool in self._tools.values()}
        taken = {tool.name for tool in self._tools.values()} & {tool.name for tool in OWN_TOOLS}
        if taken:
            raise InvalidConfiguration(f"No tool may be called {min(taken)}: MCP hosts have one of ours by that name.")

    def of(self, principal: Principal) -> Sequence[types.Tool]:
        """What this caller may be offered, by name, and our own."""
        return [*(self._tools[each.name] for each in self._offered(principal)), *OWN_TOOLS]

    def has(self, principal: Principal, tool: str) -> bool:
        """Whether this caller may be offered the tool of this name, the catalog's or a host's."""
        return any(tool in (each.name, self._tools[each.name].name) for each in self._offered(principal))

    def held(self, tool: str, answer: dict[str, Any]) -> dict[str, Any]:
        """The answer in the form that the tool of this name, the catalog's or a host's, declares, if it is there."""
        schema = self._output.get(tool)
        return answer if schema is None else fitted(answer, schema)

    def _offered(self, principal: Principal) -> Iterable[Contract]:
        return (each for each in self._catalog.offered(principal) if each.name in self._names)


def _tool(contract: Contract, name: str) -> types.Tool:
    return types.Tool(
        name=name,
        title=contract.title,
        description=contract.description,
        input_schema=contract.schema,
        output_schema=output_schema_of(contract),
        annotations=types.ToolAnnotations(
            title=contract.title,
            read_only_hint=not contract.writes,
            destructive_hint=contract.writes and not contract.reversible,
            # The same call again is another act unless the host names its request: no reason to repeat one blindly.
            idempotent_hint=not contract.writes,
            open_world_hint=contract.trust is Trust.EXTERNAL,
        ),
    )
