"""Gemini Interactions: what is read, refused and written."""

import copy
import json
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from adapters import strict_json
from adapters.envelopes import gemini_interactions
from adapters.envelopes.envelope import HostedCall, ReadTurn, ToolDefinition
from adapters.envelopes.gemini_interactions.statuses import STATUSES
from adapters.envelopes.stop_signal import Meaning
from tests.unit.gemini_reads import call_step, interaction
from tests.unit.three_reads import NEWS_FAILED, PROPOSALS, RESULTS, STOCK_TO_RETRY, WEATHER_SUCCEEDED
from workflows.domain.errors import CorrelationBroken, Detail, ResponseRefused
from workflows.domain.proposal import CallResult, Proposal, Status

WEATHER, STOCK, NEWS = (call_step(proposal) for proposal in PROPOSALS)
THOUGHT = {"type": "thought", "signature": "c2lnbmVk", "summary": [{"type": "text", "text": "Three reads."}]}
SPOKEN = {"type": "model_output", "content": [{"type": "text", "text": "It is 22 degrees."}]}
SEARCH = {"type": "tool_search_call", "id": "search-1", "arguments": {"query": "weather"}}
FOUND = {
    "type": "tool_search_result",
    "call_id": "search-1",
    "result": [{"type": "function", "name": "get_weather"}, {"type": "function", "name": "get_stock"}],
}


def read(response: Any) -> ReadTurn:
    return gemini_interactions.read(response)


def refusal(response: Any) -> tuple[str, Detail]:
    with pytest.raises(ResponseRefused) as refused:
        read(response)
    [detail] = refused.value.details
    return refused.value.code, detail


def code_of(response: Any) -> str:
    return refusal(response)[0]


# ── statuses ──


def test_calls_are_read_in_their_order_when_action_is_required() -> None:
    turn = read(interaction(THOUGHT, WEATHER, SPOKEN, STOCK))
    assert turn.proposals == PROPOSALS[:2]
    assert (turn.surface, turn.request_id, turn.paused) == ("gemini-interactions", "int-17", False)


@pytest.mark.parametrize("status", ["completed", "idle", "soon_to_be_invented"])
@pytest.mark.parametrize("steps", [(), (SPOKEN,), (THOUGHT, SPOKEN)])
def test_an_answer_without_calls_gives_no_proposals(status: str, steps: tuple[dict[str, Any], ...]) -> None:
    turn = read(interaction(*steps, status=status))
    assert turn.proposals == ()
    assert gemini_interactions.write(turn, []) == list(steps)


@pytest.mark.parametrize("status", ["completed", "idle", "REQUIRES_ACTION", "soon_to_be_invented"])
def test_calls_that_the_status_does_not_announce_are_not_run(status: str) -> None:
    code, detail = refusal(interaction(WEATHER, status=status))
    assert (code, detail.path, detail.expected) == ("unknown_stop_signal", "/status", "requires_action")


@pytest.mark.parametrize("status", [word for word, signal in STATUSES.items() if signal.meaning is Meaning.CUT])
@pytest.mark.parametrize("steps", [(), (WEATHER,), (SPOKEN, WEATHER, STOCK)])
def test_an_interaction_that_has_not_ended_by_itself_runs_nothing(
    status: str, steps: tuple[dict[str, Any], ...]
) -> None:
    code, detail = refusal(interaction(*steps, status=status))
    assert (code, detail.path) == ("incomplete_response", "/status")


def test_every_status_but_these_lets_nothing_run() -> None:
    assert {word for word, signal in STATUSES.items() if signal.meaning is not Meaning.CUT} == {
        "requires_action",
        "completed",
        "requires_continuation",
        "idle",
    }


def test_a_paused_interaction_runs_nothing_and_is_echoed() -> None:
    turn = read(interaction(THOUGHT, WEATHER, status="requires_continuation", continuation_token="tok"))
    assert (turn.paused, turn.proposals, turn.hosted) == (True, (), ())
    assert gemini_interactions.write(turn, []) == [THOUGHT, WEATHER]


@pytest.mark.parametrize("steps", [(), (THOUGHT, SPOKEN)])
def test_required_action_without_calls_is_an_error(steps: tuple[dict[str, Any], ...]) -> None:
    assert code_of(interaction(*steps)) == "missing_tool_calls"


def test_an_interaction_may_leave_its_steps_out() -> None:
    turn = read({"status": "completed", "steps": None})
    assert (turn.proposals, turn.echo, turn.request_id) == ((), (), None)


@pytest.mark.parametrize(
    ("response", "path"),
    [
        ({"steps": []}, "/status"),
        (interaction(status=None), "/status"),
        (interaction(status=""), "/status"),
        (interaction(status=7), "/status"),
        (interaction(status=["completed"]), "/status"),
        (interaction(object="response"), "/object"),
        (interaction() | {"steps": {}}, "/steps"),
        (interaction("text"), "/steps/0"),
        (interaction(THOUGHT, {"id": "c"}), "/steps/1/type"),
        (interaction({"type": ["function_call"]}, status="requires_continuation"), "/steps/0/type"),
    ],
)
def test_an_interaction_of_another_shape_is_refused(response: dict[str, Any], path: str) -> None:
    code, detail = refusal(response)
    assert (code, detail.path) == ("malformed_envelope", path)


# ── calls ──


@pytest.mark.parametrize(
    ("change", "code", "place"),
    [
        ({"id": None}, "missing_call_id", "/id"),
        ({"id": ""}, "missing_call_id", "/id"),
        ({"id": 7}, "missing_call_id", "/id"),
        ({"id": ["x"]}, "missing_call_id", "/id"),
        ({"name": None}, "malformed_tool_calls", "/name"),
        ({"name": ""}, "malformed_tool_calls", "/name"),
        ({"name": {}}, "malformed_tool_calls", "/name"),
        ({"arguments": None}, "malformed_tool_calls", "/arguments"),
        ({"arguments": "{}"}, "malformed_tool_calls", "/arguments"),
        ({"arguments": []}, "malformed_tool_calls", "/arguments"),
    ],
)
def test_a_call_of_another_shape_refuses_the_response(change: dict[str, Any], code: str, place: str) -> None:
    given = refusal(interaction(STOCK, WEATHER | change))
    assert (given[0], given[1].path) == (code, f"/steps/1{place}")


@pytest.mark.parametrize("member", ["id", "name", "arguments"])
def test_a_call_that_leaves_something_out_refuses_the_response(member: str) -> None:
    lacking = {key: value for key, value in WEATHER.items() if key != member}
    assert code_of(interaction(lacking)) in {"missing_call_id", "malformed_tool_calls"}


@pytest.mark.parametrize("second", [WEATHER, {**STOCK, "id": "call-weather"}, {**SEARCH, "id": "call-weather"}])
def test_one_id_for_two_calls_refuses_both(second: dict[str, Any]) -> None:
    assert code_of(interaction(WEATHER, second)) == "duplicate_call_id"


def test_numbers_of_arguments_stay_as_they_came() -> None:
    given = {"id": 9007199254740993, "rate": Decimal("3.0")}
    [proposal] = read(interaction({**WEATHER, "arguments": given})).proposals
    assert proposal.arguments == given
    assert type(proposal.arguments["rate"]) is Decimal


@pytest.mark.parametrize(
    ("arguments", "detail"),
    [
        ({"limit": float("nan")}, "non_finite_number"),
        ({"t": "\ud83d"}, "lone_surrogate"),
        ({"t": "\0"}, "nul_character"),
    ],
)
def test_arguments_without_a_strict_form_spoil_their_own_call_only(arguments: dict[str, Any], detail: str) -> None:
    spoilt, sound = read(interaction({**WEATHER, "arguments": arguments}, STOCK)).proposals
    assert (spoilt.fault, spoilt.fault_details[0].code) == ("invalid_arguments_json", detail)
    assert (spoilt.call_id, spoilt.tool_name, spoilt.arguments) == ("call-weather", "get_weather", None)
    assert sound == PROPOSALS[1]


@pytest.mark.parametrize(
    "unknown",
    [
        {"type": "custom_tool_call"},
        {"type": "call"},
        {"type": "mcp_call_request", "server": "wiki"},
        {"type": "invocation", "id": "i", "name": "get_weather"},
        {"type": "invocation", "id": "i", "arguments": {}},
    ],
)
def test_an_unknown_step_that_might_be_a_call_refuses_the_response(unknown: dict[str, Any]) -> None:
    code, detail = refusal(interaction(WEATHER, unknown))
    assert (code, detail.path) == ("unknown_block_type", "/steps/1/type")


@pytest.mark.parametrize(
    "other",
    [
        {"type": "weather_report", "text": "22 degrees"},
        {"type": "weather_report", "id": "w"},
        {"type": "custom_call_result", "id": "r", "call_id": "c", "name": "custom"},
    ],
)
def test_an_unknown_step_that_is_no_call_is_echoed(other: dict[str, Any]) -> None:
    turn = read(interaction(other, WEATHER))
    assert (turn.proposals, turn.hosted) == (PROPOSALS[:1], ())
    assert turn.echo == (other, WEATHER)


def test_the_steps_are_echoed_with_their_signatures_and_unknown_members() -> None:
    steps = [
        {**THOUGHT, "unheard_of": 1},
        {**WEATHER, "signature": "Y2FsbA==", "unheard_of": {"kept": True}},
        {"type": "model_output", "content": [{"type": "hologram", "data": "AAEC"}]},
    ]
    turn = read(interaction(*copy.deepcopy(steps)))
    assert list(turn.echo) == steps
    assert json.dumps(turn.echo) == json.dumps(steps)


# ── what the provider did itself ──


def test_the_providers_own_work_is_recorded_echoed_and_never_answered() -> None:
    own = [
        {"type": "google_search_call", "id": "g1", "arguments": {"queries": ["ACME"]}, "signature": "Zw=="},
        {"type": "google_search_result", "call_id": "g1", "result": [], "is_error": False},
        {"type": "mcp_server_tool_call", "id": "m1", "name": "ask", "server_name": "wiki", "arguments": {}},
        {"type": "mcp_server_tool_result", "call_id": "m1", "name": "ask", "server_name": "wiki", "result": "42"},
        {"type": "code_execution_call", "id": "x1", "arguments": {"code": "1 / 0"}},
        {"type": "code_execution_result", "call_id": "x1", "result": "ZeroDivisionError", "is_error": True},
        {"type": "retrieval_call"},
    ]
    turn = read(interaction(*own, STOCK))
    assert turn.hosted == (
        HostedCall("g1", "google_search_call", failed=False),
        HostedCall("m1", "mcp_server_tool_call", server="wiki", tool="ask"),
        HostedCall("x1", "code_execution_call", failed=True),
        HostedCall("step-6", "retrieval_call"),
    )
    assert turn.proposals == PROPOSALS[1:2]
    assert turn.echo == (*own, STOCK)


def test_a_result_whose_call_came_earlier_is_told_under_its_own_kind() -> None:
    late = {"type": "mcp_server_tool_result", "call_id": "m1", "name": "ask", "server_name": "wiki", "result": "42"}
    turn = read(interaction(late, SPOKEN, status="completed"))
    assert turn.hosted == (HostedCall("m1", "mcp_server_tool_result", server="wiki", tool="ask"),)


@pytest.mark.parametrize("told", ["yes", 1, None])
def test_a_result_that_does_not_say_whether_it_failed_is_not_judged(told: Any) -> None:
    own = [
        {"type": "url_context_call", "id": "u1", "arguments": {}},
        {"type": "url_context_result", "call_id": "u1", "result": [], "is_error": told},
    ]
    assert read(interaction(*own, status="completed")).hosted == (HostedCall("u1", "url_context_call"),)


def test_a_call_whose_result_stands_beside_it_was_run_already() -> None:
    answer = {"type": "function_result", "call_id": "call-weather", "result": {"temperature": 22}, "is_error": False}
    turn = read(interaction(WEATHER, answer, STOCK))
    assert turn.proposals == PROPOSALS[1:2]
    assert turn.hosted == (HostedCall("call-weather", "function_call", tool="get_weather", failed=False),)
    assert code_of(interaction(WEATHER, answer)) == "missing_tool_calls"
    assert read(interaction(WEATHER, answer, status="completed")).proposals == ()


def test_an_answer_of_ours_is_not_taken_for_the_providers_work() -> None:
    ours = {"type": "function_result", "call_id": "call-earlier", "result": {}}
    assert read(interaction(ours, SPOKEN, status="completed")).hosted == ()


@pytest.mark.parametrize("odd", [{"call_id": ["call-weather"]}, {"call_id": None}, {}])
def test_a_result_without_an_id_answers_nothing(odd: dict[str, Any]) -> None:
    turn = read(interaction(WEATHER, {"type": "function_result", "result": {}, **odd}, {**FOUND, **odd, "result": 7}))
    assert turn.proposals == PROPOSALS[:1]


# ── searches for tools ──


def test_a_search_without_its_result_is_ours_when_action_is_required() -> None:
    turn = read(interaction(SEARCH, WEATHER))
    assert turn.proposals == (Proposal("search-1", "tool_search", {"query": "weather"}), PROPOSALS[0])
    assert (turn.hosted, turn.found) == ((), frozenset())


def test_a_search_with_its_result_was_the_providers() -> None:
    turn = read(interaction(SEARCH, FOUND, WEATHER))
    assert turn.proposals == PROPOSALS[:1]
    assert turn.hosted == (HostedCall("search-1", "tool_search_call"),)
    assert turn.found == {"get_weather", "get_stock"}


@pytest.mark.parametrize("result", [None, "text", ["text", {}, {"name": 7}, {"name": ""}]])
def test_a_search_result_of_an_odd_shape_has_found_nothing(result: Any) -> None:
    assert read(interaction(SEARCH, {**FOUND, "result": result}, WEATHER)).found == frozenset()


def test_a_search_without_its_result_is_left_alone_where_nothing_is_asked_for() -> None:
    turn = read(interaction(SEARCH, SPOKEN, status="completed"))
    assert (turn.proposals, turn.hosted, turn.echo) == ((), (), (SEARCH, SPOKEN))


@pytest.mark.parametrize(
    ("tools", "ours"),
    [
        ([{"type": "tool_search"}], False),
        ([{"type": "tool_search", "execution": "server"}], False),
        ([{"type": "tool_search", "execution": "client", "name": "find"}], True),
        ([{"type": "tool_search"}, {"type": "tool_search", "execution": "client"}], True),
        ([{"type": "function", "name": "get_weather"}], True),
        (["text"], True),
        ("text", True),
        (None, True),
    ],
)
def test_an_interaction_that_repeats_its_tools_says_whose_the_search_is(tools: Any, ours: bool) -> None:
    turn = read(interaction(SEARCH, WEATHER, tools=tools))
    assert [proposal.tool_name for proposal in turn.proposals] == ["tool_search"] * ours + ["get_weather"]


def test_a_search_is_answered_by_the_definitions_that_it_found() -> None:
    turn = read(interaction(SEARCH))
    found = [gemini_interactions.render(ToolDefinition("get_weather", "Reads the weather.", {"type": "object"}))]
    answer = CallResult("search-1", "tool_search", Status.SUCCEEDED, data=found)
    assert gemini_interactions.write(turn, [answer])[1:] == [
        {
            "type": "function_result",
            "call_id": "search-1",
            "name": "tool_search",
            "result": found,
            "is_error": False,
        }
    ]


def test_a_list_that_another_tool_answers_with_is_told_with_its_status() -> None:
    turn = read(interaction(WEATHER))
    answer = CallResult("call-weather", "get_weather", Status.SUCCEEDED, data=[1, 2])
    assert gemini_interactions.write(turn, [answer])[-1]["result"] == {"status": "succeeded", "data": [1, 2]}


# ── answers ──


def test_each_call_is_answered_by_one_result_in_call_order() -> None:
    turn = read(interaction(THOUGHT, WEATHER, STOCK, NEWS))
    messages = gemini_interactions.write(turn, RESULTS)
    assert messages[:4] == [THOUGHT, WEATHER, STOCK, NEWS]
    assert messages[4:] == [
        {
            "type": "function_result",
            "call_id": "call-weather",
            "name": "get_weather",
            "result": {"status": "succeeded", "data": {"temperature": 22, "unit": "celsius"}},
            "is_error": False,
        },
        {
            "type": "function_result",
            "call_id": "call-stock",
            "name": "get_stock",
            "result": STOCK_TO_RETRY.body(),
            "is_error": True,
        },
        {
            "type": "function_result",
            "call_id": "call-news",
            "name": "get_news",
            "result": NEWS_FAILED.body(),
            "is_error": True,
        },
    ]


EXACT = {
    "id": 9007199254740993,
    "rate": Decimal("0.1000000000000000055"),
    "most": 10**400,
    "deep": [{"n": -(2**63) - 1}],
}
PLAIN = {"n": 3, "half": 0.5, "rate": Decimal("0.10"), "most": 2**53, "flag": True, "pair": (1, "1"), "none": None}


def test_a_number_that_the_server_would_round_is_told_as_text() -> None:
    assert told_data(EXACT) == {
        "id": "9007199254740993",
        "rate": "0.1000000000000000055",
        "most": str(10**400),
        "deep": [{"n": "-9223372036854775809"}],
    }


def test_every_other_value_is_told_as_it_is() -> None:
    assert told_data(PLAIN) == {**PLAIN, "pair": [1, "1"]}
    assert told_data(PLAIN)["flag"] is True


def told_data(data: Any) -> Any:
    """What the model reads of a success with these data."""
    answer = CallResult("call-weather", "get_weather", Status.SUCCEEDED, data=data)
    return gemini_interactions.write(read(interaction(WEATHER)), [answer])[-1]["result"]["data"]


@pytest.mark.parametrize("data", [{"when": object()}, [object()]])
def test_a_result_without_a_json_form_is_not_handed_over(data: Any) -> None:
    turn = read(interaction(WEATHER, SEARCH))
    weather, search = (CallResult(each.call_id, each.tool_name, Status.SUCCEEDED, data={}) for each in turn.proposals)
    for results in ([replace(weather, data=data), search], [weather, replace(search, data=data)]):
        with pytest.raises(strict_json.StrictJsonError):
            gemini_interactions.write(turn, results)


def test_results_that_are_not_one_for_each_call_are_not_written() -> None:
    with pytest.raises(CorrelationBroken):
        gemini_interactions.write(read(interaction(WEATHER, STOCK)), [WEATHER_SUCCEEDED])
    with pytest.raises(CorrelationBroken):
        gemini_interactions.write(read(interaction(SPOKEN, status="completed")), RESULTS)


# ── definitions ──


@pytest.mark.parametrize(("deferred", "more"), [(False, {}), (True, {"defer_loading": True})])
def test_a_definition_is_listed_flat_and_says_when_it_is_deferred(deferred: bool, more: dict[str, Any]) -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string", "maxLength": 80}}}
    definition = ToolDefinition("get_weather", "Reads the weather.", schema, True, deferred, ({"city": "Seoul"},))
    assert gemini_interactions.render(definition) == {
        "type": "function",
        "name": "get_weather",
        "description": "Reads the weather.",
        "parameters": schema,
        **more,
    }
