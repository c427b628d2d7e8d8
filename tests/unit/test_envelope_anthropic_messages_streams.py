"""Anthropic Messages in events: what they are put together to, and what no stream can be."""

from decimal import Decimal
from typing import Any

import pytest

from adapters.envelopes import anthropic_messages
from adapters.envelopes.envelope import HostedCall, ReadTurn
from tests.unit.three_reads import (
    PROPOSALS,
    RESPONSES,
    RESULTS,
    STREAMS,
    block_events,
    message,
    message_stream,
    tool_use,
)
from workflows.domain.errors import Detail, ResponseRefused
from workflows.domain.proposal import Proposal

WEATHER, STOCK = tool_use(PROPOSALS[0]), tool_use(PROPOSALS[1])
TEXT = {"type": "text", "text": "One moment."}
PING = {"type": "ping"}
STOP = {"type": "message_stop"}
STREAM = STREAMS["anthropic-messages"]


def streamed(*blocks: list[dict[str, Any]], stop_reason: Any = "tool_use", **more: Any) -> list[dict[str, Any]]:
    """A whole stream around the events of the blocks."""
    first, *_, last, stop = message_stream(message(stop_reason=stop_reason, **more))
    return [first, *(event for events in blocks for event in events), last, stop]


def read(*blocks: list[dict[str, Any]], stop_reason: Any = "tool_use") -> ReadTurn:
    return anthropic_messages.read_stream(streamed(*blocks, stop_reason=stop_reason))


def block_of(block: dict[str, Any], *deltas: dict[str, Any]) -> dict[str, Any]:
    """The one block that a stream makes of its start and these pieces, as it goes back."""
    [echo] = read(block_events(0, block, *deltas), stop_reason="end_turn").echo
    [whole] = echo["content"]
    assert isinstance(whole, dict)
    return whole


def input_pieces(*texts: Any) -> list[dict[str, Any]]:
    return [{"type": "input_json_delta", "partial_json": text} for text in texts]


def called(*texts: Any) -> ReadTurn:
    """A call for the weather whose input comes in these texts, and a sound one for the stock."""
    return read(block_events(0, WEATHER, *input_pieces(*texts)), block_events(1, STOCK))


def delta(index: Any, piece: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": piece}


def refusal_of(events: Any) -> tuple[str, str]:
    with pytest.raises(ResponseRefused) as refused:
        anthropic_messages.read_stream(events)
    return refused.value.code, refused.value.details[0].path


def changed(position: int, *events: Any) -> list[Any]:
    """The stream of three reads with other events in one place; none take that place away."""
    return [*STREAM[:position], *events, *STREAM[position + 1 :]]


# -- how real streams come


def test_an_input_is_put_together_from_its_pieces() -> None:
    assert called("", '{"city": "Se', 'oul", "unit"', ': "celsius"}').proposals == PROPOSALS[:2]


@pytest.mark.parametrize("texts", [(), ("",), ("", "")])
def test_a_call_without_arguments_may_bring_an_empty_text_or_none(texts: tuple[str, ...]) -> None:
    turn = called(*texts) if texts else read([event for event in block_events(0, WEATHER) if "delta" not in event])
    assert turn.proposals[0] == Proposal("call-weather", "get_weather", {})
    assert turn.echo[0]["content"][0]["input"] == {}


def test_an_empty_text_leaves_the_input_that_the_block_began_with() -> None:
    start = {"type": "content_block_start", "index": 0, "content_block": WEATHER}
    stop = {"type": "content_block_stop", "index": 0}
    assert read([start, delta(0, input_pieces("")[0]), stop]).proposals == PROPOSALS[:1]


def test_numbers_keep_every_digit() -> None:
    turn = called('{"big": 9007199254740993, "rate": 0.10}')
    assert turn.proposals[0].arguments == {"big": 2**53 + 1, "rate": Decimal("0.10")}
    assert str(turn.echo[0]["content"][0]["input"]["rate"]) == "0.10"


def test_pieces_of_two_blocks_may_be_mixed() -> None:
    first, second = (
        block_events(0, WEATHER, *input_pieces('{"city":"Seoul",', '"unit":"celsius"}')),
        block_events(1, STOCK),
    )
    assert read([first[0], second[0], first[1], second[1], first[2], second[2], first[3]]).proposals == PROPOSALS[:2]


def test_a_block_is_put_together_as_a_whole_response_holds_it() -> None:
    assert block_of(TEXT, *({"type": "text_delta", "text": text} for text in ("One ", "", "moment."))) == TEXT
    thought = {"type": "thinking", "thinking": "", "signature": ""}
    assert block_of(
        thought,
        {"type": "thinking_delta", "thinking": "weather ", "estimated_tokens": 50},
        {"type": "thinking_delta", "thinking": "first"},
        {"type": "signature_delta", "signature": "EuYBCkQ=="},
    ) == {"type": "thinking", "thinking": "weather first", "signature": "EuYBCkQ=="}


def test_what_else_a_piece_of_a_known_kind_holds_is_no_part_of_the_block() -> None:
    begun = {"type": "text", "text": "", "signature": ""}
    pieces: list[dict[str, Any]] = [
        {"type": "text_delta", "text": "One moment.", "x_count": 2},
        {"type": "signature_delta", "signature": "EuYB", "x_count": 2},
        {"type": "citations_delta", "citation": {"url": "a"}, "x_count": 2},
    ]
    assert block_of(begun, *pieces) == {**TEXT, "signature": "EuYB", "citations": [{"url": "a"}]}


def test_the_last_signature_counts() -> None:
    thought = {"type": "thinking", "thinking": "", "signature": ""}
    signatures = [{"type": "signature_delta", "signature": text} for text in ("first", "last")]
    assert block_of(thought, *signatures)["signature"] == "last"


@pytest.mark.parametrize("begun", [{}, {"citations": None}, {"citations": []}])
def test_citations_are_gathered(begun: dict[str, Any]) -> None:
    found = [{"type": "web_search_result_location", "url": url} for url in ("a", "b")]
    pieces = [{"type": "citations_delta", "citation": each} for each in found]
    said = {"type": "text_delta", "text": "Warm."}
    assert block_of({"type": "text", "text": "", **begun}, said, *pieces)["citations"] == found


def test_a_compaction_comes_in_one_piece() -> None:
    piece = {"type": "compaction_delta", "content": "so far", "encrypted_content": "AAEC"}
    begun = {"type": "compaction", "content": "", "encrypted_content": None, "signature": "x"}
    turn = read(block_events(0, begun, piece), stop_reason="compaction")
    assert turn.paused
    assert turn.echo[0]["content"] == [
        {"type": "compaction", "content": "so far", "encrypted_content": "AAEC", "signature": "x"}
    ]


def test_a_compaction_that_failed_stays_without_content() -> None:
    piece = {"type": "compaction_delta", "content": None}
    assert block_of({"type": "compaction", "content": ""}, piece) == {"type": "compaction", "content": None}


def test_a_kind_of_piece_that_nobody_knows_adds_what_it_brings() -> None:
    pieces = [{"type": "mood_delta", "mood": text, "tones": [text]} for text in ("ca", "lm")]
    said = {"type": "text_delta", "text": "Warm."}
    assert block_of(TEXT, said, *pieces) == {**TEXT, "text": "Warm.", "mood": "calm", "tones": ["ca", "lm"]}


@pytest.mark.parametrize("begun", [WEATHER, {**WEATHER, "type": "server_tool_use"}, {**WEATHER, "type": "new_thing"}])
@pytest.mark.parametrize("kind", ["input_toon_delta", "text_delta", "signature_delta"])
def test_a_piece_that_nobody_can_tell_the_effect_of_refuses_the_call_and_its_response(
    begun: dict[str, Any], kind: str
) -> None:
    events = streamed(block_events(0, begun, {"type": kind, "text": "x", "signature": "x"}))
    assert refusal_of(events) == ("unknown_block_type", "/2/delta/type")


def test_an_input_for_a_block_that_is_no_call_belongs_to_some_call_and_refuses_the_response() -> None:
    events = streamed(block_events(0, TEXT, *input_pieces("{}")), block_events(1, WEATHER))
    assert refusal_of(events) == ("malformed_envelope", "/2/delta/type")


def test_pings_and_kinds_of_event_that_nobody_knows_say_nothing() -> None:
    events = [event for each in STREAM for event in (PING, {"type": "weather_report", "index": 99}, each)]
    assert anthropic_messages.read_stream([*events, PING]) == anthropic_messages.read(RESPONSES["anthropic-messages"])


def test_work_of_the_provider_is_streamed_and_told() -> None:
    asked = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "ACME"}}
    found = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{"url": "a"}]}
    turn = read(block_events(0, asked), block_events(1, found), block_events(2, WEATHER))
    assert turn.echo[0]["content"] == [asked, found, WEATHER]
    assert turn.hosted == (HostedCall("srvtoolu_1", "server_tool_use", "", "web_search", failed=False),)
    assert turn.proposals == PROPOSALS[:1]


def test_a_paused_stream_runs_nothing_and_goes_back_as_it_came() -> None:
    turn = read(block_events(0, WEATHER), stop_reason="pause_turn")
    assert (turn.paused, turn.proposals) == (True, ())
    assert anthropic_messages.write(turn, []) == [{"role": "assistant", "content": [WEATHER]}]


def test_what_is_said_at_the_end_changes_the_message_and_null_says_nothing() -> None:
    *events, _, stop = streamed(block_events(0, WEATHER), stop_reason=None)
    ends = [
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 2}},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "context_management": {"applied_edits": []}},
        {"type": "message_delta", "delta": {"stop_reason": None}, "usage": {"output_tokens": None}},
        {"type": "message_delta", "delta": {"container": {"id": "c"}}, "usage": None},
    ]
    turn = anthropic_messages.read_stream([*events, *ends, stop])
    assert (turn.proposals, turn.spent.tokens) == (PROPOSALS[:1], 2)


# -- inputs that are no JSON


@pytest.mark.parametrize(
    ("texts", "code"),
    [
        (('{"city":', '"Se'), "not_json"),
        (("{city: Seoul}",), "not_json"),
        ((" ",), "not_json"),
        (('{"amount":1,"\\u0061mount":2}',), "duplicate_key"),
        (('{"limit":NaN}',), "non_finite_number"),
        (('{"t":"\\ud83d"}',), "lone_surrogate"),
        (("[1]",), "wrong_type"),
        (('"{}"',), "wrong_type"),
        (("null",), "wrong_type"),
    ],
)
def test_an_input_that_is_no_object_of_strict_json_spoils_its_own_call_only(texts: tuple[str, ...], code: str) -> None:
    spoilt, sound = called(*texts).proposals
    assert (spoilt.call_id, spoilt.tool_name, spoilt.arguments) == ("call-weather", "get_weather", None)
    assert (spoilt.fault, spoilt.fault_details[0].code) == ("invalid_arguments_json", code)
    assert sound == PROPOSALS[1]


def test_a_fault_says_what_was_expected() -> None:
    assert called("[1]").proposals[0].fault_details == (Detail("", "wrong_type", "an object"),)


def test_the_text_of_a_broken_input_goes_back_inside_an_object_because_the_provider_takes_nothing_else() -> None:
    turn = called('{"city":', '"Se')
    assert turn.echo[0]["content"] == [{**WEATHER, "input": {"INVALID_JSON": '{"city":"Se'}}, STOCK]
    _, answer = anthropic_messages.write(turn, RESULTS[1:])
    assert [block["tool_use_id"] for block in answer["content"]] == ["call-weather", "call-stock"]


def test_the_fault_stays_with_its_call_when_other_blocks_stand_before_it() -> None:
    turn = read(block_events(0, TEXT), block_events(1, STOCK), block_events(2, WEATHER, *input_pieces("{")))
    assert [proposal.fault for proposal in turn.proposals] == [None, "invalid_arguments_json"]


def test_a_broken_input_of_the_providers_own_call_spoils_nothing() -> None:
    own = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    turn = read(block_events(0, own, *input_pieces("{")), block_events(1, WEATHER))
    assert turn.proposals == PROPOSALS[:1]
    assert turn.proposals[0].fault is None
    assert turn.echo[0]["content"][0]["input"] == {"INVALID_JSON": "{"}


# -- where a stream ends


@pytest.mark.parametrize("usage", [[[]], "x", 1, True])
def test_a_usage_that_is_no_object_refuses_the_response(usage: Any) -> None:
    begun = {**STREAM[0], "message": {**STREAM[0]["message"], "usage": usage}}
    assert refusal_of(changed(0, begun)) == ("malformed_envelope", "/0/message/usage")


def test_a_stream_whose_last_event_is_missing_was_cut() -> None:
    assert refusal_of(STREAM[:-1]) == ("incomplete_response", "")
    assert refusal_of([]) == ("incomplete_response", "")


def test_a_block_that_never_stopped_was_cut() -> None:
    stops = [position for position, event in enumerate(STREAM) if event["type"] == "content_block_stop"]
    for position in stops:
        assert refusal_of(changed(position))[0] == "incomplete_response"


def test_calls_without_a_stop_reason_are_not_run_even_at_the_end() -> None:
    assert refusal_of(changed(len(STREAM) - 2))[0] == "unknown_stop_signal"


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        ("max_tokens", "incomplete_response"),
        ("model_context_window_exceeded", "incomplete_response"),
        ("refusal", "refused_response"),
        ("end_turn", "unknown_stop_signal"),
        ("soon_to_be_invented", "unknown_stop_signal"),
    ],
)
def test_the_stop_reason_counts_as_in_a_whole_response(reason: str, code: str) -> None:
    assert refusal_of(streamed(block_events(0, WEATHER), stop_reason=reason))[0] == code


def test_two_different_stop_reasons_run_nothing() -> None:
    cut = {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}, "usage": {}}
    assert refusal_of([*STREAM[:-1], cut, STOP]) == (
        "malformed_envelope",
        f"/{len(STREAM) - 1}/delta/stop_reason",
    )


@pytest.mark.parametrize("position", range(len(STREAM) + 1))
def test_an_error_breaks_the_stream_off_wherever_it_comes(position: int) -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "s3cret"}}
    assert refusal_of([*STREAM[:position], error, *STREAM[position:]]) == ("incomplete_response", f"/{position}")


# -- what no stream of this surface holds


@pytest.mark.parametrize("event", [*STREAM, delta(0, {"type": "text_delta", "text": "more"})])
def test_nothing_comes_after_the_end(event: dict[str, Any]) -> None:
    assert refusal_of([*STREAM, event]) == ("malformed_envelope", f"/{len(STREAM)}/type")


@pytest.mark.parametrize("event", STREAM[1:])
def test_nothing_comes_before_the_start(event: dict[str, Any]) -> None:
    assert refusal_of([event, *STREAM]) == ("malformed_envelope", "/0/type")


def test_a_message_starts_once() -> None:
    assert refusal_of([STREAM[0], *STREAM]) == ("malformed_envelope", "/1/type")


@pytest.mark.parametrize("index", [0, 2, -1, "1", None])
def test_blocks_start_one_after_the_other(index: Any) -> None:
    start = {"type": "content_block_start", "index": index, "content_block": WEATHER}
    assert refusal_of(streamed(block_events(0, TEXT), [start])) == ("malformed_envelope", "/4/index")


@pytest.mark.parametrize("index", [1, -1, "0", None, {}])
@pytest.mark.parametrize("kind", ["content_block_delta", "content_block_stop"])
def test_a_piece_for_a_block_that_has_not_started_is_refused(kind: str, index: Any) -> None:
    start = {"type": "content_block_start", "index": 0, "content_block": TEXT}
    event = {"type": kind, "index": index, "delta": {"type": "text_delta", "text": "a"}}
    assert refusal_of(streamed([start, event])) == ("malformed_envelope", "/2/index")


@pytest.mark.parametrize("kind", ["content_block_delta", "content_block_stop"])
def test_a_piece_for_a_block_that_has_stopped_is_refused(kind: str) -> None:
    event = {"type": kind, "index": 0, "delta": input_pieces("{}")[0]}
    assert refusal_of(streamed(block_events(0, WEATHER), [event])) == ("malformed_envelope", "/4/index")


@pytest.mark.parametrize(
    ("events", "path"),
    [
        ([{"no": "type"}], "/0/type"),
        ([{"type": 7}], "/0/type"),
        ([{"type": "message_start"}], "/0/message"),
        ([{"type": "message_start", "message": "text"}], "/0/message"),
        ([{"type": "message_start", "message": message(WEATHER)}], "/0/message/content"),
        (streamed([{"type": "content_block_start", "index": 0, "content_block": "text"}]), "/1/content_block"),
        (streamed(block_events(0, TEXT)[:1], [delta(0, "text")]), "/2/delta"),
        (streamed(block_events(0, TEXT)[:1], [delta(0, {"text": "a"})]), "/2/delta/type"),
        (streamed(block_events(0, WEATHER, *input_pieces({}))), "/2/delta/partial_json"),
        (streamed(block_events(0, WEATHER, *input_pieces(None))), "/2/delta/partial_json"),
        ([STREAM[0], {"type": "message_delta", "delta": "text"}], "/1/delta"),
        ([STREAM[0], {"type": "message_delta", "delta": {}, "usage": "text"}], "/1/usage"),
        (streamed(block_events(0, TEXT, {"type": "text_delta", "text": 7}), stop_reason="end_turn"), "/content/0/text"),
        (streamed(role="user"), "/role"),
        (streamed(type="error"), "/type"),
    ],
)
def test_a_stream_of_another_shape_is_refused(events: Any, path: str) -> None:
    assert refusal_of(events) == ("malformed_envelope", path)


@pytest.mark.parametrize("content", [None, []])
def test_a_message_starts_with_no_content_or_an_empty_one(content: Any) -> None:
    first, *rest = STREAM
    turn = anthropic_messages.read_stream([{**first, "message": {**first["message"], "content": content}}, *rest])
    assert turn.proposals == PROPOSALS
