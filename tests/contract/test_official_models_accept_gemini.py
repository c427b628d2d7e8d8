"""Google's own models judge what the two Gemini surfaces read and write.

The models of generateContent forbid what they do not name; those of Interactions keep it, so `unnamed` looks for it,
and their unions take an unknown type as an `Unknown*` instead of refusing it, so `unknown` looks for that. Neither
checks pairing, order or uniqueness: `tests/unit` does.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any, get_args

import pytest
from google.genai import interactions, types
from pydantic import BaseModel, TypeAdapter, ValidationError

from adapters import strict_json
from adapters.envelopes import gemini_generate_content, gemini_interactions
from adapters.envelopes.envelope import ToolDefinition
from adapters.envelopes.gemini_generate_content.calls import CALL, PLAIN
from adapters.envelopes.gemini_generate_content.hosted import OUTCOMES
from adapters.envelopes.gemini_interactions import assembly, steps
from adapters.envelopes.gemini_interactions.streaming import TAKERS
from tests.unit.gemini_reads import (
    call_part,
    call_step,
    candidate,
    completed,
    created,
    event,
    generated,
    interaction,
    streamed_call,
    streamed_step,
)
from tests.unit.three_reads import PROPOSALS, RESULTS
from workflows.domain.errors import ResponseRefused
from workflows.domain.proposal import CallResult, Status

STEP: TypeAdapter[Any] = TypeAdapter(interactions.Step)
EVENT: TypeAdapter[Any] = TypeAdapter(interactions.InteractionSSEEvent)

DEFINITION = ToolDefinition(
    "get_weather",
    "Reads the weather of a city.",
    {"type": "object", "properties": {"city": {"type": "string", "maxLength": 80}}, "required": ["city"]},
    deferred=True,
)

NO_IDS = [{CALL: {"name": proposal.tool_name, "args": proposal.arguments}} for proposal in PROPOSALS]
ALL_PARTS = generated(
    candidate(
        {"text": "Three reads.", "thought": True},
        {"executableCode": {"language": "PYTHON", "code": "1"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}},
        {"toolCall": {"id": "t1", "toolType": "GOOGLE_SEARCH_WEB", "args": {"q": "ACME"}}},
        {"toolResponse": {"id": "t1", "toolType": "GOOGLE_SEARCH_WEB", "response": {}}},
        call_part(PROPOSALS[0], thoughtSignature="c2lnbmVk"),
        *map(call_part, PROPOSALS[1:]),
        {"text": "", "thoughtSignature": "bGFzdA=="},
    )
)
GENERATED = [generated(candidate(*map(call_part, PROPOSALS))), generated(candidate(*NO_IDS)), ALL_PARTS]

THOUGHT = {"type": "thought", "signature": "c2lnbmVk", "summary": [{"type": "text", "text": "Three reads."}]}
SEARCH = {"type": "tool_search_call", "id": "search-1", "arguments": {"function_names": ["get_weather"]}}
INTERACTED = [
    interaction(*map(call_step, PROPOSALS)),
    interaction(
        THOUGHT,
        {"type": "google_search_call", "id": "g1", "arguments": {"queries": ["ACME"]}, "signature": "Zw=="},
        {"type": "google_search_result", "call_id": "g1", "result": [], "is_error": False},
        {"type": "mcp_server_tool_call", "id": "m1", "name": "ask", "server_name": "wiki", "arguments": {}},
        {"type": "mcp_server_tool_result", "call_id": "m1", "name": "ask", "server_name": "wiki", "result": "42"},
        SEARCH,
        {"type": "tool_search_result", "call_id": "search-1", "result": [{"type": "function", "name": "get_weather"}]},
        {"type": "model_output", "content": [{"type": "text", "text": "Looking."}]},
        *map(call_step, PROPOSALS),
    ),
]

STREAM = [
    created(),
    event("interaction.status_update", interaction_id="int-17", status="in_progress"),
    *streamed_step(
        0,
        {"type": "thought"},
        {"type": "thought_summary", "content": {"type": "text", "text": "Three reads."}},
        {"type": "thought_signature", "signature": "c2lnbmVk"},
    ),
    *streamed_step(1, {"type": "model_output"}, {"type": "text", "text": "Looking."}),
    *(each for index, proposal in enumerate(PROPOSALS, 2) for each in streamed_call(index, proposal)),
    completed(),
]


def plain(message: dict[str, Any]) -> Any:
    """The message as it goes over the wire and into Google's library."""
    return json.loads(strict_json.dump(message))


def again(model: BaseModel) -> Any:
    """What the model would send."""
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def models_in(value: Any) -> Iterator[BaseModel]:
    if isinstance(value, BaseModel):
        yield value
        yield from models_in([*dict(value).values(), *(value.model_extra or {}).values()])
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from models_in(item)


def unknown(value: Any) -> list[str]:
    return [type(model).__name__ for model in models_in(value) if type(model).__name__.startswith("Unknown")]


def unnamed(model: BaseModel) -> set[str]:
    return set(model.model_extra or {})


def named_types(union: Any) -> set[str]:
    """The words by which an open union of Google's tells its members apart."""
    members = [member for member in get_args(get_args(union)[0]) if not member.__name__.startswith("Unknown")]
    return {member.model_fields["type"].default for member in members}


# ── generateContent ──


@pytest.mark.parametrize("body", GENERATED)
def test_google_takes_every_content_back_unchanged(body: dict[str, Any]) -> None:
    types.GenerateContentResponse.model_validate(body)
    turn = gemini_generate_content.read(body)
    results = [
        CallResult(proposal.call_id, result.tool_name, result.status, result.data, result.error)
        for proposal, result in zip(turn.proposals, reversed(RESULTS), strict=True)
    ]
    written = [plain(content) for content in gemini_generate_content.write(turn, results)]
    assert [again(types.Content.model_validate(content)) for content in written] == written
    assert written[0] == plain(body["candidates"][0]["content"])


def test_the_answers_are_as_many_as_the_calls_of_googles_own_reading() -> None:
    for body in GENERATED:
        response = types.GenerateContentResponse.model_validate(body)
        turn = gemini_generate_content.read(body)
        results = [CallResult(each.call_id, each.tool_name, Status.SUCCEEDED) for each in turn.proposals]
        _, content = (types.Content.model_validate(each) for each in gemini_generate_content.write(turn, results))
        answers = [part.function_response for part in content.parts or []]
        calls = response.function_calls or []
        assert [(answer.id, answer.name) for answer in answers if answer] == [(call.id, call.name) for call in calls]


def test_every_finish_reason_of_google_stands_in_the_table_and_no_other() -> None:
    assert set(gemini_generate_content.FINISH_REASONS) == {reason.value for reason in types.FinishReason}


def test_every_outcome_of_google_is_judged_save_the_one_that_says_nothing() -> None:
    assert set(OUTCOMES) == {outcome.value for outcome in types.Outcome} - {"OUTCOME_UNSPECIFIED"}


def test_every_member_of_a_part_is_known() -> None:
    assert {field.alias or name for name, field in types.Part.model_fields.items()} == PLAIN | {CALL}


def test_a_finish_reason_that_google_has_not_named_yet_runs_nothing() -> None:
    body = generated(candidate(call_part(PROPOSALS[0]), finish_reason="SOON_INVENTED"))
    with pytest.warns(UserWarning, match="SOON_INVENTED"):
        types.GenerateContentResponse.model_validate(body)
    with pytest.raises(ResponseRefused):
        gemini_generate_content.read(body)


@pytest.mark.parametrize(
    "part",
    [
        {CALL: "get_weather"},
        {CALL: {"id": "c", "name": "get_weather", "args": "{}"}},
        {CALL: {"id": "c", "name": "get_weather", "args": []}},
        {CALL: {"id": 7, "name": "get_weather"}},
        {"mcpCall": {"name": "get_weather"}},
    ],
)
def test_what_googles_model_refuses_is_refused_here_too(part: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        types.GenerateContentResponse.model_validate(generated(candidate(part)))
    with pytest.raises(ResponseRefused):
        gemini_generate_content.read(generated(candidate(part)))


@pytest.mark.parametrize(
    "part",
    [
        {CALL: {"id": "c", "args": {}}},
        {CALL: {"name": "get_weather", "willContinue": True}},
        {CALL: {"name": "get_weather", "partialArgs": [{"jsonPath": "$.city", "stringValue": "Se"}]}},
    ],
)
def test_a_call_that_google_accepts_without_a_name_or_in_pieces_is_refused_here_on_purpose(
    part: dict[str, Any],
) -> None:
    types.GenerateContentResponse.model_validate(generated(candidate(part)))
    with pytest.raises(ResponseRefused):
        gemini_generate_content.read(generated(candidate(part)))


def test_a_declaration_is_listed_in_googles_own_shape() -> None:
    rendered = gemini_generate_content.render(DEFINITION)
    assert again(types.FunctionDeclaration.model_validate(rendered)) == rendered
    tool = {"functionDeclarations": [rendered]}
    assert again(types.Tool.model_validate(tool)) == tool


@pytest.mark.parametrize(
    "spoilt",
    [
        {"id": "c", "name": "get_weather", "response": '{"output":1}'},
        {"id": "c", "name": "get_weather", "response": {}, "isError": True},
        {"callId": "c", "name": "get_weather", "response": {}},
    ],
)
def test_the_judge_of_contents_sees_a_mistake(spoilt: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        types.Content.model_validate({"role": "user", "parts": [{"functionResponse": spoilt}]})


# ── Interactions ──


@pytest.mark.parametrize("body", INTERACTED)
def test_google_takes_every_step_back_unchanged(body: dict[str, Any]) -> None:
    assert unknown(interactions.Interaction.model_validate(body)) == []
    written = [plain(step) for step in gemini_interactions.write(gemini_interactions.read(body), RESULTS)]
    judged = [STEP.validate_python(step) for step in written]
    assert unknown(judged) == []
    assert [again(step) for step in judged] == written
    assert [name for step in judged for name in unnamed(step)] == []


def test_the_answers_are_results_in_googles_own_shape() -> None:
    for answer in gemini_interactions.write(gemini_interactions.read(INTERACTED[0]), RESULTS)[3:]:
        judged = interactions.FunctionResultStep.model_validate(plain(answer))
        assert (again(judged), unnamed(judged)) == (plain(answer), set())


def test_the_definitions_that_a_search_found_are_functions_to_google() -> None:
    turn = gemini_interactions.read(interaction(SEARCH))
    found = CallResult("search-1", "tool_search", Status.SUCCEEDED, data=[gemini_interactions.render(DEFINITION)])
    [answer] = gemini_interactions.write(turn, [found])[1:]
    judged = interactions.FunctionResultStep.model_validate(plain(answer))
    assert isinstance(judged.result, list)
    assert [type(each) for each in judged.result] == [interactions.Function]
    assert again(judged) == plain(answer)


def statuses_of(alias: Any) -> set[str]:
    return {word for member in get_args(alias) for word in get_args(member)}


@pytest.mark.parametrize(
    "alias",
    [
        interactions.InteractionStatus,
        interactions.InteractionSseEventInteractionStatus,
        interactions.InteractionStatusUpdateStatus,
    ],
)
def test_every_status_of_google_stands_in_the_table_and_no_other(alias: Any) -> None:
    assert set(gemini_interactions.STATUSES) == statuses_of(alias)


def test_every_type_of_step_is_known() -> None:
    assert named_types(interactions.Step) == steps.KNOWN


def test_every_type_of_delta_is_known() -> None:
    assert named_types(interactions.StepDeltaData) == assembly.KNOWN


def test_every_type_of_event_is_known() -> None:
    members: Iterable[Any] = get_args(get_args(interactions.InteractionSSEEvent)[0])
    words = {member.model_fields["event_type"].default for member in members}
    assert words - {"UNKNOWN"} == set(TAKERS)


def test_google_reads_the_same_stream() -> None:
    judged = [EVENT.validate_python(each) for each in STREAM]
    assert unknown(judged) == []
    assert [name for each in judged for name in unnamed(each)] == []
    assert gemini_interactions.read_stream(STREAM).proposals == PROPOSALS


@pytest.mark.parametrize(
    "step",
    [
        {"type": "function_call", "name": "get_weather", "arguments": {}},
        {"type": "function_call", "id": "c", "arguments": {}},
        {"type": "function_call", "id": "c", "name": "get_weather"},
        {"type": "function_call", "id": "c", "name": "get_weather", "arguments": "{}"},
        {"type": "tool_search_call", "arguments": {}},
        {"id": "c", "name": "get_weather", "arguments": {}},
    ],
)
def test_a_step_that_googles_model_refuses_is_refused_here_too(step: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        interactions.Interaction.model_validate(interaction(step))
    with pytest.raises(ResponseRefused):
        gemini_interactions.read(interaction(step))


def test_a_call_that_google_does_not_know_is_refused_here_on_purpose() -> None:
    body = interaction({"type": "plugin_call", "id": "c", "name": "get_weather", "arguments": {}})
    assert unknown(interactions.Interaction.model_validate(body)) == ["UnknownStep"]
    with pytest.raises(ResponseRefused):
        gemini_interactions.read(body)


def test_a_definition_is_listed_in_googles_own_shape() -> None:
    rendered = gemini_interactions.render(DEFINITION)
    judged = interactions.Function.model_validate(rendered)
    assert (again(judged), unnamed(judged)) == (rendered, set())


@pytest.mark.parametrize(
    "spoilt",
    [
        {"type": "function_result", "call_id": "c", "result": 7},
        {"type": "function_result", "result": {}},
        {"type": "function_result", "call_id": "c", "result": {}, "is_error": "maybe"},
    ],
)
def test_the_judge_of_steps_sees_a_mistake(spoilt: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        interactions.FunctionResultStep.model_validate(spoilt)


def test_the_judge_of_steps_sees_a_name_that_google_has_not() -> None:
    misspelt = {"type": "function_result", "call_id": "c", "result": {}, "isError": True}
    assert unnamed(interactions.FunctionResultStep.model_validate(misspelt)) == {"isError"}
