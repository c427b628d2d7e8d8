"""Anthropic Messages: any response, cut into events in any legal way, reads as the response sent whole."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.envelopes import anthropic_messages
from tests.unit.stream_pieces import ARGUMENTS, NAMES, TEXTS, Json, json_text, pieces_of
from tests.unit.three_reads import block_events, message, message_stream
from workflows.domain.errors import ResponseRefused

EXAMPLES = 60
PING: Json = {"type": "ping"}

PIECES = {"text": ("text_delta", "text"), "thinking": ("thinking_delta", "thinking")}
"""By type of block: the type of a piece of it, and the member that it adds to."""


@st.composite
def blocks(draw: st.DrawFn, number: int) -> Json:
    toolset = draw(st.sampled_from([{}, {"toolset_name": "browser"}]))
    called = {"id": f"call-{number}", "name": draw(NAMES), "input": draw(ARGUMENTS)}
    kinds: list[Json] = [
        {"type": "text", "text": draw(TEXTS), "citations": None},
        {"type": "thinking", "thinking": draw(TEXTS), "signature": draw(TEXTS)},
        {"type": "redacted_thinking", "data": draw(TEXTS)},
        {"type": "server_tool_use", **called},
        {"type": "web_search_tool_result", "tool_use_id": f"call-{number - 1}", "content": []},
        {"type": "tool_use", **called, **toolset},
    ]
    return draw(st.sampled_from(kinds))


@st.composite
def responses(draw: st.DrawFn) -> Json:
    """A response whose stop reason says whether calls stand in it, or that the provider has paused."""
    held = [draw(blocks(number)) for number in range(draw(st.integers(0, 4)))]
    ended = "tool_use" if any(block["type"] == "tool_use" for block in held) else "end_turn"
    return message(*held, stop_reason=draw(st.sampled_from([ended, "pause_turn"])))


@st.composite
def streams(draw: st.DrawFn, body: Json) -> list[Json]:
    first, *_, last, stop = message_stream(body)
    inside = [event for place, block in enumerate(body["content"]) for event in draw(events_of(place, block))]
    events = [first, *inside, last]
    for place in draw(st.lists(st.integers(0, len(events)), max_size=2)):
        events.insert(place, PING)
    return [*events, stop]


@st.composite
def events_of(draw: st.DrawFn, index: int, block: Json) -> list[Json]:
    if "input" in block:
        text = json_text(block["input"]) if block["input"] or draw(st.booleans()) else ""
        return block_events(index, block, *inputs(draw(pieces_of(text))))
    if block["type"] not in PIECES:
        return block_events(index, block)
    kind, member = PIECES[block["type"]]
    pieces = [{"type": kind, member: text} for text in draw(pieces_of(block[member]))]
    signed = [{"type": "signature_delta", "signature": block["signature"]}] if "signature" in block else []
    empty = {**block, member: "", **({"signature": ""} if signed else {})}
    return block_events(index, empty, *pieces, *signed)


def inputs(texts: list[str]) -> list[Json]:
    return [{"type": "input_json_delta", "partial_json": text} for text in texts]


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.data())
def test_any_stream_of_a_response_reads_as_the_response(data: st.DataObject) -> None:
    body = data.draw(responses())
    streamed, whole = anthropic_messages.read_stream(data.draw(streams(body))), anthropic_messages.read(body)
    assert streamed == whole
    assert [call.carried for call in streamed.proposals] == [call.carried for call in whole.proposals]


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.data())
def test_any_stream_without_its_end_runs_nothing(data: st.DataObject) -> None:
    events = data.draw(streams(data.draw(responses())))
    with pytest.raises(ResponseRefused) as refused:
        anthropic_messages.read_stream(events[: data.draw(st.integers(0, len(events) - 1))])
    assert refused.value.code == "incomplete_response"
