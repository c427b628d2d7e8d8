"""Gemini Interactions: which lists of steps the API would refuse because of their calls and results."""

from typing import Any

import pytest

from adapters.envelopes.transcript import TranscriptRefused, require_sound

SURFACE = "gemini-interactions"

Step = dict[str, Any]


def user(words: str = "How warm is it?") -> Step:
    return {"type": "user_input", "content": [{"type": "text", "text": words}]}


def said(words: str = "Warm.") -> Step:
    return {"type": "model_output", "content": [{"type": "text", "text": words}]}


def call(call_id: Any = "call_1", name: Any = "get_weather", **more: Any) -> Step:
    return {"type": "function_call", "id": call_id, "name": name, "arguments": {}, **more}


def result(call_id: Any = "call_1", name: Any = "get_weather", value: Any = "22 degrees") -> Step:
    return {"type": "function_result", "call_id": call_id, "name": name, "result": value}


REMOTE = {"type": "mcp_server_tool_call", "id": "mcp_1", "name": "ask", "server_name": "wiki", "arguments": {}}
REMOTE_RESULT = {"type": "mcp_server_tool_result", "call_id": "mcp_1", "result": "Yes."}
SEARCH = {"type": "google_search_call", "id": "gs_1", "arguments": {}}
SEARCH_RESULT = {"type": "google_search_result", "call_id": "gs_1", "result": []}

TOOL_SEARCH = {"type": "tool_search_call", "id": "ts_1", "arguments": {}}
TOOL_SEARCH_RESULT = {"type": "tool_search_result", "call_id": "ts_1", "result": []}

SOUND = {
    "no calls": [user(), {"type": "thought", "signature": "Eu"}, said()],
    "no steps": [],
    "one call, one result": [user(), call(), result()],
    "results in another order": [call("a", "f"), call("b", "g"), result("b", "g"), result("a", "f")],
    "a result that is an object": [call(), result(value={"t": 22})],
    "a result in parts": [call(), result(value=[{"type": "text", "text": "22"}])],
    "an empty result": [call(), result(value="")],
    "what the provider did itself": [REMOTE, REMOTE_RESULT, SEARCH, SEARCH_RESULT, said()],
    "what the provider is still at": [user(), SEARCH],
    "the provider's own tool search": [TOOL_SEARCH, TOOL_SEARCH_RESULT, said()],
    "a tool search that the client answers": [TOOL_SEARCH, result("ts_1", "tool_search", [])],
    "a tool search that nobody has answered": [TOOL_SEARCH],
    "the same id for calls of two kinds": [call("mcp_1"), REMOTE, REMOTE_RESULT, result("mcp_1")],
}

UNSOUND: dict[str, tuple[list[Any], str, str]] = {
    "a call without its result": ([user(), call()], "unanswered_call", "/1/id"),
    "one of two calls without its result": ([call("a"), call("b"), result("a")], "unanswered_call", "/1/id"),
    "a result without its call": ([user(), result()], "unasked_result", "/1/call_id"),
    "a result for a call of the provider's own": ([REMOTE, result("mcp_1")], "unasked_result", "/1/call_id"),
    "a result of the provider's without its call": ([SEARCH_RESULT], "unasked_result", "/0/call_id"),
    "a result before its call": ([result(), call()], "misplaced_result", "/0/call_id"),
    "two results for one tool search": (
        [TOOL_SEARCH, TOOL_SEARCH_RESULT, result("ts_1", "tool_search", [])],
        "repeated_result",
        "/2/call_id",
    ),
    "the result of a tool search for a call": (
        [call("ts_1"), TOOL_SEARCH_RESULT],
        "unasked_result",
        "/1/call_id",
    ),
    "two results for one call": ([call(), result(), result()], "repeated_result", "/2/call_id"),
    "one id for two calls": ([call(), result(), call(), result()], "repeated_call_id", "/2/id"),
    "a call without an id": ([call(None)], "missing_call_id", "/0/id"),
    "a result without an id": ([call(), result(None)], "missing_call_id", "/1/call_id"),
    "a call of the provider's without an id": ([{"type": "google_search_call"}], "missing_call_id", "/0/id"),
    "a call without a name": ([call(name=None)], "malformed_item", "/0/name"),
    "a call whose arguments are text": ([call(arguments="{}")], "malformed_item", "/0/arguments"),
    "a result that names another tool": ([call(), result(name="get_news")], "name_mismatch", "/1/name"),
    "a result that names no tool": ([call(), result(name=None)], "name_mismatch", "/1/name"),
    "a result that is null": ([call(), result(value=None)], "null_content", "/1/result"),
    "a result that is a number": ([call(), result(value=22)], "malformed_item", "/1/result"),
    "a step without a type": ([{"content": []}], "malformed_item", "/0/type"),
}


@pytest.mark.parametrize("steps", SOUND.values(), ids=list(SOUND))
def test_what_the_api_takes_is_sound(steps: list[Step]) -> None:
    require_sound(SURFACE, steps)


@pytest.mark.parametrize(("steps", "code", "path"), UNSOUND.values(), ids=list(UNSOUND))
def test_what_the_api_refuses_is_refused_with_its_place(steps: list[Any], code: str, path: str) -> None:
    with pytest.raises(TranscriptRefused) as refused:
        require_sound(SURFACE, steps)
    assert (refused.value.code, refused.value.path) == (code, path)
