"""What holds on every surface."""

import copy
from typing import Any

import pytest

from adapters.envelopes import SURFACES, stop_signal
from adapters.envelopes.envelope import ToolDefinition
from adapters.envelopes.stop_signal import Calls, Meaning, Signal
from tests.unit.three_reads import EXAMPLES, PROPOSALS, RESPONSES, RESULTS, STREAMS
from workflows.domain.errors import ERRORS, InvalidConfiguration, ResponseRefused

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}

every_surface = pytest.mark.parametrize("surface", SURFACES)


def test_every_surface_has_its_example() -> None:
    assert EXAMPLES.keys() == SURFACES.keys()


@every_surface
def test_the_same_three_proposals_are_read_from_every_surface(surface: str) -> None:
    turn = SURFACES[surface].read(RESPONSES[surface])
    assert turn.proposals == PROPOSALS
    assert (turn.surface, turn.request_id) == (surface, EXAMPLES[surface].request_id)


@every_surface
def test_a_stream_reads_as_the_response_that_was_streamed(surface: str) -> None:
    assert SURFACES[surface].read_stream(STREAMS[surface]) == SURFACES[surface].read(RESPONSES[surface])


@every_surface
def test_a_stream_that_was_cut_anywhere_runs_nothing(surface: str) -> None:
    stream = STREAMS[surface]
    for length in range(len(stream) - EXAMPLES[surface].end + 1):
        with pytest.raises(ResponseRefused) as refused:
            SURFACES[surface].read_stream(stream[:length])
        assert refused.value.code == "incomplete_response"


@every_surface
@pytest.mark.parametrize("nonsense", [None, "", "data: {}", 7, {}, [None], ["text"], [[]]])
def test_nonsense_is_no_stream(surface: str, nonsense: Any) -> None:
    with pytest.raises(ResponseRefused) as refused:
        SURFACES[surface].read_stream(nonsense)
    assert refused.value.code == "malformed_envelope"


@every_surface
def test_a_partial_failure_stays_with_its_call(surface: str) -> None:
    envelope = SURFACES[surface]
    messages = envelope.write(envelope.read(RESPONSES[surface]), RESULTS)
    assert EXAMPLES[surface].told(messages) == [
        ("call-weather", "succeeded"),
        ("call-stock", "failed_retryable"),
        ("call-news", "failed_terminal"),
    ]


@every_surface
def test_reading_and_writing_leave_the_response_as_it_was(surface: str) -> None:
    response = copy.deepcopy(RESPONSES[surface])
    turn = SURFACES[surface].read(response)
    SURFACES[surface].write(turn, RESULTS)
    assert response == RESPONSES[surface]


@every_surface
def test_reading_leaves_the_stream_as_it_was(surface: str) -> None:
    stream = copy.deepcopy(STREAMS[surface])
    SURFACES[surface].write(SURFACES[surface].read_stream(stream), RESULTS)
    assert stream == STREAMS[surface]


@every_surface
@pytest.mark.parametrize("nonsense", [None, "", "text", 7, True, [], [{}], {}, {"error": {"type": "overloaded_error"}}])
def test_nonsense_is_no_envelope(surface: str, nonsense: Any) -> None:
    with pytest.raises(ResponseRefused) as refused:
        SURFACES[surface].read(nonsense)
    assert refused.value.code == "malformed_envelope"


@every_surface
def test_a_refusal_says_where_and_what_was_expected_but_not_what_came(surface: str) -> None:
    with pytest.raises(ResponseRefused) as refused:
        SURFACES[surface].read(EXAMPLES[surface].unfit)
    [detail] = refused.value.details
    assert detail.path == EXAMPLES[surface].unfit_at
    assert "s3cret" not in repr(refused.value.details)


@every_surface
@pytest.mark.parametrize("name", ["", "dots.are.refused", "with space", "x" * 65, "line\n", "naïve"])
def test_a_name_that_some_surface_refuses_is_not_rendered(surface: str, name: str) -> None:
    with pytest.raises(InvalidConfiguration):
        SURFACES[surface].render(ToolDefinition(name, "No such tool.", SCHEMA))


def test_parameters_are_always_an_object() -> None:
    with pytest.raises(InvalidConfiguration):
        ToolDefinition("get_weather", "Reads the weather.", {"type": "array"})


@pytest.mark.parametrize("word", [None, 0, True, [], {}, "", "TOOL_USE", "tool_use ", "soon_to_be_invented"])
def test_a_word_outside_the_table_announces_no_calls(word: Any) -> None:
    signal = stop_signal.look_up({"tool_use": Signal(Meaning.COMPLETE, Calls.ALWAYS)}, word)
    assert signal == Signal(Meaning.UNKNOWN, Calls.NEVER)


@pytest.mark.parametrize(
    ("surface", "response", "expected"),
    [
        (
            "anthropic-messages",
            {"content": [{"type": "tool_use", "id": "c", "name": "n", "input": {}}], "stop_reason": "end_turn"},
            "tool_use",
        ),
        (
            "gemini-generate-content",
            {"candidates": [{"content": {"parts": [{"functionCall": {"name": "n"}}]}, "finishReason": None}]},
            "STOP",
        ),
        (
            "gemini-interactions",
            {"status": "idle", "steps": [{"type": "function_call", "id": "c", "name": "n", "arguments": {}}]},
            "requires_action",
        ),
        (
            "openai-chat",
            {
                "message": {"tool_calls": [{"id": "c", "function": {"name": "n", "arguments": "{}"}}]},
                "finish_reason": "soon_to_be_invented",
            },
            "tool_calls or function_call or stop",
        ),
        (
            "openai-responses",
            {"output": [{"type": "function_call", "call_id": "c", "name": "n", "arguments": "{}"}], "status": None},
            "completed",
        ),
    ],
)
def test_calls_without_their_signal_are_refused_with_the_signals_that_this_surface_has(
    surface: str, response: dict[str, Any], expected: str
) -> None:
    with pytest.raises(ResponseRefused) as refused:
        SURFACES[surface].read(response)
    assert refused.value.code == "unknown_stop_signal"
    assert [detail.expected for detail in refused.value.details] == [expected]


@pytest.mark.parametrize(
    "code",
    [
        "incomplete_response",
        "refused_response",
        "unknown_stop_signal",
        "malformed_envelope",
        "missing_tool_calls",
        "malformed_tool_calls",
        "missing_call_id",
        "duplicate_call_id",
        "id_too_long",
        "unknown_block_type",
        "unsupported_call_type",
        "invalid_arguments_json",
        "tool_not_allowed",
        "too_many_calls",
    ],
)
def test_every_code_that_a_surface_gives_stands_in_the_catalogue(code: str) -> None:
    assert code in ERRORS
