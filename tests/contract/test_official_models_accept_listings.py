"""The providers' own models judge everything that a request lists: tools, searches, servers that the provider calls."""

from typing import Any

import pytest
from anthropic.types import ToolParam as AnthropicToolParam
from anthropic.types.beta import BetaRequestMCPServerURLDefinitionParam, BetaToolUnionParam
from google.genai import interactions
from google.genai import types as gemini
from openai.types.chat import ChatCompletionToolUnionParam
from openai.types.responses import ToolParam
from pydantic import BaseModel, TypeAdapter, ValidationError

from adapters.envelopes import SURFACES
from adapters.envelopes.envelope import HostedTools, Listing, Offer, Search, ToolDefinition
from adapters.intake.search_tool import SEARCH

ANTHROPIC_TOOL: TypeAdapter[Any] = TypeAdapter(BetaToolUnionParam)
ANTHROPIC_SERVER: TypeAdapter[Any] = TypeAdapter(BetaRequestMCPServerURLDefinitionParam)
ANTHROPIC_CUSTOM: TypeAdapter[Any] = TypeAdapter(AnthropicToolParam)
CHAT_TOOL: TypeAdapter[Any] = TypeAdapter(ChatCompletionToolUnionParam)
RESPONSES_TOOL: TypeAdapter[Any] = TypeAdapter(ToolParam)
INTERACTIONS_TOOL: TypeAdapter[Any] = TypeAdapter(interactions.Tool)

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
PLAIN = ToolDefinition("get_weather", "Reads the weather.", SCHEMA, examples=({"city": "Seoul"},))
STRICT = ToolDefinition("get_news", "Reads the news.", SCHEMA, strict=True)
DEFERRED = ToolDefinition("get_rate", "Reads a rate.", SCHEMA, deferred=True)
WIKI = HostedTools("wiki", "https://wiki.example/mcp", ("search_pages",), ("replace_page",))
WRITES_ONLY = HostedTools("pages", "https://pages.example/mcp", (), ("replace_page",))

EVERYTHING = Offer((PLAIN, STRICT, DEFERRED), SEARCH, Search.OURS, (WIKI, WRITES_ONLY))


def thawed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: thawed(item) for key, item in value.items()}
    if isinstance(value, str) or not hasattr(value, "__iter__"):
        return value
    return [thawed(item) for item in value]


def judged_alike(surface: str, item: Any) -> bool:
    """Of Anthropic's union only the tools of its own have a type to be told apart by."""
    custom = surface == "anthropic-messages" and "input_schema" in item
    return same(ANTHROPIC_CUSTOM if custom else JUDGES[surface], item)


def same(adapter: TypeAdapter[Any], item: Any) -> bool:
    """Whether the model takes it, and takes all of it."""
    taken = adapter.validate_python(item)
    if isinstance(taken, BaseModel):
        assert not type(taken).__name__.startswith("Unknown")
        taken = taken.model_dump(by_alias=True, exclude_unset=True)
    return bool(thawed(taken) == item)


def names(listing: Listing) -> list[str]:
    return [str(each.get("name") or each.get("function", {}).get("name") or each["type"]) for each in listing.tools]


JUDGES = {
    "openai-chat": CHAT_TOOL,
    "openai-responses": RESPONSES_TOOL,
    "anthropic-messages": ANTHROPIC_TOOL,
    "gemini-interactions": INTERACTIONS_TOOL,
}


@pytest.mark.parametrize("surface", sorted(JUDGES))
def test_every_entry_is_one_that_the_provider_defines(surface: str) -> None:
    listing = SURFACES[surface].offer(EVERYTHING)
    assert [judged_alike(surface, each) for each in listing.tools] == [True] * len(listing.tools)


@pytest.mark.parametrize("surface", ["openai-responses", "anthropic-messages", "gemini-interactions"])
def test_so_is_the_providers_own_search(surface: str) -> None:
    listing = SURFACES[surface].offer(Offer((PLAIN, DEFERRED), SEARCH, Search.PROVIDERS))
    assert [judged_alike(surface, each) for each in listing.tools] == [True] * 3
    assert "get_rate" in names(listing)


def test_geminis_declarations_are_those_that_its_request_takes() -> None:
    listing = SURFACES["gemini-generate-content"].offer(EVERYTHING)
    tool = gemini.Tool.model_validate({"functionDeclarations": listing.tools})
    assert [each.name for each in tool.function_declarations or ()] == ["get_weather", "get_news", "tool_search"]


def test_anthropics_servers_are_those_that_its_request_takes() -> None:
    listing = SURFACES["anthropic-messages"].offer(EVERYTHING)
    [server] = listing.request["mcp_servers"]
    assert same(ANTHROPIC_SERVER, server)
    assert server["name"] == "wiki"


@pytest.mark.parametrize(
    ("surface", "listed"),
    [
        ("openai-chat", ["get_weather", "get_news", "tool_search"]),
        ("openai-responses", ["get_weather", "get_news", "tool_search", "mcp", "mcp"]),
        ("anthropic-messages", ["get_weather", "get_news", "get_rate", "tool_search", "mcp_toolset"]),
        ("gemini-generate-content", ["get_weather", "get_news", "tool_search"]),
        ("gemini-interactions", ["get_weather", "get_news", "tool_search", "wiki"]),
    ],
)
def test_what_is_deferred_and_what_must_be_asked_about_is_listed_where_that_works(
    surface: str, listed: list[str]
) -> None:
    assert names(SURFACES[surface].offer(EVERYTHING)) == listed


@pytest.mark.parametrize("surface", SURFACES)
def test_without_anything_deferred_nothing_is_searched(surface: str) -> None:
    assert names(SURFACES[surface].offer(Offer((PLAIN,)))) == ["get_weather"]


@pytest.mark.parametrize("surface", SURFACES)
def test_what_a_search_has_found_is_told_or_listed_next(surface: str) -> None:
    findings = SURFACES[surface].found([DEFERRED])
    assert "get_rate" in str(findings.data)
    assert bool(findings.add) is (surface in ("openai-chat", "gemini-generate-content"))


@pytest.mark.parametrize("surface", SURFACES)
def test_only_who_can_be_strict_says_that_a_tool_is(surface: str) -> None:
    strict = "openai" in surface or "anthropic" in surface
    assert ("'strict': True" in str(SURFACES[surface].offer(EVERYTHING).tools)) is strict


def test_a_judge_sees_a_mistake() -> None:
    for adapter in (CHAT_TOOL, RESPONSES_TOOL, ANTHROPIC_TOOL):
        with pytest.raises(ValidationError):
            thawed(adapter.validate_python({"type": "function", "name": 7}))
