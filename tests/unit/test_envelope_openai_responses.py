"""OpenAI Responses: what is read and refused."""

from decimal import Decimal
from typing import Any

import pytest

from adapters.envelopes import openai_responses
from adapters.envelopes.envelope import HostedCall
from adapters.envelopes.openai_responses import ERROR_CODES, INCOMPLETE_REASONS, STATUSES
from adapters.envelopes.stop_signal import Calls, Meaning, Signal
from tests.unit.openai_responses_items import (
    APPROVAL,
    BY_PROGRAM,
    CODE,
    COMPUTER,
    DIRECT,
    EVERYTHING,
    HOSTED_ITEMS,
    HOSTED_SHELL,
    HOSTED_SHELL_OUTPUT,
    IMAGE,
    LOCAL_SHELL,
    MCP_CALL,
    MCP_TOOLS,
    NOT_CARRIED_OUT,
    PATCH,
    QUERY,
    REASONING,
    REFUSAL,
    SAID_ITEMS,
    SEARCH,
    SERVER_FOUND,
    SERVER_SEARCH,
    STOCK,
    TEXT,
    WEATHER,
    WEB_SEARCH,
    response,
    without,
)
from workflows.domain.errors import ERRORS, Detail, ResponseRefused
from workflows.domain.proposal import Proposal

ASKS_FOR_WEATHER = Proposal("call-weather", "get_weather", {"city": "Seoul", "unit": "celsius"})
ASKS_FOR_STOCK = Proposal("call-stock", "get_stock", {"symbol": "ACME"})


def refusal_of(body: Any) -> ResponseRefused:
    with pytest.raises(ResponseRefused) as refused:
        openai_responses.read(body)
    assert refused.value.code in ERRORS
    return refused.value


def code_of(body: Any) -> str:
    return refusal_of(body).code


def place_of(body: Any) -> tuple[str, str]:
    """The code of the refusal and where it points."""
    refused = refusal_of(body)
    [detail] = refused.details
    return refused.code, detail.path


def proposals_of(*items: dict[str, Any]) -> tuple[Proposal, ...]:
    return openai_responses.read(response(*items)).proposals


def proposal_of(item: dict[str, Any]) -> Proposal:
    [proposal] = proposals_of(item)
    return proposal


def carried_of(item: dict[str, Any]) -> dict[str, Any]:
    return dict(proposal_of(item).carried)


# ── how the response ended ──


def test_calls_of_a_completed_response_are_read_in_their_order() -> None:
    assert proposals_of(REASONING, TEXT, WEATHER, STOCK) == (ASKS_FOR_WEATHER, ASKS_FOR_STOCK)


def test_one_status_alone_stands_beside_calls() -> None:
    beside_calls = {word: signal for word, signal in STATUSES.items() if signal.calls is not Calls.NEVER}
    assert beside_calls == {"completed": Signal(Meaning.COMPLETE, Calls.MAYBE)}


@pytest.mark.parametrize("status", ["completed", None, "", "complete", "soon_to_be_invented", 7, ["completed"]])
def test_an_answer_without_calls_gives_no_proposals(status: Any) -> None:
    turn = openai_responses.read(response(REASONING, TEXT, status=status))
    assert (turn.proposals, turn.echo, turn.paused) == ((), (REASONING, TEXT), False)
    assert openai_responses.write(turn, []) == [REASONING, TEXT]


@pytest.mark.parametrize("status", [None, "", "complete", "COMPLETED", "soon_to_be_invented", 7, ["completed"]])
@pytest.mark.parametrize("call", [WEATHER, QUERY, SEARCH, APPROVAL], ids=lambda call: str(call["type"]))
def test_calls_beside_a_status_that_nobody_knows_are_not_run(status: Any, call: dict[str, Any]) -> None:
    assert place_of(response(call, status=status)) == ("unknown_stop_signal", "/status")


@pytest.mark.parametrize("status", sorted(STATUSES.keys() - {"completed"}))
@pytest.mark.parametrize("output", [(), (TEXT,), (WEATHER,), ({**WEATHER, "arguments": '{"city":"Se'},)])
def test_a_response_that_has_not_ended_by_itself_runs_nothing(status: str, output: tuple[dict[str, Any], ...]) -> None:
    assert place_of(response(*output, status=status)) == ("incomplete_response", "/status")


@pytest.mark.parametrize("reason", INCOMPLETE_REASONS)
@pytest.mark.parametrize("status", ["incomplete", "completed", None])
def test_what_made_a_response_incomplete_counts_whatever_its_status_is(reason: str, status: str | None) -> None:
    code = "refused_response" if reason == "content_filter" else "incomplete_response"
    body = response(WEATHER, status=status, incomplete_details={"reason": reason})
    assert place_of(body) == (code, "/incomplete_details")


REFUSING_CODES = {
    "invalid_prompt",
    "bio_policy",
    "misalignment_policy_violation",
    "image_content_policy_violation",
}


@pytest.mark.parametrize("code", ERROR_CODES)
@pytest.mark.parametrize("status", ["failed", "completed", None])
def test_an_error_counts_whatever_the_status_is(code: str, status: str | None) -> None:
    body = response(WEATHER, status=status, error={"code": code, "message": "No."})
    expected = "refused_response" if code in REFUSING_CODES else "incomplete_response"
    assert place_of(body) == (expected, "/error")


@pytest.mark.parametrize("said", [{"code": "soon_to_be_invented"}, {"code": None, "message": "No."}, "server_error", 7])
@pytest.mark.parametrize("member", ["error", "incomplete_details"])
def test_an_error_or_a_reason_that_nobody_knows_still_stops_everything(member: str, said: Any) -> None:
    assert place_of(response(WEATHER, **{member: said})) == ("incomplete_response", f"/{member}")


@pytest.mark.parametrize("shell", [None, "", False, [], {}, {"reason": None}, {"code": None, "message": ""}])
@pytest.mark.parametrize("member", ["error", "incomplete_details"])
def test_the_empty_shell_of_an_error_is_none(member: str, shell: Any) -> None:
    assert openai_responses.read(response(WEATHER, **{member: shell})).proposals == (ASKS_FOR_WEATHER,)


def test_a_policy_is_named_before_the_reason_beside_it() -> None:
    body = response(error={"code": "bio_policy"}, incomplete_details={"reason": "steered"}, status="incomplete")
    assert code_of(body) == "refused_response"


# ── the shape of the whole ──


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ({**response(), "object": "chat.completion"}, "/object"),
        (without(response(), "output"), "/output"),
        (response() | {"output": None}, "/output"),
        (response() | {"output": {"0": WEATHER}}, "/output"),
        (response() | {"output": [TEXT, "text"]}, "/output/1"),
        (response(without(TEXT, "type")), "/output/0/type"),
        (response(TEXT, {**TEXT, "type": ["message"]}), "/output/1/type"),
        (response({**TEXT, "role": "user"}), "/output/0/role"),
    ],
)
def test_a_response_of_another_shape_is_refused_with_its_place(body: dict[str, Any], place: str) -> None:
    assert place_of(body) == ("malformed_envelope", place)


def test_a_response_that_leaves_its_object_and_id_out_is_read() -> None:
    turn = openai_responses.read(without(response(WEATHER), "object", "id"))
    assert (turn.proposals, turn.request_id) == ((ASKS_FOR_WEATHER,), None)


# ── calls of functions ──


@pytest.mark.parametrize("arguments", ["", None])
def test_no_arguments_at_all_are_an_empty_object(arguments: Any) -> None:
    assert proposal_of({**WEATHER, "arguments": arguments}).arguments == {}
    assert proposal_of({**APPROVAL, "arguments": arguments}).arguments == {}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("null", None),
        ('"{\\"city\\":\\"Seoul\\"}"', '{"city":"Seoul"}'),
        ("[]", []),
        ('{"id":9007199254740993,"rate":0.10}', {"id": 9007199254740993, "rate": Decimal("0.10")}),
    ],
)
@pytest.mark.parametrize("call", [WEATHER, APPROVAL], ids=lambda call: str(call["type"]))
def test_arguments_are_decoded_once_and_left_to_the_schema(call: dict[str, Any], text: str, value: Any) -> None:
    proposal = proposal_of({**call, "arguments": text})
    assert (proposal.arguments, proposal.fault) == (value, None)


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ('{"city":', "not_json"),
        ('{"a":1}{"b":2}', "not_json"),
        ('{"amount":1,"\\u0061mount":2}', "duplicate_key"),
        ('{"limit":NaN}', "non_finite_number"),
        ('{"t":"\\ud83d"}', "lone_surrogate"),
        (" " * 1_100_000, "too_large"),
    ],
)
@pytest.mark.parametrize("call", [WEATHER, APPROVAL], ids=lambda call: str(call["type"]))
def test_broken_arguments_spoil_their_own_call_only(call: dict[str, Any], text: str, detail: str) -> None:
    spoilt, sound = proposals_of({**call, "arguments": text}, STOCK)
    assert (spoilt.fault, spoilt.fault_details[0].code) == ("invalid_arguments_json", detail)
    assert (spoilt.arguments, spoilt.hosted) == (None, call is APPROVAL)
    assert spoilt.carried["kind"] == call["type"]
    assert sound == ASKS_FOR_STOCK


@pytest.mark.parametrize("status", ["incomplete", "in_progress"])
@pytest.mark.parametrize("call", [WEATHER, SEARCH], ids=lambda call: str(call["type"]))
def test_a_call_that_was_cut_refuses_the_response_although_it_says_completed(call: dict[str, Any], status: str) -> None:
    assert place_of(response(STOCK, {**call, "status": status})) == ("incomplete_response", "/output/1/status")


@pytest.mark.parametrize("status", ["", "failed", 7, ["completed"]])
def test_a_call_with_a_status_that_nobody_knows_refuses_the_response(status: Any) -> None:
    assert place_of(response({**WEATHER, "status": status})) == ("malformed_envelope", "/output/0/status")


@pytest.mark.parametrize("leaving_out", [("status",), ("id",), ("status", "id")])
def test_a_call_without_status_and_item_id_is_read(leaving_out: tuple[str, ...]) -> None:
    assert proposal_of(without(WEATHER, *leaving_out)) == ASKS_FOR_WEATHER
    assert proposal_of({**WEATHER, **dict.fromkeys(leaving_out)}) == ASKS_FOR_WEATHER


def test_names_that_no_tool_has_pass_through_to_the_gate() -> None:
    assert proposal_of({**WEATHER, "name": "multi_tool_use.parallel"}).tool_name == "multi_tool_use.parallel"


def test_a_call_carries_what_its_answer_must_give_back() -> None:
    assert carried_of(WEATHER) == {"kind": "function_call"}
    assert carried_of({**WEATHER, "caller": None, "namespace": None, "async": None}) == {"kind": "function_call"}
    assert carried_of({**WEATHER, "caller": BY_PROGRAM, "namespace": "crm", "async": True}) == {
        "kind": "function_call",
        "caller": BY_PROGRAM,
        "namespace": "crm",
        "async": True,
    }
    assert carried_of({**QUERY, "caller": DIRECT, "async": False}) == {"kind": "custom_tool_call", "caller": DIRECT}
    assert carried_of(SEARCH) == {"kind": "tool_search_call"}
    assert carried_of(APPROVAL) == {"kind": "mcp_approval_request"}


@pytest.mark.parametrize("call", [WEATHER, QUERY], ids=lambda call: str(call["type"]))
def test_a_member_of_a_namespace_is_named_with_it(call: dict[str, Any]) -> None:
    assert proposal_of({**call, "namespace": "crm"}).tool_name == f"crm.{call['name']}"


@pytest.mark.parametrize("call", [WEATHER, QUERY], ids=lambda call: str(call["type"]))
def test_a_function_that_a_search_has_brought_up_alone_keeps_its_name(call: dict[str, Any]) -> None:
    proposal = proposal_of({**call, "namespace": call["name"]})
    assert (proposal.tool_name, proposal.carried["namespace"]) == (call["name"], call["name"])


# ── the other calls that are answered here ──


@pytest.mark.parametrize("text", ["", "select 1", '{"no": "json', "\U0001f680"])
def test_the_free_text_of_a_custom_tool_is_its_one_argument(text: str) -> None:
    assert proposal_of({**QUERY, "input": text}) == Proposal("call-query", "run_sql", {"input": text})


@pytest.mark.parametrize(("text", "detail"), [("\ud83d", "lone_surrogate"), ("\0", "nul_character")])
def test_a_text_that_no_json_can_hold_spoils_its_own_call_only(text: str, detail: str) -> None:
    spoilt, sound = proposals_of({**QUERY, "input": text}, STOCK)
    assert (spoilt.fault, spoilt.fault_details[0].code) == ("invalid_arguments_json", detail)
    assert sound == ASKS_FOR_STOCK


def test_a_tool_search_for_the_client_is_a_call_of_the_search_tool() -> None:
    assert proposal_of(SEARCH) == Proposal("call-search", "tool_search", {"query": "refund an order"})
    assert proposal_of({**SEARCH, "arguments": None}).arguments == {}


def test_a_request_for_approval_is_a_proposal_that_the_provider_would_run() -> None:
    assert proposal_of(APPROVAL) == Proposal("mcpr_1", "shop.refund", {"order": "O-17"}, hosted=True)
    assert [proposal.hosted for proposal in proposals_of(WEATHER, QUERY, SEARCH)] == [False, False, False]


@pytest.mark.parametrize(
    ("call", "code", "member"),
    [
        ({**WEATHER, "call_id": None}, "missing_call_id", "call_id"),
        ({**WEATHER, "call_id": ""}, "missing_call_id", "call_id"),
        ({**WEATHER, "call_id": 7}, "missing_call_id", "call_id"),
        ({**WEATHER, "call_id": ["x"]}, "missing_call_id", "call_id"),
        (without(WEATHER, "call_id"), "missing_call_id", "call_id"),
        (without(QUERY, "call_id"), "missing_call_id", "call_id"),
        ({**SEARCH, "call_id": None}, "missing_call_id", "call_id"),
        (without(APPROVAL, "id"), "missing_call_id", "id"),
        ({**WEATHER, "call_id": "x" * 65}, "id_too_long", "call_id"),
        ({**QUERY, "call_id": "x" * 65}, "id_too_long", "call_id"),
        ({**SEARCH, "call_id": "x" * 65}, "id_too_long", "call_id"),
        ({**APPROVAL, "id": "x" * 65}, "id_too_long", "id"),
        ({**WEATHER, "name": ""}, "malformed_tool_calls", "name"),
        ({**QUERY, "name": 7}, "malformed_tool_calls", "name"),
        ({**WEATHER, "arguments": {"city": "Seoul"}}, "malformed_tool_calls", "arguments"),
        ({**WEATHER, "arguments": False}, "malformed_tool_calls", "arguments"),
        ({**APPROVAL, "arguments": {}}, "malformed_tool_calls", "arguments"),
        ({**APPROVAL, "name": None}, "malformed_tool_calls", "name"),
        ({**APPROVAL, "server_label": ""}, "malformed_tool_calls", "server_label"),
        ({**QUERY, "input": None}, "malformed_tool_calls", "input"),
        ({**QUERY, "input": {"sql": "select 1"}}, "malformed_tool_calls", "input"),
        ({**SEARCH, "arguments": '{"query":"refund"}'}, "malformed_tool_calls", "arguments"),
        ({**SEARCH, "execution": "edge"}, "malformed_envelope", "execution"),
        (without(SEARCH, "execution"), "malformed_envelope", "execution"),
        ({**WEATHER, "caller": "program"}, "malformed_tool_calls", "caller"),
        ({**QUERY, "namespace": 7}, "malformed_tool_calls", "namespace"),
    ],
)
def test_a_call_that_cannot_be_read_or_answered_refuses_the_response(
    call: dict[str, Any], code: str, member: str
) -> None:
    assert place_of(response(STOCK, call)) == (code, f"/output/1/{member}")


@pytest.mark.parametrize(
    ("item", "detail"),
    [
        ({**WEATHER, "arguments": 7}, Detail("/output/0/arguments", "wrong_type", "a string of JSON")),
        ({**WEATHER, "call_id": "x" * 65}, Detail("/output/0/call_id", "too_long", "at most 64 characters")),
        ({**WEATHER, "status": "in_progress"}, Detail("/output/0/status", "cut_off", "a call that is completed")),
        ({**QUERY, "input": 7}, Detail("/output/0/input", "wrong_type", "a string")),
        (without(SEARCH, "execution"), Detail("/output/0/execution", "unexpected_value", "client or server")),
        (
            {"type": "device_call", "call_id": "c"},
            Detail("/output/0/type", "unknown_type", "a type that this surface defines"),
        ),
    ],
)
def test_a_refusal_says_what_was_expected_where(item: dict[str, Any], detail: Detail) -> None:
    assert refusal_of(response(item)).details == (detail,)


def test_a_refusal_of_the_model_beside_calls_is_told_as_one() -> None:
    detail = Detail("/output/1/content/0", "refused", "calls or a refusal, not both")
    assert refusal_of(response(WEATHER, REFUSAL)).details == (detail,)


def test_an_id_of_sixty_four_characters_is_answered() -> None:
    assert proposal_of({**WEATHER, "call_id": "x" * 64}).call_id == "x" * 64
    assert proposal_of({**APPROVAL, "id": "x" * 64}).call_id == "x" * 64


@pytest.mark.parametrize(
    "second",
    [
        WEATHER,
        {**STOCK, "call_id": "call-weather"},
        {**QUERY, "call_id": "call-weather"},
        {**APPROVAL, "id": "call-weather"},
    ],
)
def test_one_id_for_two_calls_refuses_both(second: dict[str, Any]) -> None:
    assert place_of(response(WEATHER, second)) == ("duplicate_call_id", "/output")


# ── what is not answered here ──


@pytest.mark.parametrize("call", NOT_CARRIED_OUT, ids=lambda call: str(call["type"]))
def test_a_call_for_a_machine_of_the_callers_refuses_the_response(call: dict[str, Any]) -> None:
    expected = "a call of a function, a custom tool or a client's tool search"
    refused = refusal_of(response(WEATHER, call))
    assert (refused.code, refused.details) == (
        "unsupported_call_type",
        (Detail("/output/1", call["type"], expected),),
    )


@pytest.mark.parametrize(
    "unknown",
    [
        {"type": "device_call", "call_id": "call-device"},
        {"type": "device_call", "name": "open_door", "arguments": "{}"},
        {"type": "device_call", "name": "open_door", "input": ""},
    ],
)
def test_an_unknown_item_that_might_be_a_call_refuses_the_response(unknown: dict[str, Any]) -> None:
    assert place_of(response(WEATHER, unknown)) == ("unknown_block_type", "/output/1/type")


@pytest.mark.parametrize(
    "unknown", [{"type": "weather_map"}, {"type": "map", "name": "Seoul"}, {"type": "map", "call_id": None, "id": "m"}]
)
def test_an_unknown_item_that_can_be_no_call_is_echoed(unknown: dict[str, Any]) -> None:
    turn = openai_responses.read(response(unknown, WEATHER))
    assert (turn.proposals, turn.echo) == ((ASKS_FOR_WEATHER,), (unknown, WEATHER))


def test_a_refusal_beside_calls_runs_nothing() -> None:
    body = response(WEATHER, TEXT, {**REFUSAL, "content": [*TEXT["content"], *REFUSAL["content"]]})
    assert place_of(body) == ("refused_response", "/output/2/content/1")


@pytest.mark.parametrize("beside", [(), (TEXT,), (WEB_SEARCH,)])
def test_a_refusal_alone_is_an_answer_without_calls(beside: tuple[dict[str, Any], ...]) -> None:
    turn = openai_responses.read(response(*beside, REFUSAL))
    assert (turn.proposals, turn.echo) == ((), (*beside, REFUSAL))


@pytest.mark.parametrize("content", [None, "text", ["text"], [{"type": "video"}]])
def test_a_message_with_content_that_nobody_knows_is_only_echoed(content: Any) -> None:
    said = {**TEXT, "content": content}
    assert openai_responses.read(response(said, WEATHER)).echo == (said, WEATHER)


# ── what the provider did itself ──


def hosted_of(*items: dict[str, Any]) -> tuple[HostedCall, ...]:
    turn = openai_responses.read(response(*items))
    assert turn.proposals == ()
    return turn.hosted


def test_what_the_provider_has_run_is_recorded_and_neither_run_nor_answered() -> None:
    turn = openai_responses.read(response(*HOSTED_ITEMS, *SAID_ITEMS))
    assert turn.proposals == ()
    assert [call.kind for call in turn.hosted] == [item["type"] for item in HOSTED_ITEMS]
    assert openai_responses.write(turn, []) == [*HOSTED_ITEMS, *SAID_ITEMS]


def test_a_call_of_a_hosted_server_is_recorded_with_server_tool_and_approval() -> None:
    [call] = hosted_of(MCP_CALL)
    assert (call.item_id, call.kind, call.server, call.tool) == ("mcp_1", "mcp_call", "wiki", "ask")
    assert (call.failed, call.approved_under) == (False, "mcpr_0")
    assert hosted_of(MCP_TOOLS) == (HostedCall("mcpl_1", "mcp_list_tools", "wiki"),)


@pytest.mark.parametrize(
    "failed",
    [
        {**MCP_CALL, "error": {"type": "mcp_tool_execution_error", "content": []}},
        {**MCP_CALL, "status": "failed"},
        {**MCP_TOOLS, "error": "no such server"},
        {**IMAGE, "error": {"type": "image", "message": "No."}},
        {**CODE, "status": "failed"},
    ],
)
def test_a_failure_at_the_provider_is_recorded_as_one(failed: dict[str, Any]) -> None:
    [call] = hosted_of(failed)
    assert call.failed is True


@pytest.mark.parametrize("status", [None, "", "in_progress", "incomplete", "searching", 7, ["failed"]])
def test_nothing_is_said_of_a_hosted_call_that_does_not_say_how_it_ended(status: Any) -> None:
    assert hosted_of({**WEB_SEARCH, "status": status}) == (HostedCall("ws_1", "web_search_call"),)


def test_the_providers_own_shell_and_search_are_recorded() -> None:
    assert hosted_of(HOSTED_SHELL) == (HostedCall("sh_1", "shell_call", failed=False),)
    assert hosted_of(SERVER_SEARCH) == (HostedCall("tsc_2", "tool_search_call", failed=False),)


@pytest.mark.parametrize(
    ("call", "answer", "recorded"),
    [
        (
            {**WEATHER, "namespace": "crm"},
            {"type": "function_call_output", "call_id": "call-weather", "output": "22"},
            HostedCall("fc_call-weather", "function_call", tool="crm.get_weather", failed=False),
        ),
        (
            without(QUERY, "id"),
            {"type": "custom_tool_call_output", "call_id": "call-query", "output": "22"},
            HostedCall("call-query", "custom_tool_call", tool="run_sql"),
        ),
        (
            SEARCH,
            {**SERVER_FOUND, "call_id": "call-search", "execution": "client"},
            HostedCall("tsc_1", "tool_search_call", failed=False),
        ),
        (
            LOCAL_SHELL,
            HOSTED_SHELL_OUTPUT,
            HostedCall("sh_1", "shell_call", failed=False),
        ),
        (
            PATCH,
            {"type": "apply_patch_call_output", "call_id": "call-patch", "status": "completed"},
            HostedCall("apc_1", "apply_patch_call", failed=False),
        ),
        (
            COMPUTER,
            {"type": "computer_call_output", "call_id": "call-computer", "output": {"type": "computer_screenshot"}},
            HostedCall("cu_1", "computer_call", failed=False),
        ),
    ],
    ids=lambda value: value.get("type") if isinstance(value, dict) else "",
)
def test_a_call_whose_answer_stands_beside_it_has_been_run_already(
    call: dict[str, Any], answer: dict[str, Any], recorded: HostedCall
) -> None:
    turn = openai_responses.read(response(call, answer, STOCK))
    assert (turn.proposals, turn.hosted, turn.echo) == ((ASKS_FOR_STOCK,), (recorded,), (call, answer, STOCK))


def test_an_approval_that_was_given_beside_its_request_is_not_asked_for_again() -> None:
    given = {"type": "mcp_approval_response", "id": "mcpa_1", "approval_request_id": "mcpr_1", "approve": True}
    turn = openai_responses.read(response(APPROVAL, given))
    assert (turn.proposals, turn.hosted, turn.echo) == ((), (), (APPROVAL, given))


@pytest.mark.parametrize(
    "other",
    [
        {"type": "function_call_output", "call_id": "call-other", "output": "22"},
        {"type": "function_call_output", "call_id": None, "output": "22"},
        {"type": "function_call_output", "output": "22"},
        {"type": "custom_tool_call_output", "call_id": "call-weather", "output": "22"},
    ],
)
def test_an_answer_to_another_call_leaves_the_call_open(other: dict[str, Any]) -> None:
    assert openai_responses.read(response(other, WEATHER)).proposals == (ASKS_FOR_WEATHER,)


def test_a_call_without_an_id_is_not_answered_by_an_output_without_one() -> None:
    answer = {"type": "function_call_output", "call_id": None, "output": "22"}
    assert code_of(response({**WEATHER, "call_id": None}, answer)) == "missing_call_id"


def test_the_names_that_the_providers_search_has_found_are_told() -> None:
    turn = openai_responses.read(response(SERVER_SEARCH, SERVER_FOUND))
    assert turn.found == {"get_refund", "crm.find_customer", "crm.query"}


def test_a_namespace_of_one_tool_of_its_own_name_stands_for_that_tool() -> None:
    tools = [{"type": "namespace", "name": "refund", "tools": [{"type": "function", "name": "refund"}]}]
    assert openai_responses.read(response({**SERVER_FOUND, "tools": tools})).found == {"refund"}


@pytest.mark.parametrize("tools", [None, "refund", {"name": "refund"}, ["refund", {"name": 7}, {"type": "namespace"}]])
def test_a_search_result_of_another_shape_has_found_nothing(tools: Any) -> None:
    assert openai_responses.read(response({**SERVER_FOUND, "tools": tools})).found == frozenset()


def test_what_a_clients_search_has_found_is_not_the_providers() -> None:
    found = {**SERVER_FOUND, "execution": "client", "call_id": "call-earlier"}
    assert openai_responses.read(response(found)).found == frozenset()


def test_everything_at_once_is_told_apart() -> None:
    turn = openai_responses.read(EVERYTHING)
    assert [proposal.tool_name for proposal in turn.proposals] == [
        "get_weather",
        "run_sql",
        "tool_search",
        "shop.refund",
    ]
    assert len(turn.hosted) == len(HOSTED_ITEMS)
    assert (turn.surface, turn.request_id, turn.paused) == ("openai-responses", "resp_17", False)
