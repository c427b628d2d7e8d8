"""OpenAI Responses: what is written."""

import json
from typing import Any

import pytest

from adapters import strict_json
from adapters.envelopes import openai_responses, transcript
from adapters.envelopes.envelope import ToolDefinition
from tests.unit.openai_responses_items import (
    ADDED_TOOLS,
    APPROVAL,
    BY_PROGRAM,
    CALLS,
    DIRECT,
    EVERYTHING,
    FUNCTION_TOOL,
    HOSTED_ITEMS,
    NAMESPACE_TOOL,
    PROGRAM,
    QUERY,
    REASONING,
    SEARCH,
    STOCK,
    TEXT,
    WEATHER,
    response,
    without,
)
from workflows.domain.errors import CorrelationBroken, Detail
from workflows.domain.proposal import CallError, CallResult, Proposal, Status

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def succeeded(proposal: Proposal, data: Any = None) -> CallResult:
    return CallResult(proposal.call_id, proposal.tool_name, Status.SUCCEEDED, data=data)


def failed(proposal: Proposal, error: CallError, *, final: bool = True) -> CallResult:
    status = Status.FAILED_TERMINAL if final else Status.FAILED_RETRYABLE
    return CallResult(proposal.call_id, proposal.tool_name, status, error=error, final=final)


def pending(proposal: Proposal) -> CallResult:
    return failed(proposal, CallError("approval_required", operation_id="op-1"), final=False)


def answers(body: dict[str, Any], result: Any) -> list[dict[str, Any]]:
    """What is written behind the items of `body` when each of its calls comes to `result`."""
    turn = openai_responses.read(body)
    written = openai_responses.write(turn, [result(proposal) for proposal in turn.proposals])
    assert written[: len(turn.echo)] == list(turn.echo)
    return written[len(turn.echo) :]


def answer(item: dict[str, Any], result: Any) -> dict[str, Any]:
    [only] = answers(response(item), result)
    return only


def test_each_call_is_answered_in_its_own_form_and_in_call_order() -> None:
    assert [(item["type"], item.get("call_id")) for item in answers(EVERYTHING, succeeded)] == [
        ("function_call_output", "call-weather"),
        ("custom_tool_call_output", "call-query"),
        ("tool_search_output", "call-search"),
        ("mcp_approval_response", None),
    ]


@pytest.mark.parametrize("result", [succeeded, lambda proposal: failed(proposal, CallError("approval_denied"))])
def test_what_is_written_is_a_conversation_that_the_provider_goes_on_with(result: Any) -> None:
    turn = openai_responses.read(EVERYTHING)
    question = {"role": "user", "content": "What about my order?"}
    written = openai_responses.write(turn, [result(proposal) for proposal in turn.proposals])
    transcript.require_sound("openai-responses", [question, *written])
    with pytest.raises(transcript.TranscriptRefused):
        transcript.require_sound("openai-responses", [question, *written[:-1]])


def test_the_items_go_back_as_they_came_and_in_their_order() -> None:
    items = (REASONING, {**TEXT, "mood": "calm"}, PROGRAM, {**WEATHER, "caller": BY_PROGRAM, "sealed": {"by": None}})
    turn = openai_responses.read(response(*items))
    assert turn.echo == items
    assert openai_responses.write(turn, map(succeeded, turn.proposals))[:-1] == list(items)


def test_the_answer_to_a_function_is_the_text_of_its_result() -> None:
    written = answer(WEATHER, lambda proposal: succeeded(proposal, {"temperature": 22}))
    assert written == {
        "type": "function_call_output",
        "call_id": "call-weather",
        "output": '{"status":"succeeded","data":{"temperature":22}}',
    }


def test_the_text_of_an_answer_tells_that_it_is_an_error() -> None:
    error = CallError("invalid_arguments", (Detail("/city", "missing", "a string"),))
    for item in (WEATHER, QUERY):
        written = answer(item, lambda proposal: failed(proposal, error))
        told = json.loads(written["output"])
        assert (told["status"], told["error"]["code"]) == ("failed_terminal", "invalid_arguments")


def test_the_answer_gives_caller_and_namespace_back() -> None:
    called = {"caller": BY_PROGRAM, "namespace": "crm"}
    assert answer(WEATHER | called, succeeded).items() >= called.items()
    assert answer({**QUERY, "caller": DIRECT, "namespace": "crm"}, succeeded) == {
        "type": "custom_tool_call_output",
        "call_id": "call-query",
        "output": '{"status":"succeeded","data":null}',
        "caller": DIRECT,
    }


def test_the_namespace_of_a_function_that_was_brought_up_alone_goes_back_too() -> None:
    assert answer({**WEATHER, "namespace": "get_weather"}, succeeded)["namespace"] == "get_weather"


# ── tool search ──


def found(*tools: Any) -> dict[str, Any]:
    return answer(SEARCH, lambda proposal: succeeded(proposal, {"tools": list(tools)}))


def test_the_tools_that_a_clients_search_has_found_are_defined_for_the_provider() -> None:
    assert found(FUNCTION_TOOL, NAMESPACE_TOOL) == {
        "type": "tool_search_output",
        "call_id": "call-search",
        "execution": "client",
        "status": "completed",
        "tools": [FUNCTION_TOOL, NAMESPACE_TOOL],
    }


def test_a_definition_as_it_is_rendered_is_taken_as_it_is() -> None:
    rendered = openai_responses.render(ToolDefinition("get_weather", "Reads the weather.", SCHEMA, deferred=True))
    assert found(rendered)["tools"] == [rendered]


def test_a_function_always_says_its_parameters_and_whether_they_are_strict() -> None:
    assert found({"name": "ping"}, without(FUNCTION_TOOL, "strict"))["tools"] == [
        {"type": "function", "name": "ping", "parameters": None, "strict": False},
        FUNCTION_TOOL,
    ]


@pytest.mark.parametrize("data", [None, [], "tools", {}, {"tools": None}, {"tools": "get_refund"}, {"tools": 7}])
def test_data_of_another_shape_have_found_nothing(data: Any) -> None:
    assert answer(SEARCH, lambda proposal: succeeded(proposal, data))["tools"] == []


def test_what_is_no_definition_is_not_told_of() -> None:
    assert found("get_refund", {"name": ""}, {"type": "function"}, FUNCTION_TOOL)["tools"] == [FUNCTION_TOOL]


@pytest.mark.parametrize("final", [True, False])
def test_a_search_that_failed_has_found_nothing(final: bool) -> None:
    error = CallError("upstream_unavailable")
    assert answer(SEARCH, lambda proposal: failed(proposal, error, final=final)) == {
        "type": "tool_search_output",
        "call_id": "call-search",
        "execution": "client",
        "status": "completed",
        "tools": [],
    }


@pytest.mark.parametrize("item", [WEATHER, QUERY, SEARCH], ids=lambda item: str(item["type"]))
def test_a_result_that_has_no_json_form_is_not_written(item: dict[str, Any]) -> None:
    with pytest.raises(strict_json.StrictJsonError):
        answer(item, lambda proposal: succeeded(proposal, {"tools": [{"name": "x", "description": float("nan")}]}))


# ── approval ──


def test_a_request_is_approved_only_by_success() -> None:
    assert answer(APPROVAL, succeeded) == {
        "type": "mcp_approval_response",
        "approval_request_id": "mcpr_1",
        "approve": True,
    }


@pytest.mark.parametrize("status", [Status.FAILED_TERMINAL, Status.FAILED_RETRYABLE])
def test_a_request_that_came_to_anything_else_is_not_approved_and_says_why(status: Status) -> None:
    def denied(proposal: Proposal) -> CallResult:
        return CallResult(proposal.call_id, proposal.tool_name, status, error=CallError("approval_denied"))

    assert answer(APPROVAL, denied) == {
        "type": "mcp_approval_response",
        "approval_request_id": "mcpr_1",
        "approve": False,
        "reason": "approval_denied: A person denied this operation.",
    }


def test_the_reason_is_short() -> None:
    error = CallError("x" * 300)
    assert len(answer(APPROVAL, lambda proposal: failed(proposal, error))["reason"]) == 200


# ── what is not final yet ──


@pytest.mark.parametrize(
    ("item", "kinds"),
    [
        (WEATHER, ["function_call_output"]),
        ({**WEATHER, "async": False}, ["function_call_output"]),
        ({**WEATHER, "async": "true"}, ["function_call_output"]),
        (QUERY, ["custom_tool_call_output"]),
        (SEARCH, ["tool_search_output"]),
        ({**WEATHER, "async": True}, []),
        ({**QUERY, "async": True}, []),
        (APPROVAL, []),
    ],
)
def test_an_open_call_is_answered_at_once_unless_the_provider_takes_its_answer_later(
    item: dict[str, Any], kinds: list[str]
) -> None:
    assert [written["type"] for written in answers(response(item), pending)] == kinds


def test_the_true_answer_of_a_call_that_waited_is_given_when_it_is_final() -> None:
    body = response({**WEATHER, "async": True}, {**QUERY, "async": True}, APPROVAL)
    assert [written["type"] for written in answers(body, succeeded)] == [
        "function_call_output",
        "custom_tool_call_output",
        "mcp_approval_response",
    ]


def test_only_what_waits_is_left_out_beside_what_is_answered() -> None:
    body = response({**WEATHER, "async": True}, STOCK, APPROVAL)
    assert [written["call_id"] for written in answers(body, pending)] == ["call-stock"]


# ── results and proposals ──


@pytest.mark.parametrize(
    ("results", "code"),
    [
        ([], "missing_result"),
        ([CallResult("call-other", "get_weather", Status.SUCCEEDED)], "extra_result"),
        ([CallResult("call-weather", "get_stock", Status.SUCCEEDED)], "tool_name_mismatch"),
    ],
)
def test_results_that_are_not_one_for_each_call_are_not_written(results: list[CallResult], code: str) -> None:
    with pytest.raises(CorrelationBroken) as broken:
        openai_responses.write(openai_responses.read(response(WEATHER)), results)
    assert broken.value.code == code


def test_what_the_provider_ran_takes_no_results() -> None:
    turn = openai_responses.read(response(*HOSTED_ITEMS))
    with pytest.raises(CorrelationBroken):
        openai_responses.write(turn, [CallResult("mcp_1", "ask", Status.SUCCEEDED)])


def test_reading_and_writing_leave_the_response_as_it_was() -> None:
    noisy = [{**item, "created_by": "user-1", "status": None} for item in (*HOSTED_ITEMS, *CALLS, ADDED_TOOLS)]
    body, before = response(*noisy), strict_json.dump(response(*noisy))
    answers(body, succeeded)
    assert strict_json.dump(body) == before


# ── definitions ──


@pytest.mark.parametrize("strict", [True, False])
def test_a_definition_always_says_whether_it_is_strict(strict: bool) -> None:
    definition = ToolDefinition(
        "get_weather", "Reads the weather.", SCHEMA, strict=strict, examples=({"city": "Rome"},)
    )
    assert openai_responses.render(definition) == {
        "type": "function",
        "name": "get_weather",
        "description": "Reads the weather.",
        "parameters": SCHEMA,
        "strict": strict,
    }


def test_a_deferred_definition_says_so() -> None:
    rendered = openai_responses.render(ToolDefinition("get_weather", "Reads the weather.", SCHEMA, deferred=True))
    assert rendered["defer_loading"] is True
