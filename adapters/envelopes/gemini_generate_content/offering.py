"""What a request of this surface lists: tools, our search or the provider's, and tools that the provider runs."""

from collections.abc import Mapping, Sequence
from typing import Any

from adapters.envelopes.envelope import Findings, Listing, Offer, Search, ToolDefinition
from adapters.envelopes.gemini_generate_content.definitions import render
from adapters.envelopes.strict import Inexpressible
from workflows.domain.errors import InvalidConfiguration


def offer(offer: Offer) -> Listing:
    """Return the declarations of the tools that are not deferred, and of our search among them.

    A server that the provider calls cannot be narrowed to some of its tools here, so none is listed.

    Raises:
        InvalidConfiguration: the provider was to search.
    """
    if offer.by is Search.PROVIDERS:
        raise InvalidConfiguration("this surface has no tool search of its own")
    at_once = [each for each in offer.tools if not each.deferred]
    return Listing([render(each) for each in (*at_once, *([offer.search] if offer.search else []))])


def found(definitions: Sequence[ToolDefinition]) -> Findings:
    """Return what a search has found: names and what they are for; the definitions go into the next request."""
    told = [{"name": each.name, "description": each.description} for each in definitions]
    return Findings({"tools": told}, [render(each) for each in definitions])


def forms(schemas: Sequence[Mapping[str, Any]]) -> list[Inexpressible]:
    """Return that nothing is strict here: the surface takes JSON Schema as it is."""
    return [Inexpressible("the surface has no strict mode") for _ in schemas]
