"""Responses: which lists of input items the API would refuse because of their calls and outputs."""

from typing import Any

import pytest

from adapters.envelopes.transcript import TranscriptRefused, require_sound
from adapters.envelopes.transcript.openai_responses import LONGEST_ID

SURFACE = "openai-responses"

Item = dict[str, Any]


def user(content: Any = "How warm is it in Seoul?") -> Item:
    return {"role": "user", "content": content}


def said(text: str = "I look.", **more: Any) -> Item:
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}], **more}


def call(call_id: Any = "call_1", kind: str = "function_call", **more: Any) -> Item:
    return {"type": kind, "call_id": call_id, "name": "get_weather", "arguments": "{}", **more}


def open_call(*, promised: bool = True) -> Item:
    return {**call(), "async": promised}


def output(call_id: Any = "call_1", kind: str = "function_call_output", value: Any = "22 degrees") -> Item:
    return {"type": kind, "call_id": call_id, "output": value}


def reasoning(item_id: str = "rs_1") -> Item:
    return {"type": "reasoning", "id": item_id, "summary": [], "encrypted_content": "gAAA"}


def request(item_id: str = "mcpr_1") -> Item:
    return {"type": "mcp_approval_request", "id": item_id, "server_label": "wiki", "name": "ask", "arguments": "{}"}


def response(item_id: Any = "mcpr_1", approve: Any = True) -> Item:
    return {"type": "mcp_approval_response", "approval_request_id": item_id, "approve": approve}


PAIRS: list[tuple[Item, Item]] = [
    (call(kind=asked), {"type": answered, "call_id": "call_1", **told})
    for asked, answered, told in (
        ("function_call", "function_call_output", {"output": "22"}),
        ("custom_tool_call", "custom_tool_call_output", {"output": "22"}),
        ("computer_call", "computer_call_output", {"output": {"type": "computer_screenshot"}}),
        ("shell_call", "shell_call_output", {"output": []}),
        ("apply_patch_call", "apply_patch_call_output", {"status": "completed"}),
        ("tool_search_call", "tool_search_output", {"tools": []}),
    )
]
PAIRS += [
    (call(kind="local_shell_call"), {"type": "local_shell_call_output", "id": "call_1", "output": "{}"}),
    (request("mcpr_1"), response("mcpr_1")),
]

SERVER_SEARCH = [
    {"type": "tool_search_call", "execution": "server", "call_id": None, "arguments": {}},
    {"type": "tool_search_output", "execution": "server", "call_id": None, "tools": []},
]
REFERENCE = {"type": "item_reference", "id": "fc_9"}

SOUND = {
    "no calls": [user(), said("Warm.")],
    "no items": [],
    "one call, one output": [user(), call(), output()],
    "outputs in another order": [call("a"), call("b"), output("b"), output("a")],
    "text between a call and its output": [call(), said(), user("And?"), output()],
    "an empty output": [call(), output(value="")],
    "an output in parts": [call(), output(value=[{"type": "input_text", "text": "22"}])],
    "an asynchronous call that is still open": [open_call(), said(), user()],
    "an asynchronous call that is answered later": [open_call(), said(), user(), output()],
    "reasoning, then its call": [user(), reasoning(), call(), output()],
    "reasoning twice, then its message": [user(), reasoning(), reasoning("rs_2"), said()],
    "reasoning, then what the provider did": [reasoning(), {"type": "web_search_call", "id": "ws_1"}, said()],
    "an approval that is given": [request(), response()],
    "an approval that is denied": [request(), response(approve=False)],
    "the provider's own search": [*SERVER_SEARCH, said()],
    "an output whose call may be the one referred to": [REFERENCE, output("call_9")],
    "the short form of a reference": [{"id": "fc_9"}, output("call_9")],
    "the longest id": [call("x" * LONGEST_ID), output("x" * LONGEST_ID)],
    "the longest id of an item": [said(id="x" * LONGEST_ID)],
    "one id for calls of two kinds": [
        call(),
        output(),
        call(kind="custom_tool_call"),
        output(kind="custom_tool_call_output"),
    ],
    "a local shell's output under the item's own id": [
        {"type": "local_shell_call", "id": "lsh_1", "call_id": "lsh_1", "action": {}},
        {"type": "local_shell_call_output", "id": "lsh_1", "output": "{}"},
    ],
    "items without an id": [said(), said(), said(id=None), said(id=None)],
}

UNSOUND: dict[str, tuple[list[Any], str, str]] = {
    "a call without its output": ([user(), call()], "unanswered_call", "/1/call_id"),
    "one of two calls without its output": ([call("a"), call("b"), output("a")], "unanswered_call", "/1/call_id"),
    "a call that says that it is not asynchronous": ([open_call(promised=False)], "unanswered_call", "/0/call_id"),
    "an output without its call": ([user(), output()], "unasked_result", "/1/call_id"),
    "an output of another kind": ([call(), output(kind="custom_tool_call_output")], "unasked_result", "/1/call_id"),
    "an output before its call": ([output(), call()], "misplaced_result", "/0/call_id"),
    "an output before its call, behind a reference": ([REFERENCE, output(), call()], "misplaced_result", "/1/call_id"),
    "an output before what is referred to": ([output("call_9"), REFERENCE], "unasked_result", "/0/call_id"),
    "an output behind a short message that has an id": (
        [{**user(), "id": "msg_1"}, output("call_9")],
        "unasked_result",
        "/1/call_id",
    ),
    "two outputs for one call": ([call(), output(), output()], "repeated_result", "/2/call_id"),
    "one id for two calls": ([call(), output(), call(), output()], "repeated_call_id", "/2/call_id"),
    "one id for two open calls": ([call(), call(), output()], "repeated_call_id", "/1/call_id"),
    "a call with too long an id": ([call("x" * 65), output("x" * 65)], "call_id_too_long", "/0/call_id"),
    "an output with too long an id": ([output("x" * 65)], "call_id_too_long", "/0/call_id"),
    "an item with too long an id": ([said(id="x" * 65)], "item_id_too_long", "/0/id"),
    "one id for two items": ([reasoning(), said(), reasoning(), said()], "repeated_item_id", "/2/id"),
    "a call without an id": ([call(None)], "missing_call_id", "/0/call_id"),
    "an output without an id": ([call(), output(None)], "missing_call_id", "/1/call_id"),
    "an approval that nobody gave": ([request(), user()], "unanswered_call", "/0/id"),
    "an approval that nobody asked for": ([response()], "unasked_result", "/0/approval_request_id"),
    "an approval given twice": ([request(), response(), response()], "repeated_result", "/2/approval_request_id"),
    "an approval that says nothing": ([request(), response(approve=None)], "null_content", "/1/approve"),
    "reasoning at the end": ([user(), reasoning()], "unfollowed_reasoning", "/1"),
    "reasoning, then the user": ([reasoning(), user()], "unfollowed_reasoning", "/0"),
    "reasoning twice, then an output": (
        [call(), reasoning(), reasoning("rs_2"), output()],
        "unfollowed_reasoning",
        "/1",
    ),
    "an output that is null": ([call(), output(value=None)], "null_content", "/1/output"),
    "an output that is an object": ([call(), output(value={"t": 22})], "malformed_item", "/1/output"),
    "a client's search that says nothing": (
        [call(kind="tool_search_call"), {"type": "tool_search_output", "call_id": "call_1", "tools": None}],
        "null_content",
        "/1/tools",
    ),
    "a shell's output that is null": (
        [call(kind="shell_call"), output(kind="shell_call_output", value=None)],
        "null_content",
        "/1/output",
    ),
    "an output of a custom tool that is an object": (
        [call(kind="custom_tool_call"), output(kind="custom_tool_call_output", value={"t": 22})],
        "malformed_item",
        "/1/output",
    ),
    "a message without content": ([{"type": "message", "role": "user"}], "null_content", "/0/content"),
    "a short message without content": ([user(None)], "null_content", "/0/content"),
    "a client's search without its output": (
        [{"type": "tool_search_call", "execution": "client", "call_id": "s_1", "arguments": {}}],
        "unanswered_call",
        "/0/call_id",
    ),
    "an item whose type is no word": ([{"type": ["function_call"]}], "malformed_item", "/0/type"),
}


@pytest.mark.parametrize("items", SOUND.values(), ids=list(SOUND))
def test_what_the_api_takes_is_sound(items: list[Item]) -> None:
    require_sound(SURFACE, items)


@pytest.mark.parametrize(("items", "code", "path"), UNSOUND.values(), ids=list(UNSOUND))
def test_what_the_api_refuses_is_refused_with_its_place(items: list[Any], code: str, path: str) -> None:
    with pytest.raises(TranscriptRefused) as refused:
        require_sound(SURFACE, items)
    assert (refused.value.code, refused.value.path) == (code, path)


@pytest.mark.parametrize(("asked", "answered"), PAIRS, ids=[asked["type"] for asked, _ in PAIRS])
def test_each_kind_of_call_wants_the_output_of_its_kind(asked: Item, answered: Item) -> None:
    require_sound(SURFACE, [asked, answered])
    for items, code in (([asked], "unanswered_call"), ([answered], "unasked_result")):
        with pytest.raises(TranscriptRefused) as refused:
            require_sound(SURFACE, items)
        assert refused.value.code == code
