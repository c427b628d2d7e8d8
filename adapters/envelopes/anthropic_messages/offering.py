"""What a request of this surface lists: tools, our search or the provider's, and tools that the provider runs."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from adapters.envelopes.anthropic_messages.definitions import render
from adapters.envelopes.envelope import Findings, HostedTools, Listing, Offer, Search, ToolDefinition
from adapters.envelopes.strict import Inexpressible, StrictForm, anthropic

PROVIDERS_SEARCH: Final = {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"}

BEYOND: Final = Inexpressible("the strict tools before it use up what the provider allows in one request")


def offer(offer: Offer) -> Listing:
    """Return all tools, deferred ones marked: a search of either kind answers with references to them.

    The provider asks nobody before it calls a server, so only what needs no word of ours is listed there.
    """
    servers = [each for each in offer.hosted if each.reads]
    tools = [*map(render, offer.tools), *_search(offer), *map(_toolset, servers)]
    if not servers:
        return Listing(tools)
    return Listing(tools, {"mcp_servers": [{"type": "url", "name": each.label, "url": each.url} for each in servers]})


def found(definitions: Sequence[ToolDefinition]) -> Findings:
    """Return what a search has found: references by name to what the request lists already."""
    return Findings({"tools": [{"name": each.name, "description": each.description} for each in definitions]})


def forms(schemas: Sequence[Mapping[str, Any]]) -> list[StrictForm | Inexpressible]:
    """Return each schema as the provider holds a model to it, or why it cannot."""
    found = list(map(anthropic.form, schemas))
    fits = anthropic.within_limits(found)
    return [each if fit or isinstance(each, Inexpressible) else BEYOND for each, fit in zip(found, fits, strict=True)]


def _search(offer: Offer) -> list[dict[str, Any]]:
    if offer.search is None:
        return []
    return [dict(PROVIDERS_SEARCH)] if offer.by is Search.PROVIDERS else [render(offer.search)]


def _toolset(hosted: HostedTools) -> dict[str, Any]:
    """All tools of the server off, but for those that are allowed."""
    return {
        "type": "mcp_toolset",
        "mcp_server_name": hosted.label,
        "default_config": {"enabled": False},
        "configs": {tool: {"enabled": True} for tool in hosted.reads},
    }
