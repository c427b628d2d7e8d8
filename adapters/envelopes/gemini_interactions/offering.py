"""What a request of this surface lists: tools, our search or the provider's, and tools that the provider runs."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from adapters.envelopes.envelope import Findings, HostedTools, Listing, Offer, Search, ToolDefinition
from adapters.envelopes.gemini_interactions.definitions import render
from adapters.envelopes.strict import Inexpressible


def offer(offer: Offer) -> Listing:
    """Return the tools, the search that finds the deferred ones, and the servers that the provider may call.

    The provider asks nobody before it calls a server, so only what needs no word of ours is listed there.
    """
    provider = offer.by is Search.PROVIDERS
    listed = [render(each) for each in offer.tools if provider or not each.deferred]
    servers = [each for each in offer.hosted if each.reads]
    return Listing([*listed, *_search(offer.search, provider=provider), *map(_server, servers)])


def found(definitions: Sequence[ToolDefinition]) -> Findings:
    """Return what a search has found: the answer to it holds the definitions themselves."""
    return Findings([render(replace(each, deferred=False)) for each in definitions])


def forms(schemas: Sequence[Mapping[str, Any]]) -> list[Inexpressible]:
    """Return that nothing is strict here: the surface takes JSON Schema as it is."""
    return [Inexpressible("the surface has no strict mode") for _ in schemas]


def _search(ours: ToolDefinition | None, *, provider: bool) -> list[dict[str, Any]]:
    if ours is None:
        return []
    if provider:
        return [{"type": "tool_search", "execution": "server"}]
    described = {"name": ours.name, "description": ours.description, "parameters": dict(ours.parameters)}
    return [{"type": "tool_search", "execution": "client", **described}]


def _server(hosted: HostedTools) -> dict[str, Any]:
    return {
        "type": "mcp_server",
        "name": hosted.label,
        "url": hosted.url,
        "allowed_tools": [{"mode": "auto", "tools": list(hosted.reads)}],
    }
