"""OpenAI Chat Completions: any response, cut into chunks in any legal way, reads as the response sent whole."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.envelopes import openai_chat
from tests.unit.stream_pieces import ARGUMENTS, NAMES, TEXTS, Json, json_text, mixed, pieces_of
from tests.unit.three_reads import chunk, completion
from workflows.domain.errors import ResponseRefused

EXAMPLES = 60
END: Json = {"delta": {}, "finish_reason": "tool_calls"}


@st.composite
def calls(draw: st.DrawFn, number: int) -> Json:
    call = {"id": f"call-{number}"}
    if draw(st.booleans()):
        arguments = draw(ARGUMENTS.map(json_text) | st.sampled_from(["", "{", '{"a":1}{']))
        return call | {"type": "function", "function": {"name": draw(NAMES), "arguments": arguments}}
    return call | {"type": "custom", "custom": {"name": draw(NAMES), "input": draw(TEXTS)}}


@st.composite
def responses(draw: st.DrawFn) -> Json:
    """A response with calls of either form, with text and with a member that nobody knows."""
    said: Json = {"role": "assistant", "content": draw(st.none() | TEXTS), "reasoning_content": draw(TEXTS)}
    asked: Json = {"tool_calls": [draw(calls(number)) for number in range(draw(st.integers(1, 3)))]}
    if draw(st.booleans()):
        asked = {"function_call": {"name": draw(NAMES), "arguments": json_text(draw(ARGUMENTS))}}
    return completion({"finish_reason": "tool_calls", "message": said | asked})


@st.composite
def streams(draw: st.DrawFn, body: Json) -> tuple[list[Json], list[Json]]:
    """The chunks of `body` before its end, and those of its end."""
    message = body["choices"][0]["message"]
    texts = [
        [{name: text} for text in draw(pieces_of(message[name]))] for name in message if said_in_pieces(message, name)
    ]
    asked = [draw(call_deltas(index, call)) for index, call in enumerate(message.get("tool_calls", []))]
    legacy = [draw(legacy_deltas(message["function_call"]))] if "function_call" in message else []
    begun = [{"role": "assistant", "content": None, "tool_calls": None}, *({"tool_calls": [each[0]]} for each in asked)]
    continued = [[{"tool_calls": [piece]} for piece in each[1:]] for each in asked]
    deltas = [*begun, *draw(mixed([*texts, *continued, *legacy]))]
    ends = [chunk(body, END) for _ in range(draw(st.integers(1, 2)))]
    return [chunk(body, {"delta": delta}) for delta in deltas], [*ends, chunk(body, usage=body["usage"])]


def said_in_pieces(message: Json, name: str) -> bool:
    return name in ("content", "reasoning_content") and message[name] is not None


@st.composite
def call_deltas(draw: st.DrawFn, index: int, call: Json) -> list[Json]:
    part, text = ("function", "arguments") if call["type"] == "function" else ("custom", "input")
    first, *others = draw(pieces_of(call[part][text]))
    begun = {"index": index, **call, part: {**call[part], text: first}}
    return [begun, *({"index": index, part: {text: piece}} for piece in others)]


@st.composite
def legacy_deltas(draw: st.DrawFn, call: Json) -> list[Json]:
    first, *others = draw(pieces_of(call["arguments"]))
    pieces = [{**call, "arguments": first}, *({"arguments": piece} for piece in others)]
    return [{"function_call": piece} for piece in pieces]


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.data())
def test_any_stream_of_a_response_reads_as_the_response(data: st.DataObject) -> None:
    body = data.draw(responses())
    said, ends = data.draw(streams(body))
    streamed, whole = openai_chat.read_stream([*said, *ends]), openai_chat.read(body)
    assert streamed == whole
    assert [call.carried for call in streamed.proposals] == [call.carried for call in whole.proposals]


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.data())
def test_any_stream_without_its_end_runs_nothing(data: st.DataObject) -> None:
    said, _ = data.draw(streams(data.draw(responses())))
    with pytest.raises(ResponseRefused) as refused:
        openai_chat.read_stream(said[: data.draw(st.integers(0, len(said)))])
    assert refused.value.code == "incomplete_response"
