"""What a request of this surface lists: tools, our search or the provider's, and tools that the provider runs."""

from collections.abc import Mapping, Sequence
from typing import Any

from adapters.envelopes.envelope import Findings, HostedTools, Listing, Offer, Search, ToolDefinition
from adapters.envelopes.openai_responses.definitions import render
from adapters.envelopes.strict import Inexpressible, StrictForm, openai


def offer(offer: Offer) -> Listing:
    """Return the tools, the search that finds the deferred ones, and the servers that the provider may call.

    With our search the deferred ones come in its result; the provider's search needs their definitions from the start.
    """
    provider = offer.by is Search.PROVIDERS
    listed = [render(each) for each in offer.tools if provider or not each.deferred]
    return Listing([*listed, *_search(offer.search, provider=provider), *map(_server, offer.hosted)])


def found(definitions: Sequence[ToolDefinition]) -> Findings:
    """Return what a search has found: the answer to it holds the definitions themselves."""
    return Findings({"tools": [render(each) for each in definitions]})


def forms(schemas: Sequence[Mapping[str, Any]]) -> list[StrictForm | Inexpressible]:
    """Return each schema as the provider holds a model to it, or why it cannot."""
    return list(map(openai.form, schemas))


def _search(ours: ToolDefinition | None, *, provider: bool) -> list[dict[str, Any]]:
    if ours is None:
        return []
    if provider:
        return [{"type": "tool_search", "execution": "server"}]
    described = {"description": ours.description, "parameters": dict(ours.parameters)}
    return [{"type": "tool_search", "execution": "client", **described}]


def _server(hosted: HostedTools) -> dict[str, Any]:
    """A server whose every call is asked about: the answer is ours, by policy or by people."""
    return {
        "type": "mcp",
        "server_label": hosted.label,
        "server_url": hosted.url,
        "allowed_tools": [*hosted.reads, *hosted.writes],
        "require_approval": "always",
    }
