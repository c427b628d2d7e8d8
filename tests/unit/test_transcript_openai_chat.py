"""Chat Completions: which conversations the API would refuse because of their tool calls and results."""

from typing import Any

import pytest

from adapters.envelopes.transcript import TranscriptRefused, require_sound

SURFACE = "openai-chat"

Message = dict[str, Any]


def user(content: Any = "How warm is it in Seoul?") -> Message:
    return {"role": "user", "content": content}


def call(call_id: Any = "call_1", name: Any = "get_weather", **more: Any) -> Message:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": "{}"}, **more}


def custom(call_id: str) -> Message:
    return {"id": call_id, "type": "custom", "custom": {"name": "run_sql", "input": "select 1"}}


def assistant(*calls: Message, **more: Any) -> Message:
    return {"role": "assistant", "content": None, **({"tool_calls": list(calls)} if calls else {}), **more}


def result(call_id: Any = "call_1", content: Any = "22 degrees") -> Message:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


SOUND = {
    "no calls": [user(), assistant(content="Warm.")],
    "no messages": [],
    "one call, one result": [user(), assistant(call()), result()],
    "two results in another order": [user(), assistant(call("a"), call("b")), result("b"), result("a"), user()],
    "a call of one's own kind": [assistant(custom("a")), result("a")],
    "an id that comes again in a later message": [assistant(call()), result(), assistant(call()), result()],
    "servers that leave the kind out": [
        assistant({"id": "a", "function": {"name": "f", "arguments": "{}"}}),
        result("a"),
    ],
    "results in parts, and an empty text": [
        assistant(call("a"), call("b")),
        result("a", [{"type": "text", "text": "22"}]),
        result("b", ""),
    ],
    "a refusal in place of content": [user(), assistant(refusal="I will not.")],
    "audio in place of content": [user(), assistant(audio={"id": "audio_1"})],
    "the old form of a call in place of content": [user(), assistant(function_call={"name": "f", "arguments": "{}"})],
    "the old form of a result": [
        assistant(function_call={"name": "f", "arguments": "{}"}),
        {"role": "function", "name": "f", "content": None},
    ],
    "a long id": [assistant(call("x" * 90)), result("x" * 90)],
    "calls that are null": [user(), assistant(content="Warm.", tool_calls=None)],
}

UNSOUND: dict[str, tuple[list[Any], str, str]] = {
    "a call at the end without its result": ([user(), assistant(call())], "unanswered_call", "/1/tool_calls/0/id"),
    "one of two calls without its result": (
        [assistant(call("a"), call("b")), result("a")],
        "unanswered_call",
        "/0/tool_calls/1/id",
    ),
    "another message before the result": ([assistant(call()), user(), result()], "misplaced_result", "/2"),
    "another message between two results": (
        [assistant(call("a"), call("b")), result("a"), user(), result("b")],
        "misplaced_result",
        "/3",
    ),
    "another message and never a result": ([assistant(call()), user()], "unanswered_call", "/0/tool_calls/0/id"),
    "another message, then the result of another call": (
        [assistant(call("a")), user(), result("b")],
        "unanswered_call",
        "/0/tool_calls/0/id",
    ),
    "a result before everything": ([result()], "unasked_result", "/0"),
    "a result behind words": ([user(), result()], "unasked_result", "/1/tool_call_id"),
    "a result under another id": ([assistant(call()), result(), result("call_2")], "unasked_result", "/2/tool_call_id"),
    "two results for one call": ([assistant(call()), result(), result()], "repeated_result", "/2/tool_call_id"),
    "one id for two calls of a message": (
        [assistant(call(), call(name="get_news")), result(), result()],
        "repeated_call_id",
        "/0/tool_calls/1/id",
    ),
    "a call without an id": ([assistant(call(None)), result()], "missing_call_id", "/0/tool_calls/0/id"),
    "a call with an empty id": ([assistant(call("")), result("")], "missing_call_id", "/0/tool_calls/0/id"),
    "a result without an id": ([assistant(call()), result(None)], "missing_call_id", "/1/tool_call_id"),
    "a call without a name": ([assistant(call(name="")), result()], "malformed_item", "/0/tool_calls/0/function/name"),
    "a call without a function": (
        [assistant({"id": "a", "type": "function"}), result("a")],
        "malformed_item",
        "/0/tool_calls/0/function",
    ),
    "a call of one's own kind without its body": (
        [assistant({"id": "a", "type": "custom"}), result("a")],
        "malformed_item",
        "/0/tool_calls/0/custom",
    ),
    "calls that hold nothing": ([user(), assistant(content="", tool_calls=[])], "empty_content", "/1/tool_calls"),
    "calls that are no array": ([assistant(tool_calls={})], "malformed_item", "/0/tool_calls"),
    "a call of the user": ([{**user(), "tool_calls": [call()]}, result()], "misplaced_call", "/0/tool_calls"),
    "an answer that is null": ([assistant(call()), result(content=None)], "null_content", "/1/content"),
    "an answer that is an object": ([assistant(call()), result(content={"t": 22})], "malformed_item", "/1/content"),
    "an answer in parts without text": (
        [assistant(call()), result(content=[{"type": "image_url"}])],
        "null_content",
        "/1/content/0/text",
    ),
    "an assistant that says nothing and calls nothing": ([user(), assistant()], "null_content", "/1/content"),
    "a user that says nothing": ([user(None)], "null_content", "/0/content"),
    "the old form of a result without a name": ([{"role": "function", "content": "{}"}], "malformed_item", "/0/name"),
    "a message without a role": ([{"content": "Hello"}], "malformed_item", "/0/role"),
}


@pytest.mark.parametrize("conversation", SOUND.values(), ids=list(SOUND))
def test_what_the_api_takes_is_sound(conversation: list[Message]) -> None:
    require_sound(SURFACE, conversation)


@pytest.mark.parametrize(("conversation", "code", "path"), UNSOUND.values(), ids=list(UNSOUND))
def test_what_the_api_refuses_is_refused_with_its_place(conversation: list[Any], code: str, path: str) -> None:
    with pytest.raises(TranscriptRefused) as refused:
        require_sound(SURFACE, conversation)
    assert (refused.value.code, refused.value.path) == (code, path)
