"""OpenAI Chat Completions: what is read, refused and written."""

import json
from decimal import Decimal
from typing import Any

import pytest

from adapters import strict_json
from adapters.envelopes import openai_chat
from adapters.envelopes.envelope import ReadTurn, ToolDefinition
from tests.unit.three_reads import PROPOSALS, RESPONSES, RESULTS, choice, completion, tool_call
from workflows.domain.errors import CorrelationBroken, ResponseRefused
from workflows.domain.proposal import CallResult, Proposal, Status

WEATHER = tool_call(PROPOSALS[0])
STOCK = tool_call(PROPOSALS[1])
CUSTOM = {"id": "call-sql", "type": "custom", "custom": {"name": "run_sql", "input": "select 1"}}
LEGACY = {"name": "get_weather", "arguments": "{}"}


def code_of(response: Any) -> str:
    with pytest.raises(ResponseRefused) as refused:
        openai_chat.read(response)
    return refused.value.code


def results_for(turn: ReadTurn) -> list[CallResult]:
    return [CallResult(each.call_id, each.tool_name, Status.SUCCEEDED, {"done": True}) for each in turn.proposals]


def with_arguments(arguments: Any) -> dict[str, Any]:
    return {**WEATHER, "function": {"name": "get_weather", "arguments": arguments}}


def read_arguments(arguments: Any) -> Proposal:
    [proposal] = openai_chat.read(completion(choice(with_arguments(arguments)))).proposals
    return proposal


@pytest.mark.parametrize("finish_reason", ["stop", None, "", "soon_to_be_invented"])
@pytest.mark.parametrize("calls", [{}, {"tool_calls": None}, {"tool_calls": []}])
def test_an_answer_without_calls_gives_no_proposals(finish_reason: str | None, calls: dict[str, Any]) -> None:
    said = {"role": "assistant", "content": "It is 22 degrees."}
    turn = openai_chat.read(completion({"finish_reason": finish_reason, "message": said | calls}))
    assert turn.proposals == ()
    assert openai_chat.write(turn, []) == [said]


def test_an_answer_without_calls_takes_no_results() -> None:
    turn = openai_chat.read(completion(choice(finish_reason="stop")))
    with pytest.raises(CorrelationBroken):
        openai_chat.write(turn, RESULTS)


@pytest.mark.parametrize("finish_reason", ["tool_calls", "stop", "function_call"])
def test_calls_are_read_whichever_complete_end_stands_beside_them(finish_reason: str) -> None:
    turn = openai_chat.read(completion(choice(WEATHER, STOCK, finish_reason=finish_reason, content="Looking.")))
    assert turn.proposals == PROPOSALS[:2]


@pytest.mark.parametrize(
    ("finish_reason", "code"), [("length", "incomplete_response"), ("content_filter", "refused_response")]
)
@pytest.mark.parametrize("calls", [(), (WEATHER,), (WEATHER, with_arguments('{"city":"Se'))])
def test_a_response_that_was_broken_off_runs_nothing(
    finish_reason: str, code: str, calls: tuple[dict[str, Any], ...]
) -> None:
    assert code_of(completion(choice(*calls, finish_reason=finish_reason))) == code


@pytest.mark.parametrize("finish_reason", [None, "", 1, ["tool_calls"], "soon_to_be_invented"])
def test_calls_that_the_finish_reason_does_not_announce_are_not_run(finish_reason: Any) -> None:
    assert code_of(completion(choice(WEATHER, finish_reason=finish_reason))) == "unknown_stop_signal"


@pytest.mark.parametrize("finish_reason", ["tool_calls", "function_call"])
@pytest.mark.parametrize("calls", [{"tool_calls": []}, {"tool_calls": None}])
def test_a_signal_for_calls_without_calls_is_an_error(finish_reason: str, calls: dict[str, Any]) -> None:
    assert code_of(completion(choice(finish_reason=finish_reason, **calls))) == "missing_tool_calls"


@pytest.mark.parametrize("finish_reason", ["stop", "tool_calls"])
@pytest.mark.parametrize("calls", [{}, "call", 7, True, [None], ["call"], [[WEATHER]]])
def test_calls_of_another_shape_refuse_the_response(finish_reason: str, calls: Any) -> None:
    assert code_of(completion(choice(finish_reason=finish_reason, tool_calls=calls))) == "malformed_tool_calls"


@pytest.mark.parametrize(
    "broken",
    [
        {"id": "c", "type": "function"},
        {"id": "c", "type": "function", "function": "get_weather"},
        {"id": "c", "type": "function", "function": {"arguments": "{}"}},
        {"id": "c", "type": "function", "function": {"name": "", "arguments": "{}"}},
        {"id": "c", "type": "function", "function": {"name": 7, "arguments": "{}"}},
        with_arguments({"city": "Seoul"}),
        with_arguments([]),
        with_arguments(7),
        with_arguments(False),
    ],
)
def test_a_call_of_another_shape_refuses_the_response(broken: dict[str, Any]) -> None:
    assert code_of(completion(choice(STOCK, broken))) == "malformed_tool_calls"


@pytest.mark.parametrize("second", [WEATHER, {**STOCK, "id": "call-weather"}])
def test_one_id_for_two_calls_refuses_both(second: dict[str, Any]) -> None:
    assert code_of(completion(choice(WEATHER, second))) == "duplicate_call_id"


@pytest.mark.parametrize("call_id", [{}, {"id": None}, {"id": ""}, {"id": 7}, {"id": ["x"]}])
def test_a_call_that_cannot_be_answered_refuses_the_response(call_id: dict[str, Any]) -> None:
    nameless = {key: value for key, value in WEATHER.items() if key != "id"} | call_id
    assert code_of(completion(choice(STOCK, nameless))) == "missing_call_id"


def test_the_free_text_of_a_custom_tool_is_its_one_argument() -> None:
    turn = openai_chat.read(completion(choice(WEATHER, CUSTOM)))
    assert turn.proposals == (PROPOSALS[0], Proposal("call-sql", "run_sql", {"input": "select 1"}))
    assert [answer["tool_call_id"] for answer in openai_chat.write(turn, results_for(turn))[1:]] == [
        "call-weather",
        "call-sql",
    ]


@pytest.mark.parametrize("text", ["", "null", '{"city":"Seoul"}', "naïve 서울"])
def test_the_text_of_a_custom_tool_is_never_taken_for_json(text: str) -> None:
    called = {**CUSTOM, "custom": {"name": "run_sql", "input": text}}
    assert openai_chat.read(completion(choice(called))).proposals[0].arguments == {"input": text}


@pytest.mark.parametrize("text", ["\0", "x" * 1_100_000])
def test_a_text_that_no_argument_may_be_spoils_its_own_call_only(text: str) -> None:
    called = {**CUSTOM, "custom": {"name": "run_sql", "input": text}}
    spoilt, sound = openai_chat.read(completion(choice(called, STOCK))).proposals
    assert (spoilt.call_id, spoilt.fault) == ("call-sql", "invalid_arguments_json")
    assert sound == PROPOSALS[1]


@pytest.mark.parametrize(
    "custom",
    [
        {"name": "run_sql"},
        {"name": "run_sql", "input": None},
        {"name": "run_sql", "input": {"sql": "select 1"}},
        {"input": "select 1"},
        {"name": "", "input": "select 1"},
        "run_sql",
        None,
    ],
)
def test_a_custom_call_of_another_shape_refuses_the_response(custom: Any) -> None:
    assert code_of(completion(choice(STOCK, {**CUSTOM, "custom": custom}))) == "malformed_tool_calls"


def test_a_custom_call_needs_an_id_of_its_own_like_any_other() -> None:
    assert code_of(completion(choice(CUSTOM, {**STOCK, "id": "call-sql"}))) == "duplicate_call_id"
    assert code_of(completion(choice({**CUSTOM, "id": ""}))) == "missing_call_id"


@pytest.mark.parametrize("legacy", [{"name": "get_weather"}, {"name": "get_weather", "arguments": ""}])
def test_a_call_of_the_deprecated_form_may_have_no_arguments(legacy: dict[str, Any]) -> None:
    turn = openai_chat.read(completion(choice(finish_reason="stop", function_call=legacy, tool_calls=[])))
    assert turn.proposals == (Proposal("function_call", "get_weather", {}),)


def test_broken_arguments_of_the_deprecated_form_are_a_fault_of_the_call_that_is_answered_in_it() -> None:
    legacy = {"name": "get_weather", "arguments": "{"}
    turn = openai_chat.read(completion(choice(finish_reason="function_call", function_call=legacy, tool_calls=None)))
    assert turn.proposals[0].fault == "invalid_arguments_json"
    assert openai_chat.write(turn, results_for(turn))[1]["role"] == "function"


@pytest.mark.parametrize("legacy", ["get_weather", ["get_weather"], {"arguments": "{}"}, {"name": 7}])
def test_a_call_of_the_deprecated_form_of_another_shape_refuses_the_response(legacy: Any) -> None:
    called = choice(finish_reason="function_call", function_call=legacy, tool_calls=None)
    assert code_of(completion(called)) == "malformed_tool_calls"


def test_an_ordinary_call_may_bear_the_id_that_stands_for_a_deprecated_one() -> None:
    turn = openai_chat.read(completion(choice({**WEATHER, "id": "function_call"})))
    assert openai_chat.write(turn, results_for(turn))[1]["role"] == "tool"


def test_a_call_of_the_deprecated_form_is_answered_in_it() -> None:
    turn = openai_chat.read(completion(choice(finish_reason="function_call", function_call=LEGACY, tool_calls=None)))
    assert turn.proposals == (Proposal("function_call", "get_weather", {}),)
    _, answer = openai_chat.write(turn, results_for(turn))
    assert (answer["role"], answer["name"]) == ("function", "get_weather")
    assert json.loads(answer["content"]) == results_for(turn)[0].body()
    assert "tool_call_id" not in answer


def test_calls_of_both_forms_at_once_are_refused() -> None:
    assert code_of(completion(choice(WEATHER, function_call=LEGACY))) == "malformed_tool_calls"
    assert code_of(completion(choice(WEATHER, function_call="get_weather"))) == "malformed_tool_calls"


@pytest.mark.parametrize("shell", [None, {}, {"name": "", "arguments": ""}])
def test_the_empty_shell_of_a_legacy_call_is_no_call(shell: Any) -> None:
    assert openai_chat.read(completion(choice(WEATHER, function_call=shell))).proposals == PROPOSALS[:1]


def test_an_unknown_kind_of_call_refuses_the_response() -> None:
    assert code_of(completion(choice(WEATHER, {**STOCK, "type": "plugin"}))) == "unknown_block_type"


def test_a_call_that_leaves_its_kind_out_is_a_function_call() -> None:
    untyped = {key: value for key, value in WEATHER.items() if key != "type"}
    assert openai_chat.read(completion(choice(untyped))).proposals == PROPOSALS[:1]


def test_a_refusal_beside_calls_runs_nothing() -> None:
    assert code_of(completion(choice(WEATHER, refusal="I would rather not."))) == "refused_response"
    spoken = choice(finish_reason="stop", refusal="I would rather not.", tool_calls=None)
    assert openai_chat.read(completion(spoken)).proposals == ()


@pytest.mark.parametrize(
    "choices",
    [
        [choice(WEATHER), choice(STOCK)],
        [choice(finish_reason="stop"), choice(STOCK)],
        [choice(finish_reason="stop"), choice(function_call=LEGACY, tool_calls=None)],
    ],
)
def test_several_choices_with_calls_are_refused_because_only_one_can_be_meant(choices: list[dict[str, Any]]) -> None:
    with pytest.raises(ResponseRefused) as refused:
        openai_chat.read(completion(*choices))
    assert refused.value.code == "malformed_envelope"
    assert refused.value.details[0].code == "several_choices_with_calls"


def test_of_several_choices_without_calls_the_first_is_echoed() -> None:
    first, second = choice(finish_reason="stop", content="a"), choice(finish_reason="stop", content="b")
    turn = openai_chat.read(completion(first, second))
    assert turn.proposals == ()
    assert turn.echo[0]["content"] == "a"


@pytest.mark.parametrize(
    "response",
    [
        {"choices": None},
        {"choices": []},
        {"choices": ["text"]},
        {"choices": [{"finish_reason": "stop"}]},
        {"choices": [{"finish_reason": "stop", "message": "text"}]},
        {"choices": [{"finish_reason": "stop", "message": {"role": "user", "content": "hello"}}]},
    ],
)
def test_a_completion_of_another_shape_is_refused(response: dict[str, Any]) -> None:
    assert code_of(response) == "malformed_envelope"


CALL = "/choices/0/message/tool_calls/1"
"""The place of a second call."""


@pytest.mark.parametrize(
    ("response", "path"),
    [
        ({}, "/choices"),
        ({"choices": [{"finish_reason": "stop"}]}, "/choices/0/message"),
        ({"finish_reason": "stop", "message": "text"}, "/message"),
        (completion(choice(role="user")), "/choices/0/message/role"),
        (completion(choice(WEATHER, finish_reason="length")), "/choices/0/finish_reason"),
        (completion(choice(WEATHER, finish_reason="soon")), "/choices/0/finish_reason"),
        (completion(choice(tool_calls=[])), "/choices/0/finish_reason"),
        (completion(choice(WEATHER, refusal="No.")), "/choices/0/message/refusal"),
        (completion(choice(tool_calls="call")), "/choices/0/message/tool_calls"),
        (completion(choice(WEATHER, WEATHER)), "/choices/0/message/tool_calls"),
        (completion(choice(WEATHER, {**STOCK, "id": ""})), f"{CALL}/id"),
        (completion(choice(WEATHER, {**STOCK, "type": "plugin"})), f"{CALL}/type"),
        (completion(choice(WEATHER, {**STOCK, "function": None})), f"{CALL}/function"),
        (completion(choice(WEATHER, {**STOCK, "function": {}})), f"{CALL}/function/name"),
        (completion(choice(STOCK, with_arguments({}))), f"{CALL}/function/arguments"),
        (completion(choice(WEATHER, {**CUSTOM, "custom": None})), f"{CALL}/custom"),
        (completion(choice(WEATHER, {**CUSTOM, "custom": {"input": ""}})), f"{CALL}/custom/name"),
        (completion(choice(WEATHER, {**CUSTOM, "custom": {"name": "n"}})), f"{CALL}/custom/input"),
        (completion(choice(WEATHER, function_call=LEGACY)), "/choices/0/message/function_call"),
        (completion(choice(function_call="call", tool_calls=None)), "/choices/0/message/function_call"),
        (completion(choice(function_call={"name": 7}, tool_calls=None)), "/choices/0/message/function_call/name"),
    ],
)
def test_a_refusal_says_where(response: dict[str, Any], path: str) -> None:
    with pytest.raises(ResponseRefused) as refused:
        openai_chat.read(response)
    assert [detail.path for detail in refused.value.details] == [path]


def test_a_message_beside_the_choices_is_not_one_of_them() -> None:
    stray = {**completion(choice(WEATHER)), "message": {"role": "assistant", "tool_calls": [STOCK]}}
    assert openai_chat.read(stray).proposals == PROPOSALS[:1]


def test_a_choice_alone_is_read_as_well() -> None:
    turn = openai_chat.read(choice(WEATHER))
    assert (turn.proposals, turn.request_id) == (PROPOSALS[:1], None)


@pytest.mark.parametrize("arguments", ["", None])
def test_no_arguments_at_all_are_an_empty_object(arguments: Any) -> None:
    assert read_arguments(arguments) == Proposal("call-weather", "get_weather", {})


def test_missing_arguments_are_an_empty_object() -> None:
    bare = {**WEATHER, "function": {"name": "get_weather"}}
    assert openai_chat.read(completion(choice(bare))).proposals[0].arguments == {}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("null", None),
        ('"{\\"city\\":\\"Seoul\\"}"', '{"city":"Seoul"}'),
        ('{"edits":"[1]"}', {"edits": "[1]"}),
        ("[]", []),
        ('{"id":9007199254740993,"rate":0.10}', {"id": 9007199254740993, "rate": Decimal("0.10")}),
    ],
)
def test_arguments_are_decoded_once_and_left_to_the_schema(text: str, value: Any) -> None:
    assert read_arguments(text) == Proposal("call-weather", "get_weather", value)


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ('{"city":', "not_json"),
        ("{city: Seoul}", "not_json"),
        ('{"a":1}{"b":2}', "not_json"),
        (" ", "not_json"),
        ('{"amount":1,"\\u0061mount":2}', "duplicate_key"),
        ('{"limit":NaN}', "non_finite_number"),
        ('{"limit":1e400}', "number_overflow"),
        ('{"t":"\\ud83d"}', "lone_surrogate"),
        ("[" * 100_000, "too_deep"),
        (" " * 1_100_000, "too_large"),
    ],
)
def test_broken_arguments_spoil_their_own_call_only_and_are_never_repaired(text: str, detail: str) -> None:
    spoilt, sound = openai_chat.read(completion(choice(with_arguments(text), STOCK))).proposals
    assert (spoilt.fault, spoilt.fault_details[0].code) == ("invalid_arguments_json", detail)
    assert (spoilt.call_id, spoilt.arguments) == ("call-weather", None)
    assert sound == PROPOSALS[1]


def test_the_message_is_echoed_with_its_broken_arguments_and_unknown_keys() -> None:
    said = choice(with_arguments('{"city":'), reasoning_content="hm", annotations=[])["message"]
    assert openai_chat.read(completion({"finish_reason": "tool_calls", "message": said})).echo == (said,)


@pytest.mark.parametrize("role", [{}, {"role": None}])
def test_a_message_that_leaves_its_role_out_is_echoed_as_the_assistants(role: dict[str, Any]) -> None:
    turn = openai_chat.read({"finish_reason": "tool_calls", "message": {**role, "tool_calls": [WEATHER]}})
    assert turn.echo == ({"role": "assistant", "tool_calls": [WEATHER]},)


def test_a_content_that_is_null_goes_back_as_no_words_when_nothing_stands_in_its_place() -> None:
    said = {"role": "assistant", "content": None, "refusal": None, "reasoning_content": "hm"}
    assert openai_chat.read({"finish_reason": "stop", "message": said}).echo == ({**said, "content": ""},)


@pytest.mark.parametrize("instead", [{"refusal": "I will not."}, {"audio": {"id": "audio-1"}}])
def test_a_content_that_is_null_beside_something_else_goes_back_as_it_came(instead: dict[str, Any]) -> None:
    said = {"role": "assistant", "content": None, **instead}
    assert openai_chat.read({"finish_reason": "stop", "message": said}).echo == (said,)


def test_what_goes_back_is_what_came_to_the_last_character() -> None:
    text = (
        '{"tool_calls":[{"function":{"arguments":"{ \\"n\\": 1.0 }","name":"get_weather"},"type":"function",'
        '"id":"call-weather","x_vendor":[1.50,12345678901234567890,{"z":null,"a":""}]}],"content":"서울","role":"assistant"}'
    )
    turn = openai_chat.read({"finish_reason": "tool_calls", "message": strict_json.parse(text)})
    assert strict_json.dump(turn.echo[0]) == text


def test_long_ids_and_unknown_tools_pass_through() -> None:
    strange = Proposal("x" * 300, "multi_tool_use.parallel", {})
    assert openai_chat.read(completion(choice(tool_call(strange)))).proposals == (strange,)


def test_each_call_is_answered_by_one_tool_message_in_call_order() -> None:
    turn = openai_chat.read(RESPONSES["openai-chat"])
    echo, *answers = openai_chat.write(turn, RESULTS)
    assert echo == RESPONSES["openai-chat"]["choices"][0]["message"]
    assert [(answer["role"], answer["tool_call_id"]) for answer in answers] == [
        ("tool", "call-weather"),
        ("tool", "call-stock"),
        ("tool", "call-news"),
    ]
    assert [json.loads(answer["content"]) for answer in answers] == [result.body() for result in reversed(RESULTS)]


def test_the_text_of_an_answer_tells_that_it_is_an_error() -> None:
    _, _, stock, _ = openai_chat.write(openai_chat.read(RESPONSES["openai-chat"]), RESULTS)
    assert json.loads(stock["content"])["error"]["code"] == "upstream_unavailable"


@pytest.mark.parametrize("more", [{}, {"deferred": True}, {"examples": ({"city": "Seoul"},)}])
def test_a_definition_is_listed_as_a_function_and_the_surface_knows_no_more_of_it(more: dict[str, Any]) -> None:
    schema = {"type": "object", "properties": {}}
    assert openai_chat.render(ToolDefinition("get_weather", "Reads the weather.", schema, **more)) == {
        "type": "function",
        "function": {"name": "get_weather", "description": "Reads the weather.", "parameters": schema},
    }


def test_a_definition_is_strict_when_it_says_so() -> None:
    rendered = openai_chat.render(ToolDefinition("get_weather", "Reads the weather.", {"type": "object"}, strict=True))
    assert rendered["function"]["strict"] is True
