"""Anthropic Messages: the provider's own work beside our calls, and searches for tools."""

import json
from typing import Any

import pytest

from adapters.envelopes import anthropic_messages
from adapters.envelopes.envelope import HostedCall, ReadTurn
from tests.unit.three_reads import PROPOSALS, message, tool_use
from workflows.domain.proposal import CallError, CallResult, Proposal, Status

WEATHER = tool_use(PROPOSALS[0])
SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "ACME"}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{"url": "a"}]}
ASKED = {"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "ask", "server_name": "wiki", "input": {}}
TOLD = {"type": "mcp_tool_result", "tool_use_id": "mcptoolu_1", "is_error": False, "content": []}
TOOL_SEARCH = Proposal("call-search", "tool_search", {"query": "weather"})


def read(*blocks: dict[str, Any], stop_reason: str = "end_turn") -> ReadTurn:
    return anthropic_messages.read(message(*blocks, stop_reason=stop_reason))


def failed_of(*blocks: dict[str, Any]) -> list[bool | None]:
    return [call.failed for call in read(*blocks).hosted]


def references(*names: Any) -> dict[str, Any]:
    found = [{"type": "tool_reference", "tool_name": name} for name in names]
    content = {"type": "tool_search_tool_search_result", "tool_references": found}
    return {"type": "tool_search_tool_result", "tool_use_id": "srvtoolu_2", "content": content}


def answer_to_search(data: Any, search: Proposal = TOOL_SEARCH) -> dict[str, Any]:
    turn = read(tool_use(search), stop_reason="tool_use")
    result = CallResult(search.call_id, search.tool_name, Status.SUCCEEDED, data)
    _, answer = anthropic_messages.write(turn, [result])
    [block] = answer["content"]
    assert isinstance(block, dict)
    return block


# -- what the provider ran


def test_every_call_of_the_provider_is_told_with_its_end() -> None:
    assert read(SEARCH, FOUND, ASKED, TOLD).hosted == (
        HostedCall("srvtoolu_1", "server_tool_use", "", "web_search", failed=False),
        HostedCall("mcptoolu_1", "mcp_tool_use", "wiki", "ask", failed=False),
    )


def test_a_call_of_the_provider_without_its_result_has_no_end_yet() -> None:
    assert failed_of(SEARCH) == [None]
    assert read(SEARCH, ASKED, stop_reason="pause_turn").hosted == (
        HostedCall("srvtoolu_1", "server_tool_use", "", "web_search"),
        HostedCall("mcptoolu_1", "mcp_tool_use", "wiki", "ask"),
    )


@pytest.mark.parametrize(("is_error", "failed"), [(True, True), (False, False), (None, False)])
def test_a_hosted_server_says_itself_whether_it_failed(is_error: bool | None, failed: bool) -> None:
    assert failed_of(ASKED, {**TOLD, "is_error": is_error}) == [failed]


@pytest.mark.parametrize(
    "kind",
    [
        "web_search",
        "web_fetch",
        "code_execution",
        "bash_code_execution",
        "text_editor_code_execution",
        "tool_search",
        "advisor",
        "soon_to_be_invented",
    ],
)
def test_a_tool_of_the_provider_failed_when_its_result_holds_an_error(kind: str) -> None:
    broken = {"type": f"{kind}_tool_result_error", "error_code": "unavailable"}
    sound = {"type": f"{kind}_result"}
    for content, failed in ((broken, True), (sound, False), ([], False), (None, False)):
        result: dict[str, Any] = {"type": f"{kind}_tool_result", "tool_use_id": "srvtoolu_1", "content": content}
        assert failed_of(SEARCH, result) == [failed]


def test_each_end_goes_to_its_own_call() -> None:
    second = {**ASKED, "id": "mcptoolu_2"}
    assert failed_of(ASKED, second, {**TOLD, "tool_use_id": "mcptoolu_2", "is_error": True}) == [None, True]


def test_an_end_whose_call_stands_in_an_earlier_message_is_told_too() -> None:
    assert read(FOUND).hosted == (HostedCall("srvtoolu_1", "web_search_tool_result", failed=False),)


def test_our_own_calls_and_plain_blocks_are_no_work_of_the_provider() -> None:
    plain = [{"type": "text", "text": "a"}, {"type": "container_upload", "file_id": "f"}, {"type": "mcp_tool_listing"}]
    turn = read(*plain, WEATHER, stop_reason="tool_use")
    assert (turn.hosted, turn.found) == ((), frozenset())


def test_while_a_call_of_the_provider_is_under_way_the_message_holds_answers_alone() -> None:
    turn = read(SEARCH, WEATHER, stop_reason="tool_use")
    result = CallResult("call-weather", "get_weather", Status.SUCCEEDED, {"temperature": 22})
    echo, answer = anthropic_messages.write(turn, [result])
    assert echo["content"] == [SEARCH, WEATHER]
    assert [block["type"] for block in answer["content"]] == ["tool_result"]


# -- tools that the provider's search brought up


def test_the_tools_that_a_search_of_the_provider_brought_up_are_named() -> None:
    asked = {**SEARCH, "id": "srvtoolu_2", "name": "tool_search_tool_bm25"}
    turn = read(asked, references("get_weather", "get_stock"), references("get_news"), WEATHER, stop_reason="tool_use")
    assert turn.found == {"get_weather", "get_stock", "get_news"}
    assert turn.proposals == PROPOSALS[:1]


@pytest.mark.parametrize(
    "content",
    [
        {"type": "tool_search_tool_result_error", "error_code": "unavailable"},
        {"type": "tool_search_tool_search_result", "tool_references": []},
        {"type": "tool_search_tool_search_result", "tool_references": None},
        {"type": "tool_search_tool_search_result", "tool_references": ["get_weather"]},
        [],
        None,
    ],
)
def test_a_search_that_brought_up_nothing_names_nothing(content: Any) -> None:
    assert read({**references(), "content": content}).found == frozenset()


def test_a_reference_without_a_name_names_nothing() -> None:
    assert read(references("", None, 7, "get_weather")).found == {"get_weather"}


def test_results_of_other_tools_bring_up_no_tools() -> None:
    assert read({**references("get_weather"), "type": "web_search_tool_result"}).found == frozenset()


# -- searches that are answered here


def test_what_our_own_search_found_is_answered_by_references() -> None:
    block = answer_to_search({"tools": [{"name": "get_weather", "description": "…"}, {"name": "get_stock"}]})
    assert block == {
        "type": "tool_result",
        "tool_use_id": "call-search",
        "is_error": False,
        "content": [
            {"type": "tool_reference", "tool_name": "get_weather"},
            {"type": "tool_reference", "tool_name": "get_stock"},
        ],
    }


@pytest.mark.parametrize(
    "data",
    [{"tools": []}, {"tools": None}, {"tools": "get_weather"}, {"tools": [{"title": "x"}, "get_weather"]}, [], None],
)
def test_a_search_that_found_nothing_is_answered_in_words(data: Any) -> None:
    assert json.loads(answer_to_search(data)["content"]) == {"status": "succeeded", "data": data}


def test_only_the_tool_of_that_name_is_a_search() -> None:
    data = {"tools": [{"name": "get_weather"}]}
    block = answer_to_search(data, Proposal("call-search", "list_tools", {}))
    assert json.loads(block["content"])["data"] == data


def test_a_search_that_failed_is_answered_in_words() -> None:
    turn = read(tool_use(TOOL_SEARCH), stop_reason="tool_use")
    error = CallError("upstream_unavailable")
    failed = CallResult("call-search", "tool_search", Status.FAILED_RETRYABLE, error=error)
    _, answer = anthropic_messages.write(turn, [failed])
    assert answer["content"][0]["is_error"]
    assert json.loads(answer["content"][0]["content"])["error"]["code"] == "upstream_unavailable"
