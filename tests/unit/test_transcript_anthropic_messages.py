"""Anthropic Messages: which conversations the API would refuse because of their tool calls and results."""

from typing import Any

import pytest

from adapters.envelopes.transcript import TranscriptRefused, require_sound

SURFACE = "anthropic-messages"

Block = dict[str, Any]
Message = dict[str, Any]


def text(words: Any = "How warm is it?") -> Block:
    return {"type": "text", "text": words}


def call(call_id: Any = "toolu_1", **more: Any) -> Block:
    return {"type": "tool_use", "id": call_id, "name": "get_weather", "input": {}, **more}


def result(call_id: Any = "toolu_1", **more: Any) -> Block:
    return {"type": "tool_result", "tool_use_id": call_id, "content": "22 degrees", **more}


def search(call_id: str = "srvtoolu_1") -> Block:
    return {"type": "server_tool_use", "id": call_id, "name": "web_search", "input": {}}


def found(call_id: str = "srvtoolu_1", kind: str = "web_search_tool_result") -> Block:
    return {"type": kind, "tool_use_id": call_id, "content": []}


def remote(call_id: str = "mcptoolu_1") -> Block:
    return {"type": "mcp_tool_use", "id": call_id, "name": "ask", "server_name": "wiki", "input": {}}


def thinking(**more: Any) -> Block:
    return {"type": "thinking", "thinking": "", **more}


def user(*blocks: Block) -> Message:
    return {"role": "user", "content": list(blocks) or "How warm is it?"}


def assistant(*blocks: Block) -> Message:
    return {"role": "assistant", "content": list(blocks)}


BY_PROGRAM = call("toolu_2", caller={"type": "code_execution_20260120", "tool_id": "srvtoolu_1"})

SOUND = {
    "no calls": [user(), assistant(text("Warm."))],
    "no messages": [],
    "one call, one result": [user(), assistant(text(), call()), user(result())],
    "two results in another order, then words": [
        assistant(call("a"), call("b")),
        user(result("b"), result("a"), text()),
    ],
    "two turns": [assistant(call("a")), user(result("a")), assistant(call("b")), user(result("b"))],
    "a result without content": [assistant(call()), user({"type": "tool_result", "tool_use_id": "toolu_1"})],
    "an empty result": [assistant(call()), user(result(content=""))],
    "a result in blocks": [assistant(call()), user(result(content=[text("22"), {"type": "image", "source": {}}]))],
    "a toolset on both sides": [assistant(call(toolset_name="browser")), user(result(toolset_name="browser"))],
    "a blank text beside another block": [
        user(text(" "), text("Well?")),
        assistant(text("\n"), call()),
        user(result()),
    ],
    "an empty message of the assistant at the end": [user(), assistant()],
    "signed thinking": [user(), assistant(thinking(signature="EuY"), {"type": "redacted_thinking", "data": "AAEC"})],
    "the provider's own work in one message": [user(), assistant(search(), found(), text()), user()],
    "an MCP call of the provider's": [assistant(remote(), found("mcptoolu_1", "mcp_tool_result"), text()), user()],
    "a result in the provider's next message": [user(), assistant(search()), assistant(found(), text()), user()],
    "the provider paused": [user(), assistant(search())],
    "the provider still at it while a call is answered": [user(), assistant(search(), call()), user(result())],
    "a program that calls twice": [
        assistant(search(), call()),
        user(result()),
        assistant(BY_PROGRAM),
        user(result("toolu_2")),
    ],
    "the provider done after a call was answered": [
        assistant(search(), call()),
        user(result()),
        assistant(found(), text()),
        user(),
    ],
}

UNSOUND: dict[str, tuple[list[Any], str, str]] = {
    "a call at the end without its result": ([user(), assistant(call())], "unanswered_call", "/1/content/0/id"),
    "a call without its result in the next message": (
        [assistant(call("a"), call("b")), user(result("a"))],
        "unanswered_call",
        "/0/content/1/id",
    ),
    "words before a result": ([assistant(call()), user(text(), result())], "misplaced_result", "/1/content/1"),
    "words between two results": (
        [assistant(call("a"), call("b")), user(result("a"), text(), result("b"))],
        "misplaced_result",
        "/1/content/2",
    ),
    "a result one message later": ([assistant(call()), user(), user(result())], "misplaced_result", "/2/content/0"),
    "results in two messages": (
        [assistant(call("a"), call("b")), user(result("a")), user(result("b"))],
        "misplaced_result",
        "/2/content/0",
    ),
    "a result that the assistant gives": ([assistant(call(), result())], "misplaced_result", "/0/content/1"),
    "a call that the user makes": ([user(call()), user(result())], "misplaced_call", "/0/content/0"),
    "a result in the first message": ([user(result())], "unasked_result", "/0/content/0/tool_use_id"),
    "a result under another id": (
        [assistant(call()), user(result(), result("toolu_2"))],
        "unasked_result",
        "/1/content/1/tool_use_id",
    ),
    "a result for a call of long ago": (
        [assistant(call()), user(result()), assistant(text()), user(result())],
        "unasked_result",
        "/3/content/0/tool_use_id",
    ),
    "two results for one call": (
        [assistant(call()), user(result(), result())],
        "repeated_result",
        "/1/content/1/tool_use_id",
    ),
    "one id for two calls of a message": (
        [assistant(call(), call()), user(result())],
        "repeated_call_id",
        "/0/content/1/id",
    ),
    "one id in two turns": (
        [assistant(call()), user(result()), assistant(call()), user(result())],
        "repeated_call_id",
        "/2/content/0/id",
    ),
    "a call without an id": ([assistant(call(None)), user(result())], "missing_call_id", "/0/content/0/id"),
    "a result without an id": ([assistant(call()), user(result(None))], "missing_call_id", "/1/content/0/tool_use_id"),
    "a call without a name": ([assistant(call(name=None))], "malformed_item", "/0/content/0/name"),
    "a call whose input is text": ([assistant(call(input="{}"))], "malformed_item", "/0/content/0/input"),
    "a result that is null": ([assistant(call()), user(result(content=None))], "null_content", "/1/content/0/content"),
    "a result that is an object": (
        [assistant(call()), user(result(content={"t": 22}))],
        "malformed_item",
        "/1/content/0/content",
    ),
    "a result with an empty text": (
        [assistant(call()), user(result(content=[text("")]))],
        "empty_text",
        "/1/content/0/content/0/text",
    ),
    "a toolset that the result does not name": (
        [assistant(call(toolset_name="browser")), user(result())],
        "name_mismatch",
        "/1/content/0/toolset_name",
    ),
    "a toolset that the call does not name": (
        [assistant(call()), user(result(toolset_name="browser"))],
        "name_mismatch",
        "/1/content/0/toolset_name",
    ),
    "an empty text": ([user(text(""), text("Well?"))], "empty_text", "/0/content/0/text"),
    "an empty text beside a call": ([assistant(text(""), call()), user(result())], "empty_text", "/0/content/0/text"),
    "a text that is null": ([user(text(None))], "null_content", "/0/content/0/text"),
    "blanks and nothing else": ([user(text(" "), text("\n"))], "empty_text", "/0/content"),
    "a blank string": ([{"role": "user", "content": " "}], "empty_text", "/0/content"),
    "content that is null": ([{"role": "user", "content": None}], "null_content", "/0/content"),
    "an empty string": ([{"role": "user", "content": ""}], "empty_content", "/0/content"),
    "an empty message of the user": ([{"role": "user", "content": []}], "empty_content", "/0/content"),
    "an empty message of the assistant before the end": ([assistant(), user()], "empty_content", "/0/content"),
    "thinking without its signature": ([assistant(thinking())], "missing_signature", "/0/content/0/signature"),
    "thinking with an empty signature": (
        [assistant(thinking(signature=""))],
        "missing_signature",
        "/0/content/0/signature",
    ),
    "hidden thinking without its data": (
        [assistant({"type": "redacted_thinking"})],
        "missing_signature",
        "/0/content/0/data",
    ),
    "a message without a role": ([{"content": "Hello"}], "malformed_item", "/0/role"),
    "a block without a type": ([user({"text": "Hello"})], "malformed_item", "/0/content/0/type"),
    "the provider's own call without a result": ([assistant(search()), user()], "misplaced_part", "/1/content"),
    "the provider's own call overtaken by its next message": (
        [assistant(search(), call()), user(result()), assistant(text()), user()],
        "unanswered_call",
        "/0/content/0/id",
    ),
    "an MCP call of the provider's without a result": (
        [assistant(remote()), assistant(text())],
        "unanswered_call",
        "/0/content/0/id",
    ),
    "words behind the results while the provider is at it": (
        [assistant(search(), call()), user(result(), text())],
        "misplaced_part",
        "/1/content/1",
    ),
    "another program that calls": (
        [assistant(search("srvtoolu_2"), call()), user(result()), assistant(BY_PROGRAM), user(result("toolu_2"))],
        "unanswered_call",
        "/0/content/0/id",
    ),
    "the provider's result without its call": (
        [user(), assistant(found(), text())],
        "unasked_result",
        "/1/content/0/tool_use_id",
    ),
    "the provider's result before its call": (
        [assistant(found(), search())],
        "misplaced_result",
        "/0/content/0/tool_use_id",
    ),
    "the provider's result twice": (
        [assistant(search(), found(), found())],
        "repeated_result",
        "/0/content/2/tool_use_id",
    ),
    "an MCP result for a call that is none": (
        [assistant(search("x"), found("x"), found("x", "mcp_tool_result"))],
        "unasked_result",
        "/0/content/2/tool_use_id",
    ),
    "the provider's own call without an id": ([assistant(search(""))], "missing_call_id", "/0/content/0/id"),
    "the provider's own result without an id": ([assistant(found(""))], "missing_call_id", "/0/content/0/tool_use_id"),
}


@pytest.mark.parametrize("conversation", SOUND.values(), ids=list(SOUND))
def test_what_the_api_takes_is_sound(conversation: list[Message]) -> None:
    require_sound(SURFACE, conversation)


@pytest.mark.parametrize(("conversation", "code", "path"), UNSOUND.values(), ids=list(UNSOUND))
def test_what_the_api_refuses_is_refused_with_its_place(conversation: list[Any], code: str, path: str) -> None:
    with pytest.raises(TranscriptRefused) as refused:
        require_sound(SURFACE, conversation)
    assert (refused.value.code, refused.value.path) == (code, path)
