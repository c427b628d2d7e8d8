"""The providers' own models judge what the surfaces read and write.

Three traps: an adapter of a TypedDict drops unknown keys without a word, so what comes out is compared with what went
in; an `Iterable` field is checked only while it is iterated; and the adapter must outlive that iteration, so each one
is a constant here. None of the models checks pairing, order or uniqueness: `tests/unit` does.
"""

from dataclasses import replace
from typing import Any, get_args

import pytest
from anthropic.lib.streaming._messages import accumulate_event
from anthropic.types import Message, MessageParam, RawMessageStreamEvent, StopReason, ToolParam
from anthropic.types.beta import (
    BetaMessage,
    BetaMessageParam,
    BetaRawMessageStreamEvent,
    BetaStopReason,
)
from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.types.chat import (
    ChatCompletion,
    ChatCompletionAssistantMessageParam,
    ChatCompletionChunk,
    ChatCompletionFunctionMessageParam,
    ChatCompletionFunctionToolParam,
    ChatCompletionToolMessageParam,
)
from openai.types.chat.chat_completion import Choice
from openai.types.chat.chat_completion_chunk import Choice as ChoiceChunk
from pydantic import BaseModel, TypeAdapter, ValidationError

from adapters.envelopes import anthropic_messages, openai_chat
from adapters.envelopes.envelope import Envelope, ReadTurn, ToolDefinition
from adapters.envelopes.openai_chat import streaming
from tests.unit.three_reads import (
    PROPOSALS,
    RESPONSES,
    RESULTS,
    STREAMS,
    block_events,
    choice,
    chunk,
    completion,
    message,
    message_stream,
    numbered,
    tool_call,
    tool_use,
)
from workflows.domain.errors import ResponseRefused
from workflows.domain.proposal import CallResult, Proposal, Status

MESSAGE: TypeAdapter[Any] = TypeAdapter(MessageParam)
BETA_MESSAGE: TypeAdapter[Any] = TypeAdapter(BetaMessageParam)
ANTHROPIC_TOOL: TypeAdapter[Any] = TypeAdapter(ToolParam)
EVENT: TypeAdapter[Any] = TypeAdapter(RawMessageStreamEvent)
BETA_EVENT: TypeAdapter[Any] = TypeAdapter(BetaRawMessageStreamEvent)
ASSISTANT: TypeAdapter[Any] = TypeAdapter(ChatCompletionAssistantMessageParam)
TOOL: TypeAdapter[Any] = TypeAdapter(ChatCompletionToolMessageParam)
FUNCTION: TypeAdapter[Any] = TypeAdapter(ChatCompletionFunctionMessageParam)
OPENAI_TOOL: TypeAdapter[Any] = TypeAdapter(ChatCompletionFunctionToolParam)

PLAIN_TOOL = ToolDefinition(
    "get_weather",
    "Reads the weather of a city.",
    {"type": "object", "properties": {"city": {"type": "string", "maxLength": 80}}, "required": ["city"]},
)
WHOLE_TOOL = replace(PLAIN_TOOL, strict=True, deferred=True, examples=({"city": "Seoul"}, {"city": "Paris"}))

LISTED: dict[str, tuple[TypeAdapter[Any], Envelope]] = {
    "anthropic-messages": (ANTHROPIC_TOOL, anthropic_messages),
    "openai-chat": (OPENAI_TOOL, openai_chat),
}
"""By surface: who judges its definitions."""

ANSWERED: dict[str, tuple[TypeAdapter[Any], Envelope]] = {
    "anthropic-messages": (MESSAGE, anthropic_messages),
    "openai-chat": (TOOL, openai_chat),
}
"""By surface: who judges the last message that is written."""

WHOLE_MESSAGE = message(
    {"type": "thinking", "thinking": "three reads", "signature": "EuYBCkQ=="},
    {"type": "redacted_thinking", "data": "AAEC"},
    {"type": "text", "text": "Three reads.", "citations": None},
    {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "ACME"}},
    {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
    {"type": "server_tool_use", "id": "srvtoolu_2", "name": "tool_search_tool_bm25", "input": {"query": "weather"}},
    {
        "type": "tool_search_tool_result",
        "tool_use_id": "srvtoolu_2",
        "content": {
            "type": "tool_search_tool_search_result",
            "tool_references": [{"type": "tool_reference", "tool_name": "get_weather"}],
        },
    },
    *(tool_use(proposal, caller={"type": "direct"}) for proposal in PROPOSALS),
)
PROGRAM_MESSAGE = message(
    {"type": "server_tool_use", "id": "srvtoolu_1", "name": "code_execution", "input": {"code": "await get_weather()"}},
    *(
        tool_use(proposal, caller={"type": "code_execution_20260120", "tool_id": "srvtoolu_1"})
        for proposal in PROPOSALS
    ),
)
TOOLSET_MESSAGE = message(
    tool_use(Proposal("call-click", "left_click", {"coordinate": [1, 2]}), toolset_name="browser"),
    tool_use(Proposal("call-search", "tool_search", {"query": "weather"})),
)
HOSTED_MESSAGE = message(
    {"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "ask", "server_name": "wiki", "input": {}},
    {"type": "mcp_tool_result", "tool_use_id": "mcptoolu_1", "is_error": False, "content": []},
    stop_reason="end_turn",
)
CUSTOM = {"id": "call-sql", "type": "custom", "custom": {"name": "run_sql", "input": "select 1"}}
LEGACY = {"name": "get_weather", "arguments": '{"city":"Seoul"}'}


def results_for(turn: ReadTurn) -> list[CallResult]:
    """A search finds a tool, and every other call is done."""
    found = {"tools": [{"name": "get_weather"}]}
    return [CallResult(each.call_id, each.tool_name, Status.SUCCEEDED, found) for each in turn.proposals]


def thawed(value: Any) -> Any:
    """Iterate everything, so that what is checked lazily is checked now."""
    if isinstance(value, BaseModel):  # a message may hold the blocks of a response as they are
        return thawed(value.model_dump(exclude_unset=True))
    if isinstance(value, dict):
        return {key: thawed(item) for key, item in value.items()}
    if isinstance(value, str) or not hasattr(value, "__iter__"):
        return value
    return [thawed(item) for item in value]


def judged(adapter: TypeAdapter[Any], item: Any) -> Any:
    return thawed(adapter.validate_python(item))


# -- Anthropic Messages


@pytest.mark.parametrize(
    "body", [RESPONSES["anthropic-messages"], WHOLE_MESSAGE, PROGRAM_MESSAGE, TOOLSET_MESSAGE], ids=lambda _: "message"
)
def test_anthropic_takes_every_message_back_unchanged(body: dict[str, Any]) -> None:
    Message.model_validate(body)
    turn = anthropic_messages.read(body)
    echo, answer = anthropic_messages.write(turn, results_for(turn))
    assert echo == {"role": "assistant", "content": body["content"]}
    for written in (echo, answer):
        assert judged(MESSAGE, written) == written


def test_anthropic_takes_answers_of_every_status() -> None:
    for written in anthropic_messages.write(anthropic_messages.read(WHOLE_MESSAGE), RESULTS):
        assert judged(MESSAGE, written) == written


def test_what_anthropic_takes_as_references_is_what_was_found() -> None:
    turn = anthropic_messages.read(TOOLSET_MESSAGE)
    _, answer = anthropic_messages.write(turn, results_for(turn))
    click, search = judged(MESSAGE, answer)["content"]
    assert click["toolset_name"] == "browser"
    assert search["content"] == [{"type": "tool_reference", "tool_name": "get_weather"}]


def test_anthropic_takes_a_broken_input_back_as_it_is_echoed() -> None:
    broken = block_events(0, tool_use(PROPOSALS[0]), {"type": "input_json_delta", "partial_json": '{"city":'})
    first, *_, last, stop = STREAMS["anthropic-messages"]
    turn = anthropic_messages.read_stream([first, *broken, last, stop])
    for written in anthropic_messages.write(turn, results_for(turn)):
        assert judged(MESSAGE, written) == written


@pytest.mark.parametrize("stop_reason", ["pause_turn", "compaction"])
def test_anthropics_beta_takes_hosted_work_and_paused_turns_back_unchanged(stop_reason: str) -> None:
    body = message(*HOSTED_MESSAGE["content"], stop_reason=stop_reason)
    BetaMessage.model_validate(body)
    [echo] = anthropic_messages.write(anthropic_messages.read(body), [])
    assert judged(BETA_MESSAGE, echo) == echo


def test_every_stop_reason_that_anthropic_knows_stands_in_the_table_and_no_other() -> None:
    assert set(get_args(StopReason)) | set(get_args(BetaStopReason)) == anthropic_messages.STOP_REASONS.keys()


def test_anthropics_model_knows_the_kinds_of_work_that_are_told_apart() -> None:
    Message.model_validate(WHOLE_MESSAGE)
    BetaMessage.model_validate(HOSTED_MESSAGE)
    assert [call.tool for call in anthropic_messages.read(WHOLE_MESSAGE).hosted] == [
        "web_search",
        "tool_search_tool_bm25",
    ]
    assert anthropic_messages.read(WHOLE_MESSAGE).found == {"get_weather"}
    assert [call.server for call in anthropic_messages.read(HOSTED_MESSAGE).hosted] == ["wiki"]


@pytest.mark.parametrize(
    "block",
    [
        {"type": "tool_use", "name": "get_weather", "input": {}},
        {"type": "tool_use", "id": "c", "input": {}},
        {"type": "tool_use", "id": "c", "name": "get_weather"},
        {"type": "tool_use", "id": "c", "name": "get_weather", "input": "{}"},
        {"type": "device_tool_use", "id": "c", "name": "get_weather", "input": {}},
    ],
)
def test_what_anthropics_model_refuses_is_refused_here_too(block: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Message.model_validate(message(block))
    with pytest.raises(ResponseRefused):
        anthropic_messages.read(message(block))


def rich_message_stream() -> list[dict[str, Any]]:
    """Every kind of piece that is not beta, two of each."""
    thought = {"type": "thinking", "thinking": "", "signature": ""}
    own = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    found = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
    location = {"type": "web_search_result_location", "cited_text": "a", "encrypted_index": "E", "title": None}
    pieces: list[tuple[dict[str, Any], list[dict[str, Any]]]] = [
        (thought, [{"type": "thinking_delta", "thinking": text} for text in ("three ", "reads")]),
        (own, [{"type": "input_json_delta", "partial_json": text} for text in ('{"query":', '"ACME"}')]),
        (found, []),
        ({"type": "text", "text": ""}, [{"type": "text_delta", "text": text} for text in ("Three ", "reads.")]),
        (tool_use(PROPOSALS[0]), [{"type": "input_json_delta", "partial_json": text} for text in ("", '{"city":"Se')]),
        (tool_use(PROPOSALS[1]), []),
    ]
    pieces[0][1].append({"type": "signature_delta", "signature": "EuYBCkQ=="})
    pieces[3][1].extend({"type": "citations_delta", "citation": {**location, "url": url}} for url in ("a", "b"))
    pieces[4][1].append({"type": "input_json_delta", "partial_json": 'oul","unit":"celsius"}'})
    first, *_, last, stop = message_stream(message())
    inside = [event for place, (start, deltas) in enumerate(pieces) for event in block_events(place, start, *deltas)]
    return [first, *inside, last, stop]


def test_an_assembled_message_is_what_anthropics_own_accumulator_makes() -> None:
    stream, snapshot, texts = rich_message_stream(), None, dict[int, bytes]()
    for event in stream:
        snapshot = accumulate_event(event=EVENT.validate_python(event), current_snapshot=snapshot, json_bufs=texts)
    assert snapshot is not None
    turn, whole = anthropic_messages.read_stream(stream), anthropic_messages.read(snapshot.to_dict())
    assert turn == whole
    assert (turn.proposals, len(turn.hosted)) == (PROPOSALS[:2], 1)


def test_anthropics_models_accept_the_streams_that_are_read() -> None:
    for event in (*STREAMS["anthropic-messages"], *rich_message_stream()):
        EVENT.validate_python(event)
    compacted = {"type": "compaction_delta", "content": "so far", "encrypted_content": "AAEC"}
    events = block_events(0, {"type": "compaction", "content": ""}, compacted)
    first, *_, last, stop = message_stream(message(stop_reason="compaction"))
    for event in (first, *events, last, stop):
        BETA_EVENT.validate_python(event)
    assert anthropic_messages.read_stream([first, *events, last, stop]).paused


# -- OpenAI Chat Completions


def test_openai_takes_every_message_back_unchanged() -> None:
    body = RESPONSES["openai-chat"]
    ChatCompletion.model_validate(body)
    echo, *answers = openai_chat.write(openai_chat.read(body), RESULTS)
    assert echo == body["choices"][0]["message"]
    assert judged(ASSISTANT, echo) == echo
    assert [judged(TOOL, answer) for answer in answers] == answers


def test_openai_takes_the_call_of_a_custom_tool_back_and_its_answer() -> None:
    body = completion(choice(CUSTOM, tool_call(PROPOSALS[0])))
    ChatCompletion.model_validate(body)
    turn = openai_chat.read(body)
    echo, *answers = openai_chat.write(turn, results_for(turn))
    assert judged(ASSISTANT, echo) == echo
    assert [judged(TOOL, answer) for answer in answers] == answers


def test_openai_takes_a_call_of_the_deprecated_form_back_and_its_answer() -> None:
    body = completion(choice(finish_reason="function_call", function_call=LEGACY, tool_calls=None))
    ChatCompletion.model_validate(body)
    turn = openai_chat.read(body)
    echo, answer = openai_chat.write(turn, results_for(turn))
    assert judged(ASSISTANT, echo) == echo
    assert judged(FUNCTION, answer) == answer


@pytest.mark.parametrize("nothing", [None, []])
def test_calls_that_hold_nothing_are_not_sent_back_because_openai_takes_none(nothing: Any) -> None:
    body = completion(choice(finish_reason="stop", content="Done.", tool_calls=nothing))
    ChatCompletion.model_validate(body)
    [echo] = openai_chat.write(openai_chat.read(body), [])
    assert judged(ASSISTANT, echo) == echo
    assert "tool_calls" not in echo


def test_only_keys_that_openai_does_not_name_are_lost_to_its_model() -> None:
    body = completion(choice(*map(tool_call, PROPOSALS), annotations=[], reasoning_content="three reads"))
    ChatCompletion.model_validate(body)
    echo = openai_chat.read(body).echo[0]
    assert echo.keys() - judged(ASSISTANT, echo).keys() == {"annotations", "reasoning_content"}


def test_every_finish_reason_that_openai_knows_stands_in_the_table_and_no_other() -> None:
    known = set(get_args(Choice.model_fields["finish_reason"].annotation))
    streamed = {
        word for each in get_args(ChoiceChunk.model_fields["finish_reason"].annotation) for word in get_args(each)
    }
    assert known == streamed == openai_chat.FINISH_REASONS.keys()


def rich_completion_stream() -> list[dict[str, Any]]:
    """Text, a refusal that stays empty and calls whose pieces are mixed."""
    body = RESPONSES["openai-chat"]
    weather, stock = numbered([tool_call(PROPOSALS[0]), tool_call(PROPOSALS[1])])
    begun = [{**piece, "function": {**piece["function"], "arguments": ""}} for piece in (weather, stock)]
    pieces = [(0, '{"city":'), (1, '{"symbol":"AC'), (0, '"Seoul","unit":"celsius"}'), (1, 'ME"}')]
    return [
        chunk(body, {"delta": {"role": "assistant", "content": "", "refusal": None}}),
        chunk(body, {"delta": {"content": "Two "}}),
        chunk(body, {"delta": {"content": "reads."}}),
        *(chunk(body, {"delta": {"tool_calls": [piece]}}) for piece in begun),
        *(
            chunk(body, {"delta": {"tool_calls": [{"index": index, "function": {"arguments": text}}]}})
            for index, text in pieces
        ),
        chunk(body, {"delta": {}, "finish_reason": "tool_calls"}),
        chunk(body, usage=body["usage"]),
    ]


def test_an_assembled_completion_is_what_openais_own_accumulator_makes() -> None:
    stream, state = rich_completion_stream(), ChatCompletionStreamState()
    for piece in stream:
        state.handle_chunk(ChatCompletionChunk.model_validate(piece))
    whole, turn = openai_chat.read(state.get_final_completion().to_dict()), openai_chat.read_stream(stream)
    assert (turn.proposals, turn.request_id) == (whole.proposals, whole.request_id)
    assert turn.proposals == PROPOSALS[:2]
    [ours], [theirs] = turn.echo, whole.echo
    assert ours["content"] == theirs["content"] == "Two reads."
    # Theirs has members more: the numbers of the calls, and places for what a schema of the caller would parse.
    assert [judged(ASSISTANT, echo)["tool_calls"] for echo in (ours, theirs)] == [ours["tool_calls"]] * 2


def test_openais_model_accepts_what_a_stream_is_put_together_to() -> None:
    for stream in (STREAMS["openai-chat"], rich_completion_stream()):
        whole = streaming.whole(stream)
        assert ChatCompletion.model_validate(whole).to_dict() == whole


def test_openais_model_accepts_the_streams_that_are_read() -> None:
    for piece in (*STREAMS["openai-chat"], *rich_completion_stream()):
        ChatCompletionChunk.model_validate(piece)


@pytest.mark.parametrize("finish_reason", [None, "", "soon_to_be_invented"])
def test_what_openais_model_does_not_know_as_an_end_runs_nothing_here(finish_reason: str | None) -> None:
    body = completion(choice(tool_call(PROPOSALS[0]), finish_reason=finish_reason))
    with pytest.raises(ValidationError):
        ChatCompletion.model_validate(body)
    with pytest.raises(ResponseRefused):
        openai_chat.read(body)


@pytest.mark.parametrize(
    "call",
    [
        {"type": "function", "function": {"name": "get_weather", "arguments": "{}"}},
        {"id": "c", "type": "function", "function": {"arguments": "{}"}},
        {"id": "c", "type": "function", "function": {"name": "get_weather", "arguments": {}}},
        {"id": "c", "type": "plugin", "function": {"name": "get_weather", "arguments": "{}"}},
    ],
)
def test_what_openais_model_refuses_is_refused_here_too(call: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ChatCompletion.model_validate(completion(choice(call)))
    with pytest.raises(ResponseRefused):
        openai_chat.read(completion(choice(call)))


# -- every surface


@pytest.mark.parametrize("surface", LISTED)
@pytest.mark.parametrize("definition", [PLAIN_TOOL, WHOLE_TOOL], ids=["plain", "whole"])
def test_definitions_are_listed_in_the_providers_own_shape(surface: str, definition: ToolDefinition) -> None:
    judge, envelope = LISTED[surface]
    rendered = envelope.render(definition)
    assert judged(judge, rendered) == rendered


@pytest.mark.parametrize("surface", ANSWERED)
def test_the_judges_see_a_mistake(surface: str) -> None:
    """A judge that accepts anything proves nothing: spoil one field of the last message and watch it be refused."""
    judge, envelope = ANSWERED[surface]
    last = envelope.write(envelope.read(RESPONSES[surface]), RESULTS)[-1]
    spoilt = {**last, "content": [{"type": "tool_result", "content": {"status": "succeeded"}}]}
    with pytest.raises(ValidationError):
        judged(judge, spoilt)
