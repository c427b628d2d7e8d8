"""Anthropic Messages: what is read, refused and written."""

import json
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from adapters import strict_json
from adapters.envelopes import anthropic_messages
from adapters.envelopes.envelope import ReadTurn, ToolDefinition
from tests.unit.three_reads import PROPOSALS, RESPONSES, RESULTS, message, tool_use
from workflows.domain.errors import CorrelationBroken, ResponseRefused
from workflows.domain.proposal import CallResult, Proposal, Status

WEATHER = tool_use(PROPOSALS[0])
STOCK = tool_use(PROPOSALS[1])
TEXT = {"type": "text", "text": "One moment."}
SERVER_SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "ACME"}}
SERVER_FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
HOSTED = {"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "ask", "server_name": "wiki", "input": {}}
HOSTED_RESULT = {"type": "mcp_tool_result", "tool_use_id": "mcptoolu_1", "is_error": False, "content": []}


def code_of(response: Any) -> str:
    with pytest.raises(ResponseRefused) as refused:
        anthropic_messages.read(response)
    return refused.value.code


def results_for(turn: ReadTurn) -> list[CallResult]:
    return [CallResult(each.call_id, each.tool_name, Status.SUCCEEDED, {"done": True}) for each in turn.proposals]


def without(block: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in block.items() if name != key}


@pytest.mark.parametrize("stop_reason", ["end_turn", "stop_sequence", None, "soon_to_be_invented"])
def test_an_answer_without_calls_gives_no_proposals(stop_reason: str | None) -> None:
    turn = anthropic_messages.read(message(TEXT, stop_reason=stop_reason))
    assert turn.proposals == ()
    assert anthropic_messages.write(turn, []) == [{"role": "assistant", "content": [TEXT]}]


def test_an_answer_without_calls_takes_no_results() -> None:
    turn = anthropic_messages.read(message(TEXT, stop_reason="end_turn"))
    with pytest.raises(CorrelationBroken):
        anthropic_messages.write(turn, RESULTS)


def test_text_between_calls_hides_none_of_them() -> None:
    turn = anthropic_messages.read(message(TEXT, WEATHER, TEXT, STOCK, TEXT))
    assert turn.proposals == PROPOSALS[:2]


@pytest.mark.parametrize(
    ("stop_reason", "code"),
    [
        ("max_tokens", "incomplete_response"),
        ("model_context_window_exceeded", "incomplete_response"),
        ("refusal", "refused_response"),
    ],
)
@pytest.mark.parametrize("blocks", [(TEXT,), (WEATHER,), (WEATHER, STOCK)])
def test_a_response_that_was_broken_off_runs_nothing(
    stop_reason: str, code: str, blocks: tuple[dict[str, Any], ...]
) -> None:
    assert code_of(message(*blocks, stop_reason=stop_reason)) == code


@pytest.mark.parametrize("stop_reason", ["pause_turn", "compaction"])
@pytest.mark.parametrize("blocks", [(TEXT,), (SERVER_SEARCH,), (WEATHER, WEATHER), (without(STOCK, "id"),)])
def test_a_paused_response_runs_nothing_and_goes_back_as_it_came(
    stop_reason: str, blocks: tuple[dict[str, Any], ...]
) -> None:
    turn = anthropic_messages.read(message(*blocks, stop_reason=stop_reason))
    assert (turn.paused, turn.proposals) == (True, ())
    assert anthropic_messages.write(turn, []) == [{"role": "assistant", "content": list(blocks)}]


def test_a_response_that_ended_is_not_paused() -> None:
    assert not anthropic_messages.read(message(WEATHER)).paused


@pytest.mark.parametrize("stop_reason", ["end_turn", "stop_sequence", None, "", 1, ["tool_use"], "soon_to_be_invented"])
def test_calls_that_the_stop_reason_does_not_announce_are_not_run(stop_reason: Any) -> None:
    assert code_of(message(WEATHER, stop_reason=stop_reason)) == "unknown_stop_signal"


@pytest.mark.parametrize("blocks", [(), (TEXT,), (SERVER_SEARCH, SERVER_FOUND)])
def test_a_signal_for_calls_without_calls_is_an_error(blocks: tuple[dict[str, Any], ...]) -> None:
    assert code_of(message(*blocks)) == "missing_tool_calls"


def test_a_cut_response_is_called_incomplete_even_if_its_last_call_is_misshapen() -> None:
    assert code_of(message(WEATHER, without(STOCK, "input"), stop_reason="max_tokens")) == "incomplete_response"


@pytest.mark.parametrize("second", [WEATHER, {**STOCK, "id": "call-weather"}])
def test_one_id_for_two_calls_refuses_both(second: dict[str, Any]) -> None:
    assert code_of(message(WEATHER, second)) == "duplicate_call_id"


@pytest.mark.parametrize("call_id", [None, "", 7, ["call-weather"], {}])
def test_a_call_that_cannot_be_answered_refuses_the_response(call_id: Any) -> None:
    assert code_of(message(STOCK, {**WEATHER, "id": call_id})) == "missing_call_id"
    assert code_of(message(STOCK, without(WEATHER, "id"))) == "missing_call_id"


@pytest.mark.parametrize(
    "broken",
    [
        without(WEATHER, "name"),
        {**WEATHER, "name": ""},
        {**WEATHER, "name": 7},
        without(WEATHER, "input"),
        {**WEATHER, "input": None},
        {**WEATHER, "input": '{"city":"Seoul"}'},
        {**WEATHER, "input": []},
    ],
)
def test_a_call_of_another_shape_refuses_the_response(broken: dict[str, Any]) -> None:
    assert code_of(message(STOCK, broken)) == "malformed_tool_calls"


@pytest.mark.parametrize(
    "response",
    [
        message(stop_reason="end_turn", type="error"),
        message(stop_reason="end_turn", role="user"),
        message(stop_reason="end_turn", content="text"),
        message(stop_reason="end_turn", content=None),
        message(stop_reason="end_turn", content=["text"]),
        message({"text": "no type"}, stop_reason="end_turn"),
        message({"type": ["tool_use"]}, stop_reason="end_turn"),
    ],
)
def test_a_message_of_another_shape_is_refused(response: dict[str, Any]) -> None:
    assert code_of(response) == "malformed_envelope"


@pytest.mark.parametrize(
    ("response", "path"),
    [
        (message(WEATHER, type="error"), "/type"),
        (message(WEATHER, role="user"), "/role"),
        (message(content="text"), "/content"),
        (message(WEATHER, content=[WEATHER, "text"]), "/content/1"),
        (message(WEATHER, {"text": "no type"}), "/content/1/type"),
        (message(WEATHER, {**STOCK, "type": "device_tool_use"}), "/content/1/type"),
        (message(WEATHER, without(STOCK, "id")), "/content/1/id"),
        (message(WEATHER, without(STOCK, "name")), "/content/1/name"),
        (message(WEATHER, without(STOCK, "input")), "/content/1/input"),
        (message(WEATHER, {**STOCK, "toolset_name": 7}), "/content/1/toolset_name"),
        (message(WEATHER, WEATHER), "/content"),
        (message(WEATHER, stop_reason="max_tokens"), "/stop_reason"),
        (message(WEATHER, stop_reason="soon"), "/stop_reason"),
        (message(TEXT), "/stop_reason"),
    ],
)
def test_a_refusal_says_where(response: dict[str, Any], path: str) -> None:
    with pytest.raises(ResponseRefused) as refused:
        anthropic_messages.read(response)
    assert [detail.path for detail in refused.value.details] == [path]


@pytest.mark.parametrize(
    "block",
    [
        {"type": "device_tool_use"},
        {"type": "function_call", "id": "x", "name": "get_weather"},
        {"type": "function_call", "id": "x", "input": {}},
    ],
)
def test_an_unknown_block_that_might_be_a_call_refuses_the_response(block: dict[str, Any]) -> None:
    assert code_of(message(block, stop_reason="end_turn")) == "unknown_block_type"
    assert code_of(message(WEATHER, block)) == "unknown_block_type"


@pytest.mark.parametrize(
    "block",
    [
        {"type": "aside", "id": "a1", "mood": "calm"},
        {"type": "dreaming_tool_result", "id": "r1", "tool_use_id": "srvtoolu_1", "name": "dreaming"},
    ],
)
def test_an_unknown_block_that_cannot_be_a_call_is_echoed(block: dict[str, Any]) -> None:
    assert anthropic_messages.read(message(block, WEATHER)).echo[0]["content"] == [block, WEATHER]


def test_work_of_the_provider_is_neither_run_nor_answered() -> None:
    blocks = (HOSTED, HOSTED_RESULT, SERVER_SEARCH, SERVER_FOUND, {"type": "container_upload", "file_id": "f"}, WEATHER)
    turn = anthropic_messages.read(message(*blocks))
    assert turn.proposals == PROPOSALS[:1]
    assert turn.echo[0]["content"] == list(blocks)


@pytest.mark.parametrize("version", ["20250825", "20260120", "20260521"])
def test_a_call_made_by_the_providers_own_code_is_a_call_and_is_answered_like_any(version: str) -> None:
    program = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "code_execution", "input": {"code": "…"}}
    called = tool_use(PROPOSALS[0], caller={"type": f"code_execution_{version}", "tool_id": "srvtoolu_1"})
    turn = anthropic_messages.read(message(program, called))
    assert turn.proposals == PROPOSALS[:1]
    echo, answer = anthropic_messages.write(turn, results_for(turn))
    assert echo["content"] == [program, called]
    assert [sorted(block) for block in answer["content"]] == [["content", "is_error", "tool_use_id", "type"]]


def test_a_call_inside_a_toolset_is_known_by_both_names_and_answered_under_both() -> None:
    turn = anthropic_messages.read(message(tool_use(PROPOSALS[0], toolset_name="browser"), STOCK))
    assert [proposal.tool_name for proposal in turn.proposals] == ["browser.get_weather", "get_stock"]
    _, answer = anthropic_messages.write(turn, results_for(turn))
    assert [block.get("toolset_name") for block in answer["content"]] == ["browser", None]
    assert "toolset_name" not in answer["content"][1]


def test_a_toolset_without_a_name_is_none() -> None:
    assert anthropic_messages.read(message(tool_use(PROPOSALS[0], toolset_name=None))).proposals == PROPOSALS[:1]


@pytest.mark.parametrize("toolset", ["", 7, {}, ["browser"]])
def test_a_toolset_of_another_shape_refuses_the_response(toolset: Any) -> None:
    assert code_of(message(tool_use(PROPOSALS[0], toolset_name=toolset))) == "malformed_tool_calls"


def test_thinking_signatures_and_unknown_keys_are_echoed_as_they_came() -> None:
    blocks: list[dict[str, Any]] = [
        {"type": "thinking", "thinking": "weather first", "signature": "EuYBCkQ=="},
        {"type": "redacted_thinking", "data": "AAEC"},
        {**TEXT, "citations": None},
        {**WEATHER, "caller": {"type": "direct"}, "x_vendor": [1, {"deep": Decimal("1.50")}]},
    ]
    turn = anthropic_messages.read(message(*blocks))
    assert turn.echo == ({"role": "assistant", "content": blocks},)


def test_empty_texts_do_not_go_back_because_the_api_takes_none() -> None:
    empty, blank = {"type": "text", "text": ""}, {"type": "text", "text": "\n"}
    turn = anthropic_messages.read(message(empty, blank, WEATHER, empty))
    assert turn.echo == ({"role": "assistant", "content": [blank, WEATHER]},)


@pytest.mark.parametrize("texts", [(), ("",), (" ", "\n"), ("", " ")])
def test_a_message_that_says_nothing_does_not_go_back(texts: tuple[str, ...]) -> None:
    blocks = [{"type": "text", "text": text} for text in texts]
    turn = anthropic_messages.read(message(*blocks, stop_reason="end_turn"))
    assert anthropic_messages.write(turn, []) == []


def test_what_goes_back_is_what_came_to_the_last_character() -> None:
    text = (
        '[{"signature":"EuYB","type":"thinking","thinking":""},{"x_vendor":[1.50,12345678901234567890,{"z":null,"a":""}],'
        '"input":{"n":1.0,"city":"서울"},"name":"get_weather","id":"call-weather","type":"tool_use"}]'
    )
    turn = anthropic_messages.read(message(*strict_json.parse(text)))
    assert strict_json.dump(turn.echo[0]["content"]) == text


def test_numbers_of_the_input_keep_their_value() -> None:
    given = {"big": 2**53 + 1, "decimal": Decimal("0.10"), "float": 0.1}
    [proposal] = anthropic_messages.read(message({**WEATHER, "input": given})).proposals
    assert proposal.arguments == {"big": 2**53 + 1, "decimal": Decimal("0.10"), "float": Decimal("0.1")}
    assert [type(value) for value in proposal.arguments.values()] == [int, Decimal, Decimal]


@pytest.mark.parametrize(
    ("value", "detail"),
    [(float("nan"), "non_finite_number"), ("\ud83d", "lone_surrogate"), ({1: "one"}, "not_json")],
)
def test_an_input_that_is_no_strict_json_spoils_its_own_call_only(value: Any, detail: str) -> None:
    spoilt, sound = anthropic_messages.read(message({**WEATHER, "input": {"v": value}}, STOCK)).proposals
    assert (spoilt.fault, spoilt.fault_details[0].code) == ("invalid_arguments_json", detail)
    assert spoilt.arguments is None
    assert sound == PROPOSALS[1]


def test_long_ids_and_unknown_tools_pass_through() -> None:
    strange = Proposal("x" * 300, "multi_tool_use.parallel", {})
    assert anthropic_messages.read(message(tool_use(strange))).proposals == (strange,)


def test_a_response_without_an_id_has_no_request_id() -> None:
    assert anthropic_messages.read({"content": [WEATHER], "stop_reason": "tool_use"}).request_id is None


def test_all_answers_stand_in_one_user_message_in_call_order() -> None:
    turn = anthropic_messages.read(RESPONSES["anthropic-messages"])
    echo, answer = anthropic_messages.write(turn, RESULTS)
    assert echo == turn.echo[0]
    assert answer["role"] == "user"
    assert [(b["type"], b["tool_use_id"], b["is_error"]) for b in answer["content"]] == [
        ("tool_result", "call-weather", False),
        ("tool_result", "call-stock", True),
        ("tool_result", "call-news", True),
    ]
    assert json.loads(answer["content"][0]["content"]) == RESULTS[2].body()
    assert json.loads(answer["content"][1]["content"])["error"]["retry_after_seconds"] == 0.5


def test_an_amount_is_written_with_every_digit_that_it_has() -> None:
    turn = anthropic_messages.read(message(WEATHER))
    data = {"amount": Decimal("10.10"), "city": "서울"}
    _, answer = anthropic_messages.write(turn, [CallResult("call-weather", "get_weather", Status.SUCCEEDED, data)])
    assert answer["content"][0]["content"] == '{"status":"succeeded","data":{"amount":10.10,"city":"서울"}}'


def test_a_definition_is_listed_under_its_input_schema() -> None:
    schema = {"type": "object", "properties": {}}
    assert anthropic_messages.render(ToolDefinition("get_weather", "Reads the weather.", schema)) == {
        "name": "get_weather",
        "description": "Reads the weather.",
        "input_schema": schema,
    }


@pytest.mark.parametrize(
    ("said", "listed"),
    [
        ({"strict": True}, {"strict": True}),
        ({"deferred": True}, {"defer_loading": True}),
        ({"examples": ({"city": "Seoul"}, {})}, {"input_examples": [{"city": "Seoul"}, {}]}),
    ],
)
def test_a_definition_says_what_it_was_told_to_say_and_no_more(said: dict[str, Any], listed: dict[str, Any]) -> None:
    plain = ToolDefinition("get_weather", "Reads the weather.", {"type": "object"})
    rendered = anthropic_messages.render(replace(plain, **said))
    assert rendered == anthropic_messages.render(plain) | listed


GOOD_NAMES: dict[str, Any] = {"type": "object", "properties": {"order_id": {"type": "string"}, "a.b-C_9": True}}
SPACE: dict[str, Any] = {"type": "object", "properties": {"full name": {"type": "string"}}}


@pytest.mark.parametrize("name", ["full name", "이름", "", "a/b", "$ref", "x" * 65, "line\n"])
def test_a_field_name_that_would_fail_the_whole_request_is_known(name: str) -> None:
    assert not anthropic_messages.takes({"type": "object", "properties": {"a": {"type": "string"}, name: {}}})


@pytest.mark.parametrize(
    "inside",
    [
        {"properties": {"a": SPACE}},
        {"properties": {"a": {"type": "array", "items": SPACE}}},
        {"properties": {"a": {"anyOf": [{"type": "null"}, SPACE]}}},
        {"properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": SPACE}},
        {"additionalProperties": SPACE},
        {"if": SPACE, "then": {}},
    ],
)
def test_such_a_name_is_found_at_any_depth(inside: dict[str, Any]) -> None:
    assert not anthropic_messages.takes({"type": "object", **inside})


@pytest.mark.parametrize(
    "beside",
    [
        {},
        {"examples": [{"properties": {"full name": 1}}]},
        {"default": {"properties": {"full name": 1}}},
        {"properties": {"properties": {"enum": ["full name"], "const": {"full name": 1}}}},
        {"$defs": {"a definition": GOOD_NAMES}},
        {"required": ["order_id"], "description": "full name"},
    ],
)
def test_what_is_no_field_name_may_be_anything(beside: dict[str, Any]) -> None:
    assert anthropic_messages.takes(GOOD_NAMES | beside)
