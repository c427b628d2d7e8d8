"""The tools that a caller's model may be offered, in the form of its surface."""

from collections.abc import Mapping
from typing import Any

from adapters.envelopes.envelope import Envelope, ToolDefinition
from adapters.intake.surfaces import envelope_of
from workflows.domain.catalog import Catalog
from workflows.domain.principal import Principal


class Offers:
    """Renders the catalog; what is not offered cannot be called."""

    def __init__(self, surfaces: Mapping[str, Envelope], catalog: Catalog) -> None:
        self._surfaces, self._catalog = surfaces, catalog

    def to(self, principal: Principal, surface: str) -> list[dict[str, Any]]:
        """The definitions for this principal on this surface; raises `ResponseRefused("unknown_surface")`."""
        envelope = envelope_of(self._surfaces, surface)
        return [
            envelope.render(ToolDefinition(contract.name, contract.description, contract.schema))
            for contract in self._catalog.offered(principal)
        ]
