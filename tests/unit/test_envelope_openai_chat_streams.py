"""OpenAI Chat Completions in chunks: what they are put together to, and what no stream can be."""

from typing import Any

import pytest

from adapters.envelopes import openai_chat
from adapters.envelopes.envelope import ReadTurn
from tests.unit.three_reads import (
    PROPOSALS,
    RESPONSES,
    STREAMS,
    choice,
    chunk,
    completion,
    completion_stream,
    numbered,
    tool_call,
)
from workflows.domain.errors import ResponseRefused
from workflows.domain.proposal import Proposal

BODY = RESPONSES["openai-chat"]
WEATHER, STOCK = numbered([tool_call(PROPOSALS[0]), tool_call(PROPOSALS[1])])
CUSTOM = {"index": 0, "id": "call-sql", "type": "custom", "custom": {"name": "run_sql", "input": ""}}


def said(**delta: Any) -> dict[str, Any]:
    return chunk(BODY, {"delta": delta})


def called(*pieces: Any, **more: Any) -> dict[str, Any]:
    return chunk(BODY, {"delta": {"tool_calls": list(pieces)}, **more})


def more_arguments(text: str, **more: Any) -> dict[str, Any]:
    return {"function": {"arguments": text}, **more}


def begun(piece: dict[str, Any], arguments: Any = "") -> dict[str, Any]:
    return {**piece, "function": {**piece["function"], "arguments": arguments}}


def end(reason: Any = "tool_calls", **delta: Any) -> dict[str, Any]:
    return chunk(BODY, {"delta": delta, "finish_reason": reason})


def read(*chunks: Any) -> ReadTurn:
    return openai_chat.read_stream(list(chunks))


def echo_of(*chunks: Any) -> dict[str, Any]:
    [echo] = read(*chunks).echo
    return echo


def refusal_of(*chunks: Any) -> tuple[str, str]:
    with pytest.raises(ResponseRefused) as refused:
        read(*chunks)
    return refused.value.code, refused.value.details[0].path


# -- how real streams come


def test_arguments_are_put_together_from_pieces_that_name_the_call_by_its_index_alone() -> None:
    turn = read(
        called(begun(WEATHER), begun(STOCK)),
        called(more_arguments('{"city":"Seoul",', index=0)),
        called(more_arguments('{"symbol":"ACME"}', index=1)),
        called(more_arguments('"unit":"celsius"}', index=0)),
        end(),
    )
    assert turn.proposals == PROPOSALS[:2]
    assert turn.request_id == BODY["id"]


def test_the_calls_stand_in_the_order_of_their_indexes() -> None:
    assert read(called(STOCK), called(WEATHER), end()).proposals == PROPOSALS[:2]


def test_the_numbers_of_the_calls_are_no_part_of_what_goes_back() -> None:
    assert echo_of(*STREAMS["openai-chat"]) == BODY["choices"][0]["message"]


@pytest.mark.parametrize("repeated", ["id", "type"])
def test_a_server_may_say_again_with_every_piece_what_the_call_is(repeated: str) -> None:
    pieces = [more_arguments(text, index=0, **{repeated: WEATHER[repeated]}) for text in ('{"city":"Seoul",', '"u":1}')]
    turn = read(called(begun(WEATHER)), *map(called, pieces), end())
    assert turn.proposals == (Proposal("call-weather", "get_weather", {"city": "Seoul", "u": 1}),)


def test_a_server_may_repeat_the_name_or_send_an_empty_one() -> None:
    again = [{"index": 0, "function": {"name": name, "arguments": ""}} for name in ("get_weather", "", None)]
    assert read(called(WEATHER), *map(called, again), end()).proposals == PROPOSALS[:1]


def test_a_name_or_an_id_may_come_after_the_first_piece() -> None:
    late = {"index": 0, "id": "call-weather", "function": {"name": "get_weather"}}
    arguments = WEATHER["function"]["arguments"]
    assert read(called(more_arguments(arguments, index=0)), called(late), end()).proposals == PROPOSALS[:1]


@pytest.mark.parametrize("index", [{"index": 0}, {"index": None}, {}])
def test_whole_calls_under_one_index_are_told_apart_by_their_ids(index: dict[str, Any]) -> None:
    whole = [{**index, **tool_call(proposal)} for proposal in PROPOSALS]
    assert read(*map(called, whole), end()).proposals == PROPOSALS
    assert read(called(*whole), end()).proposals == PROPOSALS


def test_pieces_after_a_call_under_a_reused_index_are_of_the_later_call() -> None:
    continued = more_arguments('"ACME"}', index=0)
    turn = read(called(WEATHER), called({**begun(STOCK, '{"symbol":'), "index": 0}), called(continued), end())
    assert turn.proposals == PROPOSALS[:2]


def test_an_id_reused_under_another_index_refuses_both_calls() -> None:
    assert refusal_of(called(WEATHER), called({**STOCK, "id": "call-weather"}), end())[0] == "duplicate_call_id"


def test_a_call_that_never_gets_an_id_cannot_be_answered() -> None:
    nameless = {key: value for key, value in WEATHER.items() if key != "id"}
    assert refusal_of(called(nameless), end())[0] == "missing_call_id"


def test_two_names_under_one_call_are_pieces_of_two_calls_and_run_nothing() -> None:
    crossed = {"index": 0, "function": {"name": "get_stock", "arguments": "{}"}}
    assert refusal_of(called(begun(WEATHER)), called(crossed), end())[0] == "malformed_tool_calls"
    custom = {"index": 0, "custom": {"name": "run_python", "input": ""}}
    assert refusal_of(called(CUSTOM), called(custom), end())[0] == "malformed_tool_calls"
    legacy = [said(function_call={"name": name, "arguments": ""}) for name in ("get_weather", "get_stock")]
    assert refusal_of(*legacy, end("function_call"))[0] == "malformed_tool_calls"


@pytest.mark.parametrize("arguments", ["", None])
def test_a_call_without_arguments_has_an_empty_object(arguments: Any) -> None:
    assert read(called(begun(WEATHER, arguments)), end()).proposals[0].arguments == {}


def test_arguments_that_are_no_json_spoil_their_own_call_only_and_go_back_as_they_came() -> None:
    turn = read(called(begun(WEATHER, '{"city":')), called(STOCK), end())
    assert [proposal.fault for proposal in turn.proposals] == ["invalid_arguments_json", None]
    assert turn.echo[0]["tool_calls"][0]["function"]["arguments"] == '{"city":'


def test_the_text_of_a_custom_tool_comes_in_pieces_too() -> None:
    pieces = [{"index": 0, "custom": {"input": text}} for text in ("select", " 1")]
    turn = read(called(CUSTOM), *map(called, pieces), end())
    assert turn.proposals == (Proposal("call-sql", "run_sql", {"input": "select 1"}),)
    assert turn.echo[0]["tool_calls"] == [
        {"id": "call-sql", "type": "custom", "custom": {"name": "run_sql", "input": "select 1"}}
    ]


def test_a_call_of_the_deprecated_form_comes_in_pieces_too() -> None:
    turn = read(
        said(role="assistant", content=None, function_call={"name": "get_weather", "arguments": ""}),
        said(function_call={"arguments": '{"city":'}),
        said(function_call={"arguments": '"Seoul"}'}),
        end("function_call"),
    )
    assert turn.proposals == (Proposal("function_call", "get_weather", {"city": "Seoul"}),)
    assert turn.echo[0]["function_call"] == {"name": "get_weather", "arguments": '{"city":"Seoul"}'}


@pytest.mark.parametrize("shell", [None, {}, {"name": "", "arguments": ""}])
def test_the_empty_shell_of_a_deprecated_call_is_no_piece_of_one(shell: Any) -> None:
    turn = read(called(WEATHER), end("stop"), said(function_call=shell, tool_calls=None))
    assert turn.proposals == PROPOSALS[:1]
    assert "function_call" not in turn.echo[0]


def test_texts_and_members_that_nobody_knows_are_put_together_piece_by_piece() -> None:
    echo = echo_of(
        said(role="assistant", content=None, refusal=None, reasoning_content="three", channel="analysis"),
        said(role="assistant", reasoning_content=" reads", channel="analysis", x_trace={"step": 1, "note": "a"}),
        said(content="One ", annotations=[{"type": "a"}], x_trace={"step": 2, "note": "b", "id": "t-1"}),
        said(content="moment.", annotations=[{"type": "b"}], x_flag=True, x_trace={"id": "t-1"}),
        end("stop"),
    )
    assert echo == {
        "role": "assistant",
        "content": "One moment.",
        "refusal": None,
        "reasoning_content": "three reads",
        "channel": "analysis",
        "x_trace": {"step": 2, "note": "ab", "id": "t-1"},
        "annotations": [{"type": "a"}, {"type": "b"}],
        "x_flag": True,
    }


def test_the_pieces_of_a_refusal_refuse_the_calls_beside_it() -> None:
    assert echo_of(said(refusal="I would"), said(refusal=" rather not."), end("stop"))["refusal"] == (
        "I would rather not."
    )
    assert refusal_of(said(refusal="I would"), called(WEATHER), end())[0] == "refused_response"


def test_chunks_about_filters_and_tokens_say_nothing_about_the_message() -> None:
    filtered = {"index": 0, "finish_reason": None, "content_filter_results": {"hate": {"filtered": False}}}
    turn = read(
        chunk(BODY, prompt_filter_results=[]),
        called(WEATHER),
        {"id": BODY["id"], "choices": [filtered]},
        {"id": BODY["id"], "choices": None},
        end(),
        chunk(BODY, usage={"total_tokens": 60}),
    )
    assert turn.proposals == PROPOSALS[:1]
    assert turn.echo == ({"role": "assistant", "tool_calls": [tool_call(PROPOSALS[0])]},)


def test_of_several_counts_of_tokens_the_last_one_counts() -> None:
    counted = [chunk(BODY, usage={"completion_tokens": tokens}) for tokens in (3, 7)]
    assert read(counted[0], called(WEATHER), end(), counted[1], chunk(BODY)).spent.tokens == 7


def test_the_response_is_known_by_the_first_id_that_a_chunk_gives() -> None:
    turn = read({**called(WEATHER), "id": ""}, {**end(), "id": "chatcmpl-1"}, chunk(BODY) | {"id": None})
    assert turn.request_id == "chatcmpl-1"


def test_sound_that_ends_after_its_transcript_does_not_reopen_the_response() -> None:
    echo = echo_of(
        said(audio={"id": "audio-1", "transcript": "One "}),
        said(audio={"id": "audio-1", "transcript": "moment.", "data": "AAEC"}),
        end("stop"),
        said(audio={"expires_at": 1_790_000_000}),
    )
    assert echo["audio"] == {"id": "audio-1", "transcript": "One moment.", "data": "AAEC", "expires_at": 1_790_000_000}


# -- where a stream ends


def test_an_end_that_is_said_twice_is_one_end() -> None:
    assert read(called(WEATHER), end(), end(role="assistant", content="")).proposals == PROPOSALS[:1]


def test_whole_calls_that_each_bring_the_end_are_all_read() -> None:
    whole = [called(piece, finish_reason="tool_calls") for piece in (WEATHER, STOCK)]
    assert read(*whole).proposals == PROPOSALS[:2]


@pytest.mark.parametrize(
    "trailing",
    [called(begun(STOCK)), called(STOCK), called(more_arguments(" ", index=0)), said(function_call={"n": 1})],
)
def test_what_is_called_after_the_last_end_was_cut(trailing: dict[str, Any]) -> None:
    assert refusal_of(called(WEATHER), end(), trailing)[0] == "incomplete_response"


@pytest.mark.parametrize(("first", "second"), [("tool_calls", "length"), ("length", "tool_calls"), ("stop", "soon")])
def test_two_different_ends_run_nothing(first: str, second: str) -> None:
    assert refusal_of(called(WEATHER), end(first), end(second)) == (
        "malformed_envelope",
        "/2/choices/0/finish_reason",
    )


@pytest.mark.parametrize(
    ("reason", "code"), [("length", "incomplete_response"), ("content_filter", "refused_response")]
)
def test_a_stream_that_the_provider_ended_early_runs_nothing(reason: str, code: str) -> None:
    assert refusal_of(called(WEATHER), end(reason))[0] == code


@pytest.mark.parametrize("reason", [None, ""])
def test_without_a_reason_there_is_no_end(reason: Any) -> None:
    assert refusal_of(called(WEATHER), end(reason), chunk(BODY, usage={}))[0] == "incomplete_response"


@pytest.mark.parametrize("chunks", [[], [chunk(BODY)], [chunk(BODY, usage={"total_tokens": 60})]])
def test_a_stream_without_a_choice_was_cut(chunks: list[dict[str, Any]]) -> None:
    assert refusal_of(*chunks)[0] == "incomplete_response"


@pytest.mark.parametrize("position", [0, 1, 2])
def test_an_error_in_the_stream_breaks_it_off_wherever_it_comes(position: int) -> None:
    chunks = [called(WEATHER), end()]
    chunks.insert(position, {"error": {"code": 502, "message": "s3cret"}, "choices": []})
    assert refusal_of(*chunks) == ("incomplete_response", f"/{position}/error")


# -- several choices


def test_the_first_of_several_choices_without_calls_is_echoed_whichever_came_first() -> None:
    second = chunk(BODY, {"index": 1, "delta": {"content": "b"}, "finish_reason": "stop"})
    assert echo_of(second, said(content="a"), end("stop"))["content"] == "a"


def test_a_piece_without_a_number_is_of_the_first_choice() -> None:
    unnumbered = {"id": BODY["id"], "choices": [{"delta": {"content": "a"}, "finish_reason": "stop"}]}
    second = chunk(BODY, {"index": 1, "delta": {"content": "c"}, "finish_reason": "stop"})
    assert echo_of(unnumbered, second, said(content="b"))["content"] == "ab"


def test_several_choices_with_calls_are_refused() -> None:
    second = chunk(BODY, {"index": 1, "delta": {"content": "b"}, "finish_reason": "stop"})
    assert refusal_of(called(WEATHER), end(), second) == ("malformed_envelope", "/choices")


def test_one_choice_that_has_not_ended_cuts_the_response() -> None:
    second = chunk(BODY, {"index": 1, "delta": {"content": "b"}})
    assert refusal_of(said(content="a"), second, end("stop"))[0] == "incomplete_response"


# -- what no stream of this surface holds


@pytest.mark.parametrize(
    ("broken", "code", "path"),
    [
        ({"choices": "text"}, "malformed_envelope", "/0/choices"),
        ({"choices": ["text"]}, "malformed_envelope", "/0/choices/0"),
        ({"choices": [{"index": "0", "delta": {}}]}, "malformed_envelope", "/0/choices/0/index"),
        ({"choices": [{"index": 0, "delta": "text"}]}, "malformed_envelope", "/0/choices/0/delta"),
        ({"choices": [choice(tool_call(PROPOSALS[0]))]}, "malformed_envelope", "/0/choices/0/message"),
        (said(tool_calls="call"), "malformed_tool_calls", "/0/choices/0/delta/tool_calls"),
        (called("call"), "malformed_tool_calls", "/0/choices/0/delta/tool_calls/0"),
        (called({**WEATHER, "index": "0"}), "malformed_tool_calls", "/0/choices/0/delta/tool_calls/0/index"),
        (said(function_call="call"), "malformed_tool_calls", "/0/choices/0/delta/function_call"),
    ],
)
def test_a_chunk_of_another_shape_is_refused(broken: dict[str, Any], code: str, path: str) -> None:
    assert refusal_of(broken, end()) == (code, path)


def test_a_server_that_sends_the_whole_message_beside_each_delta_is_read_by_its_deltas() -> None:
    beside = {"message": {"role": "assistant", "content": "One moment."}}
    chunks = [chunk(BODY, {"delta": {"content": text}, **beside}) for text in ("One ", "moment.")]
    assert echo_of(*chunks, end("stop")) == {"role": "assistant", "content": "One moment."}


def test_pieces_of_two_types_do_not_make_one_value() -> None:
    mixed = called(begun(WEATHER, '{"city":')), called(begun(WEATHER, {"city": "Seoul"})), end()
    assert refusal_of(*mixed) == ("malformed_tool_calls", "/choices/0/message/tool_calls/0/function/arguments")
    assert refusal_of(said(content="a"), said(content=[{"type": "text"}]), end("stop")) == (
        "malformed_envelope",
        "/choices/0/message/content",
    )


def test_arguments_that_are_no_text_are_as_unfit_in_a_stream_as_in_a_whole_response() -> None:
    assert refusal_of(called(begun(WEATHER, {"city": "Seoul"})), end())[0] == "malformed_tool_calls"


def test_a_stream_of_many_small_pieces_is_read_in_time() -> None:
    """Twenty thousand pieces, each with a member of its own: work that grows with their square would take minutes."""
    text = '"' + "x" * 40_000
    pieces = [{"index": 0, "function": {"arguments": text[n * 2 : n * 2 + 2]}, f"x{n}": n} for n in range(20_000)]
    turn = read(called(begun(WEATHER, '{"city":')), *map(called, pieces), called(more_arguments('"}', index=0)), end())
    assert len(turn.proposals[0].arguments["city"]) == len(text) - 2


def test_a_whole_response_and_its_stream_read_alike_when_it_says_more_than_calls() -> None:
    body = completion(choice(tool_call(PROPOSALS[0]), content="One moment.", reasoning_content="three reads"))
    assert openai_chat.read_stream(completion_stream(body)) == openai_chat.read(body)
