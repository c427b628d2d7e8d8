"""The tools that a caller's model may be offered, in the form of its surface."""

from collections.abc import Mapping
from typing import Any

from adapters.envelopes.envelope import Envelope, ToolDefinition
from workflows.domain.catalog import Catalog
from workflows.domain.errors import ResponseRefused
from workflows.domain.principal import Principal


class Offers:
    """Renders the catalog; what is not offered cannot be called."""

    def __init__(self, surfaces: Mapping[str, Envelope], catalog: Catalog) -> None:
        self._surfaces, self._catalog = surfaces, catalog

    def to(self, principal: Principal, surface: str) -> list[dict[str, Any]]:
        """The definitions for this principal on this surface; raises `ResponseRefused("unknown_surface")`."""
        if surface not in self._surfaces:
            raise ResponseRefused("unknown_surface")
        return [
            self._surfaces[surface].render(ToolDefinition(contract.name, contract.description, contract.schema))
            for contract in self._catalog.offered(principal)
        ]
