"""Gemini generateContent: what is read, refused and written."""

import copy
import json
from decimal import Decimal
from typing import Any

import pytest

from adapters import strict_json
from adapters.envelopes import gemini_generate_content
from adapters.envelopes.envelope import HostedCall, ReadTurn, ToolDefinition
from adapters.envelopes.gemini_generate_content.finish_reasons import FAULTS, FINISH_REASONS
from adapters.envelopes.stop_signal import Meaning
from tests.unit.gemini_reads import call_part, candidate, generated
from tests.unit.three_reads import NEWS_FAILED, PROPOSALS, RESULTS, STOCK_TO_RETRY, WEATHER_SUCCEEDED
from workflows.domain.errors import ERRORS, CorrelationBroken, Detail, InvalidConfiguration, ResponseRefused
from workflows.domain.proposal import CallResult, Proposal, Status

WEATHER, STOCK, NEWS = (call_part(proposal) for proposal in PROPOSALS)
SIGNED = {**WEATHER, "thoughtSignature": "c2lnbmVk"}
THOUGHT = {"text": "Three reads.", "thought": True}
TEXT = {"text": "Looking."}


def read(response: Any) -> ReadTurn:
    return gemini_generate_content.read(response)


def refusal(response: Any) -> tuple[str, Detail]:
    with pytest.raises(ResponseRefused) as refused:
        read(response)
    [detail] = refused.value.details
    return refused.value.code, detail


def code_of(response: Any) -> str:
    return refusal(response)[0]


def nameless(part: dict[str, Any]) -> dict[str, Any]:
    """The same call as servers send it that give no ids."""
    call = {key: value for key, value in part["functionCall"].items() if key != "id"}
    return {**part, "functionCall": call}


def with_args(args: Any) -> dict[str, Any]:
    return {"functionCall": {"id": "call-weather", "name": "get_weather", "args": args}}


def read_arguments(args: Any) -> Any:
    [proposal] = read(generated(candidate(with_args(args)))).proposals
    return proposal.arguments


# ── ends ──


def test_calls_are_read_beside_stop_in_their_order() -> None:
    turn = read(generated(candidate(THOUGHT, SIGNED, TEXT, STOCK)))
    assert turn.proposals == PROPOSALS[:2]
    assert (turn.surface, turn.request_id, turn.paused) == ("gemini-generate-content", "gen-17", False)


@pytest.mark.parametrize("finish_reason", ["STOP", "FINISH_REASON_UNSPECIFIED", None, "", 7, [], {}, "SOON_INVENTED"])
def test_an_answer_without_calls_gives_no_proposals(finish_reason: Any) -> None:
    turn = read(generated(candidate(TEXT, finish_reason=finish_reason)))
    assert turn.proposals == ()
    assert gemini_generate_content.write(turn, []) == [{"role": "model", "parts": [TEXT]}]


@pytest.mark.parametrize("finish_reason", ["FINISH_REASON_UNSPECIFIED", None, "", 7, ["STOP"], "stop", "SOON_INVENTED"])
def test_calls_that_the_finish_reason_does_not_announce_are_not_run(finish_reason: Any) -> None:
    code, detail = refusal(generated(candidate(WEATHER, finish_reason=finish_reason)))
    assert code == "unknown_stop_signal"
    assert (detail.path, detail.expected) == ("/candidates/0/finishReason", "STOP")


@pytest.mark.parametrize("parts", [[], [WEATHER], [TEXT, WEATHER, STOCK]])
@pytest.mark.parametrize(
    "finish_reason",
    [word for word, signal in FINISH_REASONS.items() if signal.meaning in (Meaning.REFUSED, Meaning.CUT)],
)
def test_a_response_that_was_broken_off_runs_nothing(finish_reason: str, parts: list[dict[str, Any]]) -> None:
    code, detail = refusal(generated(candidate(*parts, finish_reason=finish_reason)))
    usual = "incomplete_response" if finish_reason == "MAX_TOKENS" else "refused_response"
    assert code == FAULTS.get(finish_reason, (usual,))[0]
    assert detail.path == "/candidates/0/finishReason"


def test_every_reason_but_these_is_a_refusal() -> None:
    told = {word: signal.meaning for word, signal in FINISH_REASONS.items() if signal.meaning is not Meaning.REFUSED}
    assert told == {
        "STOP": Meaning.COMPLETE,
        "CONTINUATION": Meaning.PAUSED,
        "MAX_TOKENS": Meaning.CUT,
        "FINISH_REASON_UNSPECIFIED": Meaning.UNKNOWN,
    }


def test_what_the_model_got_wrong_is_told_by_name() -> None:
    told = {word: refusal(generated(candidate(finish_reason=word))) for word in FAULTS}
    assert {word: code for word, (code, _) in told.items()} == {
        "MALFORMED_FUNCTION_CALL": "malformed_tool_calls",
        "UNEXPECTED_TOOL_CALL": "tool_not_allowed",
        "TOO_MANY_TOOL_CALLS": "too_many_calls",
        "MISSING_THOUGHT_SIGNATURE": "refused_response",
        "MALFORMED_RESPONSE": "incomplete_response",
    }
    assert all(detail.code == word.lower() for word, (_, detail) in told.items())
    assert all(code in ERRORS for code, _ in told.values())


def test_a_paused_response_runs_nothing_and_is_echoed() -> None:
    turn = read(generated(candidate(TEXT, SIGNED, finish_reason="CONTINUATION", continuationToken="dG9r")))
    assert (turn.paused, turn.proposals) == (True, ())
    assert gemini_generate_content.write(turn, []) == [{"role": "model", "parts": [TEXT, SIGNED]}]


@pytest.mark.parametrize("candidates", [{}, {"candidates": None}, {"candidates": []}])
def test_a_blocked_prompt_is_a_refusal(candidates: dict[str, Any]) -> None:
    code, detail = refusal({"responseId": "gen-17", "promptFeedback": {"blockReason": "SAFETY"}, **candidates})
    assert (code, detail.path) == ("refused_response", "/promptFeedback/blockReason")


def test_a_blocked_prompt_beside_calls_runs_nothing() -> None:
    assert code_of(generated(candidate(WEATHER), promptFeedback={"blockReason": "OTHER"})) == "refused_response"


@pytest.mark.parametrize("feedback", [None, {}, {"safetyRatings": []}, {"blockReason": None}, "blocked"])
def test_feedback_that_blocks_nothing_changes_nothing(feedback: Any) -> None:
    assert read(generated(candidate(WEATHER), promptFeedback=feedback)).proposals == PROPOSALS[:1]


# ── candidates and contents ──


@pytest.mark.parametrize(
    "candidates",
    [
        [candidate(WEATHER), candidate(STOCK)],
        [candidate(TEXT), candidate(TEXT, STOCK)],
        [candidate(TEXT), candidate(nameless(STOCK), finish_reason=None)],
    ],
)
def test_several_candidates_with_calls_are_refused_because_only_one_can_be_meant(
    candidates: list[dict[str, Any]],
) -> None:
    code, detail = refusal(generated(*candidates))
    assert (code, detail.code) == ("malformed_envelope", "several_candidates_with_calls")


def test_of_several_candidates_without_calls_the_first_is_echoed() -> None:
    turn = read(generated(candidate({"text": "a"}), candidate({"text": "b"}), {"content": None}, {"content": {}}))
    assert turn.echo == ({"role": "model", "parts": [{"text": "a"}]},)


@pytest.mark.parametrize(
    ("response", "path"),
    [
        ({"candidates": "text"}, "/candidates"),
        ({"candidates": []}, "/candidates"),
        ({"candidates": ["text"]}, "/candidates/0"),
        ({"candidates": [{"finishReason": "STOP", "content": "text"}]}, "/candidates/0/content"),
        ({"candidates": [{"finishReason": "STOP", "content": []}]}, "/candidates/0/content"),
        (generated({"finishReason": "STOP", "content": {"role": "user", "parts": []}}), "/candidates/0/content/role"),
        (generated({"finishReason": "STOP", "content": {"parts": {}}}), "/candidates/0/content/parts"),
        (generated({"finishReason": "STOP", "content": {"parts": ["text"]}}), "/candidates/0/content/parts/0"),
    ],
)
def test_a_response_of_another_shape_is_refused(response: dict[str, Any], path: str) -> None:
    code, detail = refusal(response)
    assert (code, detail.path) == ("malformed_envelope", path)


@pytest.mark.parametrize("content", [{}, {"content": None}, {"content": {}}, {"content": {"role": "model"}}])
def test_a_candidate_that_said_nothing_adds_nothing_to_the_conversation(content: dict[str, Any]) -> None:
    turn = read({"candidates": [{"finishReason": "STOP", **content}]})
    assert (turn.proposals, turn.echo, turn.request_id) == ((), (), None)


def test_an_answer_without_calls_takes_no_results() -> None:
    with pytest.raises(CorrelationBroken):
        gemini_generate_content.write(read(generated(candidate(TEXT))), RESULTS)


def test_the_content_is_echoed_with_every_part_in_its_place() -> None:
    parts = [
        {**THOUGHT, "partMetadata": {"name": "stream-1"}},
        {**SIGNED, "unheardOf": {"kept": True}},
        STOCK,
        {"text": "", "thoughtSignature": "bGFzdA=="},
        {"inlineData": {"mimeType": "image/png", "data": "AAEC"}},
    ]
    content = {"parts": parts, "role": "model", "unheardOf": 1}
    [echo] = read(generated({"finishReason": "STOP", "content": copy.deepcopy(content)})).echo
    assert echo == content
    assert json.dumps(echo) == json.dumps(content)


@pytest.mark.parametrize("role", [{}, {"role": None}])
def test_a_content_that_leaves_its_role_out_is_echoed_as_the_models(role: dict[str, Any]) -> None:
    turn = read(generated({"finishReason": "STOP", "content": {"parts": [WEATHER], **role}}))
    assert turn.echo == ({"parts": [WEATHER], "role": "model"},)


# ── calls ──


@pytest.mark.parametrize(
    ("call", "place"),
    [
        ("get_weather", ""),
        ([], ""),
        ({"id": "c"}, "/name"),
        ({"id": "c", "name": ""}, "/name"),
        ({"id": "c", "name": 7}, "/name"),
        ({"id": "c", "name": "n", "args": "{}"}, "/args"),
        ({"id": "c", "name": "n", "args": []}, "/args"),
        ({"id": "c", "name": "n", "args": False}, "/args"),
    ],
)
def test_a_call_of_another_shape_refuses_the_response(call: Any, place: str) -> None:
    code, detail = refusal(generated(candidate(STOCK, {"functionCall": call})))
    assert code == "malformed_tool_calls"
    assert detail.path == f"/candidates/0/content/parts/1/functionCall{place}"


@pytest.mark.parametrize("args", [{}, {"args": None}, {"args": {}}])
def test_a_call_without_arguments_has_an_empty_object(args: dict[str, Any]) -> None:
    turn = read(generated(candidate({"functionCall": {"id": "c", "name": "list_orders", **args}})))
    assert turn.proposals == (Proposal("c", "list_orders", {}),)


@pytest.mark.parametrize(
    "piece",
    [
        {"willContinue": True},
        {"name": "get_weather", "willContinue": True},
        {"name": "get_weather", "args": {}, "partialArgs": [{"jsonPath": "$.city", "stringValue": "Se"}]},
        {"partialArgs": [{"jsonPath": "$.city", "stringValue": "Se", "willContinue": True}], "willContinue": True},
    ],
)
def test_a_piece_of_a_call_is_never_taken_for_a_call(piece: dict[str, Any]) -> None:
    assert code_of(generated(candidate({"functionCall": piece}))) == "incomplete_response"


@pytest.mark.parametrize("marks", [{"willContinue": False}, {"willContinue": None, "partialArgs": None}])
def test_a_call_that_says_it_is_whole_is_a_call(marks: dict[str, Any]) -> None:
    whole = {"functionCall": {**WEATHER["functionCall"], **marks}}
    assert read(generated(candidate(whole))).proposals == PROPOSALS[:1]


@pytest.mark.parametrize("second", [WEATHER, {"functionCall": {**STOCK["functionCall"], "id": "call-weather"}}])
def test_one_id_for_two_calls_refuses_both(second: dict[str, Any]) -> None:
    assert code_of(generated(candidate(WEATHER, second))) == "duplicate_call_id"


def test_an_id_that_is_no_text_refuses_the_response() -> None:
    assert code_of(generated(candidate({"functionCall": {"id": 7, "name": "get_weather"}}))) == "missing_call_id"


@pytest.mark.parametrize("no_id", [{}, {"id": None}, {"id": ""}])
def test_calls_without_ids_are_told_apart_by_their_position_among_the_calls(no_id: dict[str, Any]) -> None:
    bare = [{"functionCall": {**nameless(part)["functionCall"], **no_id}} for part in (WEATHER, STOCK, WEATHER)]
    turn = read(generated(candidate(THOUGHT, bare[0], TEXT, bare[1], bare[2])))
    assert [proposal.call_id for proposal in turn.proposals] == ["part-0", "part-1", "part-2"]


def test_an_id_of_ours_that_the_provider_gave_to_another_call_refuses_both() -> None:
    posing = {"functionCall": {**WEATHER["functionCall"], "id": "part-1"}}
    assert code_of(generated(candidate(posing, nameless(STOCK)))) == "duplicate_call_id"


@pytest.mark.parametrize(
    "unknown",
    [
        {"mcpCall": {"server": "wiki"}},
        {"function_call": {"name": "get_weather"}},
        {"functionCalls": []},
        {"invocation": {"name": "get_weather", "input": {}}},
        {"name": "get_weather", "args": {}},
    ],
)
def test_an_unknown_part_that_might_be_a_call_refuses_the_response(unknown: dict[str, Any]) -> None:
    code, detail = refusal(generated(candidate(WEATHER, {**TEXT, **unknown})))
    assert (code, detail.path) == ("unknown_block_type", "/candidates/0/content/parts/1")


@pytest.mark.parametrize("other", [{"mcpCall": None}, {"mood": {"value": "calm"}}, {"mood": "calm"}, {"name": "a"}])
def test_an_unknown_part_that_is_no_call_is_echoed(other: dict[str, Any]) -> None:
    turn = read(generated(candidate(WEATHER, {**TEXT, **other})))
    assert turn.proposals == PROPOSALS[:1]
    assert turn.echo[0]["parts"][1] == {**TEXT, **other}


# ── numbers ──


@pytest.mark.parametrize(
    ("given", "read_as"),
    [
        ("3.0", 3),
        ("-3.0", -3),
        ("0.0", 0),
        ("-0.0", 0),
        ("1e2", 100),
        ("9007199254740991.0", 9007199254740991),
        ("3", 3),
        ("9007199254740993", 9007199254740993),
    ],
)
def test_a_whole_number_is_an_integer_however_it_was_sent(given: str, read_as: int) -> None:
    value = read_arguments({"n": [{"deep": strict_json.parse(given)}]})["n"][0]["deep"]
    assert (value, type(value)) == (read_as, int)


@pytest.mark.parametrize("given", ["3.5", "0.1", "9007199254740992.0", "-9007199254740992.0", "1e300", "1e-300"])
def test_a_number_that_is_not_whole_or_may_be_rounded_stays_as_it_came(given: str) -> None:
    value = read_arguments({"n": strict_json.parse(given)})["n"]
    assert (value, type(value)) == (Decimal(given), Decimal)


def test_other_values_are_not_taken_for_numbers() -> None:
    given = {"flag": True, "text": "3.0", "none": None, "list": [False, "1.0"]}
    assert read_arguments(given) == given
    assert read_arguments(given)["flag"] is True


def test_whole_numbers_are_brought_to_integers_in_the_arguments_and_nowhere_else() -> None:
    part = with_args({"n": Decimal("3.0")})
    turn = read(generated(candidate(part)))
    assert str(turn.echo[0]["parts"][0]["functionCall"]["args"]["n"]) == "3.0"


@pytest.mark.parametrize(
    ("args", "detail"),
    [
        ({"limit": float("nan")}, "non_finite_number"),
        ({"limit": float("inf")}, "non_finite_number"),
        ({"t": "\ud83d"}, "lone_surrogate"),
        ({"t": "\0"}, "nul_character"),
        ({"t": "x" * 1_100_000}, "too_large"),
    ],
)
def test_arguments_without_a_strict_form_spoil_their_own_call_only(args: dict[str, Any], detail: str) -> None:
    spoilt, sound = read(generated(candidate(with_args(args), STOCK))).proposals
    assert (spoilt.fault, spoilt.fault_details[0].code) == ("invalid_arguments_json", detail)
    assert (spoilt.call_id, spoilt.tool_name, spoilt.arguments) == ("call-weather", "get_weather", None)
    assert sound == PROPOSALS[1]


# ── what the provider did itself ──


def test_the_providers_own_work_is_recorded_echoed_and_never_answered() -> None:
    own = [
        {"executableCode": {"language": "PYTHON", "code": "1 / 0"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_FAILED", "output": "ZeroDivisionError"}},
        {"toolCall": {"id": "t1", "toolType": "GOOGLE_SEARCH_WEB", "args": {"q": "ACME"}}},
        {"toolResponse": {"id": "t1", "toolType": "GOOGLE_SEARCH_WEB", "response": {}}},
        {"toolCall": {}},
        STOCK,
    ]
    turn = read(generated(candidate(*own)))
    assert turn.hosted == (
        HostedCall("hosted-0", "executableCode", failed=True),
        HostedCall("t1", "toolCall", tool="GOOGLE_SEARCH_WEB"),
        HostedCall("hosted-2", "toolCall"),
    )
    assert turn.proposals == PROPOSALS[1:2]
    assert turn.echo[0]["parts"] == own


@pytest.mark.parametrize(
    ("results", "failed"),
    [
        ([{"outcome": "OUTCOME_OK", "id": "e1"}], False),
        ([{"outcome": "OUTCOME_DEADLINE_EXCEEDED", "id": "e1"}], True),
        ([{"outcome": "OUTCOME_OK", "id": "e2"}, {"outcome": "OUTCOME_FAILED", "id": "e1"}], True),
        ([{"outcome": "OUTCOME_UNSPECIFIED", "id": "e1"}], None),
        ([{"outcome": "OUTCOME_OK"}], None),
        ([], None),
    ],
)
def test_code_with_an_id_has_the_result_of_that_id(results: list[dict[str, Any]], failed: bool | None) -> None:
    told = [{"codeExecutionResult": result} for result in results]
    turn = read(generated(candidate({"executableCode": {"code": "1", "id": "e1"}}, *told)))
    assert turn.hosted == (HostedCall("e1", "executableCode", failed=failed),)


def test_code_without_an_id_is_not_given_the_result_of_other_code() -> None:
    code, named = {"executableCode": {"code": "1"}}, {"executableCode": {"code": "1", "id": "e1"}}
    result = {"codeExecutionResult": {"outcome": "OUTCOME_OK"}}
    turn = read(generated(candidate(code, code, TEXT, result, code, named, result)))
    assert [hosted.failed for hosted in turn.hosted] == [None, False, None, None]


def test_own_work_of_an_odd_shape_is_echoed_and_no_call() -> None:
    odd = [
        {"toolCall": "search"},
        {"executableCode": None},
        {"codeExecutionResult": "1"},
        {"codeExecutionResult": None},
    ]
    turn = read(generated(candidate(*odd)))
    assert (turn.hosted, turn.echo[0]["parts"]) == ((), odd)


def test_a_paused_response_tells_what_the_provider_has_done_so_far() -> None:
    turn = read(generated(candidate({"toolCall": {"id": "t1"}}, finish_reason="CONTINUATION")))
    assert turn.hosted == (HostedCall("t1", "toolCall"),)


# ── answers ──


def test_all_answers_go_into_one_user_content_in_call_order() -> None:
    turn = read(generated(candidate(THOUGHT, WEATHER, STOCK, NEWS)))
    echo, answer = gemini_generate_content.write(turn, RESULTS)
    assert echo == {"role": "model", "parts": [THOUGHT, WEATHER, STOCK, NEWS]}
    assert answer == {
        "role": "user",
        "parts": [
            {
                "functionResponse": {
                    "id": "call-weather",
                    "name": "get_weather",
                    "response": {
                        "output": {"status": "succeeded", "data": {"temperature": 22, "unit": "celsius"}},
                    },
                }
            },
            {
                "functionResponse": {
                    "id": "call-stock",
                    "name": "get_stock",
                    "response": {"error": STOCK_TO_RETRY.body()},
                }
            },
            {
                "functionResponse": {
                    "id": "call-news",
                    "name": "get_news",
                    "response": {"error": NEWS_FAILED.body()},
                }
            },
        ],
    }


def test_an_id_of_ours_is_never_sent_back() -> None:
    turn = read(generated(candidate(nameless(WEATHER), NEWS, nameless(WEATHER))))
    results = [
        CallResult(proposal.call_id, proposal.tool_name, Status.SUCCEEDED, data=number)
        for number, proposal in enumerate(turn.proposals)
    ]
    _, answer = gemini_generate_content.write(turn, reversed(results))
    told = [part["functionResponse"] for part in answer["parts"]]
    assert [response.get("id", "none") for response in told] == ["none", "call-news", "none"]
    assert [response["response"]["output"]["data"] for response in told] == [0, 1, 2]
    assert "part-0" not in json.dumps(answer)


def test_a_call_with_spoilt_arguments_is_answered_under_the_id_that_it_came_with() -> None:
    bare = {"functionCall": {"name": "get_weather", "args": {"t": "\ud83d"}}}
    turn = read(generated(candidate(bare, with_args({"t": "\ud83d"}))))
    results = [CallResult(each.call_id, each.tool_name, Status.SUCCEEDED) for each in turn.proposals]
    _, answer = gemini_generate_content.write(turn, results)
    assert [part["functionResponse"].get("id") for part in answer["parts"]] == [None, "call-weather"]


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
    _, content = gemini_generate_content.write(read(generated(candidate(WEATHER))), [answer])
    return content["parts"][0]["functionResponse"]["response"]["output"]["data"]


def test_a_result_without_a_json_form_is_not_handed_over() -> None:
    turn = read(generated(candidate(WEATHER)))
    spoilt = CallResult("call-weather", "get_weather", Status.SUCCEEDED, data={"when": object()})
    with pytest.raises(strict_json.StrictJsonError):
        gemini_generate_content.write(turn, [spoilt])


def test_results_that_are_not_one_for_each_call_are_not_written() -> None:
    with pytest.raises(CorrelationBroken):
        gemini_generate_content.write(read(generated(candidate(WEATHER, STOCK))), [WEATHER_SUCCEEDED])


# ── definitions ──


def test_a_definition_is_one_declaration_with_its_schema_unchanged() -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string", "maxLength": 80}}}
    plain = ToolDefinition("get_weather", "Reads the weather.", schema)
    asked_more = ToolDefinition("get_weather", "Reads the weather.", schema, True, True, ({"city": "Seoul"},))
    declaration = {"name": "get_weather", "description": "Reads the weather.", "parametersJsonSchema": schema}
    assert gemini_generate_content.render(plain) == declaration
    assert gemini_generate_content.render(asked_more) == declaration


@pytest.mark.parametrize("name", ["1st_order", "-order"])
def test_a_name_that_this_surface_refuses_is_not_rendered(name: str) -> None:
    with pytest.raises(InvalidConfiguration):
        gemini_generate_content.render(ToolDefinition(name, "No such tool.", {"type": "object"}))


@pytest.mark.parametrize("name", ["_order", "Order"])
def test_a_name_may_begin_with_a_letter_or_an_underscore(name: str) -> None:
    assert gemini_generate_content.render(ToolDefinition(name, "A tool.", {"type": "object"}))["name"] == name
