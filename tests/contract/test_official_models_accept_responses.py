"""OpenAI's own models judge what the surface of the Responses API reads and writes.

The traps are those of `test_official_models_accept`: adapters of TypedDicts drop unknown keys without a word, arrays
are checked only while they are iterated, and an adapter must outlive that.
"""

from collections.abc import Iterator
from types import UnionType
from typing import Annotated, Any, Literal, Required, Union, get_args, get_origin

import pytest
from openai.types.responses import (
    Response,
    ResponseError,
    ResponseOutputItem,
    ResponseStatus,
    ResponseStreamEvent,
    ToolParam,
    response_input_item_param,
)
from openai.types.responses.response import IncompleteDetails
from pydantic import BaseModel, TypeAdapter, ValidationError
from typing_extensions import get_type_hints

from adapters.envelopes import openai_responses
from adapters.envelopes.envelope import ToolDefinition
from adapters.envelopes.openai_responses import echo, items, streaming
from tests.unit.openai_responses_items import (
    ADDED_TOOLS,
    APPROVAL,
    BY_PROGRAM,
    CALLS,
    CODE,
    COMPACTION,
    DIRECT,
    EVERYTHING,
    FILE_SEARCH,
    FUNCTION_TOOL,
    HOSTED_SHELL,
    HOSTED_SHELL_OUTPUT,
    IMAGE,
    MCP_CALL,
    NAMESPACE_TOOL,
    NOT_CARRIED_OUT,
    QUERY,
    REASONING,
    REFUSAL,
    SEARCH,
    SERVER_FOUND,
    SERVER_SEARCH,
    STOCK,
    TEXT,
    WEATHER,
    WEB_SEARCH,
    response,
    stream_of,
    without,
)
from workflows.domain.errors import ResponseRefused
from workflows.domain.proposal import CallError, CallResult, Status


def members(hint: Any) -> Iterator[Any]:
    """The members of a union, however it is wrapped."""
    if hasattr(hint, "__metadata__"):
        yield from members(get_args(hint)[0])
    elif get_origin(hint) in (Union, UnionType, Annotated):
        for member in get_args(hint):
            yield from members(member)
    elif get_origin(hint) is Required:
        yield from members(get_args(hint)[0])
    else:
        yield hint


def words(hint: Any) -> frozenset[str]:
    return frozenset(word for member in members(hint) if get_origin(member) is Literal for word in get_args(member))


def kind_of(model: type[BaseModel]) -> str:
    [kind] = words(model.model_fields["type"].annotation)
    return kind


OUTPUT_ITEMS: dict[str, type[BaseModel]] = {kind_of(model): model for model in members(ResponseOutputItem)}
EVENTS: dict[str, type[BaseModel]] = {kind_of(model): model for model in members(ResponseStreamEvent)}
INPUT_HINTS: dict[str, dict[str, Any]] = {}
INPUT: dict[str, TypeAdapter[Any]] = {}
for _item in members(response_input_item_param.ResponseInputItemParam):
    _hints = get_type_hints(_item, include_extras=True)
    for _kind in words(_hints.get("type", Literal[()])):
        # Of the three kinds of message the last one, of the assistant, has the most to say.
        INPUT_HINTS[_kind], INPUT[_kind] = _hints, TypeAdapter(_item)
EVENT: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
TOOL: TypeAdapter[Any] = TypeAdapter(ToolParam)


def thawed(value: Any) -> Any:
    """Iterate everything, so that what is checked lazily is checked now."""
    if isinstance(value, dict):
        return {key: thawed(item) for key, item in value.items()}
    if isinstance(value, str) or not hasattr(value, "__iter__"):
        return value
    return [thawed(item) for item in value]


def judged(item: dict[str, Any]) -> Any:
    return thawed(INPUT[item["type"]].validate_python(item))


def echoed(item: dict[str, Any]) -> dict[str, Any]:
    """What goes back of one item, which OpenAI's model of a response accepts."""
    Response.model_validate(response(item))
    [written] = openai_responses.read(response(item)).echo
    return written


def results(body: dict[str, Any]) -> list[CallResult]:
    proposals = openai_responses.read(body).proposals
    data = {"tools": [FUNCTION_TOOL, NAMESPACE_TOOL]}
    return [CallResult(call.call_id, call.tool_name, Status.SUCCEEDED, data=data) for call in proposals]


def failures(body: dict[str, Any]) -> list[CallResult]:
    proposals, error = openai_responses.read(body).proposals, CallError("approval_denied")
    return [CallResult(call.call_id, call.tool_name, Status.FAILED_TERMINAL, error=error) for call in proposals]


SCREEN: dict[str, Any] = {
    "type": "computer_call_output",
    "id": "cuo_1",
    "call_id": "call-computer",
    "output": {"type": "computer_screenshot", "image_url": "https://shop.example/1.png"},
}
PATCHED = {"type": "apply_patch_call_output", "id": "apco_1", "call_id": "call-patch", "status": "completed"}
READ = {"type": "function_call_output", "id": "fco_1", "call_id": "call-1", "output": "22", "status": "completed"}
QUERIED = {"type": "custom_tool_call_output", "id": "ctco_1", "call_id": "call-1", "output": "22"}

BODIES = {
    "everything": EVERYTHING,
    "program": response(
        {**WEATHER, "caller": BY_PROGRAM, "namespace": "crm", "async": True},
        {**QUERY, "caller": DIRECT, "namespace": "crm", "async": True},
    ),
    "refusal": response(REFUSAL),
    "elsewhere": response(WEATHER, {**READ, "call_id": WEATHER["call_id"]}),
}
every_body = pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)


@every_body
@pytest.mark.parametrize("outcome", [results, failures])
def test_openai_takes_every_item_back_unchanged(body: dict[str, Any], outcome: Any) -> None:
    Response.model_validate(body)
    written = openai_responses.write(openai_responses.read(body), outcome(body))
    assert [judged(item) for item in written] == written


@every_body
def test_what_is_in_the_input_types_goes_back_as_it_came(body: dict[str, Any]) -> None:
    assert list(openai_responses.read(body).echo) == body["output"]


@every_body
@pytest.mark.parametrize("output_at_the_end", [True, False])
def test_openai_knows_every_event_of_the_streams(body: dict[str, Any], output_at_the_end: bool) -> None:
    events = stream_of(body, output_at_the_end=output_at_the_end)
    for event in events:
        assert EVENT.validate_python(event).type == event["type"]
    assert openai_responses.read_stream(events) == openai_responses.read(body)


@pytest.mark.parametrize("item", NOT_CARRIED_OUT, ids=lambda item: str(item["type"]))
def test_what_is_refused_on_purpose_is_what_openai_sends(item: dict[str, Any]) -> None:
    Response.model_validate(response(item))
    with pytest.raises(ResponseRefused) as refused:
        openai_responses.read(response(item))
    assert refused.value.code == "unsupported_call_type"


def test_the_tables_hold_every_word_of_the_official_types() -> None:
    assert openai_responses.STATUSES.keys() == set(get_args(ResponseStatus))
    assert openai_responses.INCOMPLETE_REASONS.keys() == words(IncompleteDetails.model_fields["reason"].annotation)
    assert openai_responses.ERROR_CODES.keys() == words(ResponseError.model_fields["code"].annotation)


def test_every_kind_of_item_of_the_official_types_is_somebodys_business() -> None:
    tables = (items.ANSWERED_HERE, items.NOT_CARRIED_OUT, items.PROVIDER_RUN, items.SAID)
    assert frozenset[str]().union(*tables) == OUTPUT_ITEMS.keys()
    assert sum(map(len, tables)) == len(OUTPUT_ITEMS)


def test_every_event_that_brings_an_item_or_ends_a_stream_is_heeded() -> None:
    bringing = {kind for kind, model in EVENTS.items() if "item" in model.model_fields}
    assert bringing == {"response.output_item.added", "response.output_item.done"}
    telling = {kind for kind, model in EVENTS.items() if "response" in model.model_fields}
    begun = {"response.created", "response.in_progress", "response.queued"}
    assert telling - begun == streaming.LAST_EVENTS.keys()


@pytest.mark.parametrize("kind", ["function_call", "tool_search_call"])
def test_a_call_has_no_status_but_those_that_are_told_apart(kind: str) -> None:
    assert words(OUTPUT_ITEMS[kind].model_fields["status"].annotation) == {"completed", "in_progress", "incomplete"}


@pytest.mark.parametrize("kind", OUTPUT_ITEMS)
def test_what_openai_sends_and_does_not_take_back_stands_in_the_tables(kind: str) -> None:
    sent = {field.alias or name: field for name, field in OUTPUT_ITEMS[kind].model_fields.items()}
    taken = INPUT_HINTS[kind]
    assert sent.keys() - taken.keys() <= set(echo.OUTPUT_ONLY.get(kind, ()))
    nulls = {name for name in sent.keys() & taken.keys() if type(None) in members(sent[name].annotation)}
    refused = {name for name in nulls if type(None) not in members(taken[name])}
    assert refused - set(echo.OUTPUT_ONLY.get(kind, ())) == {
        name for name in echo.NEVER_NULL.get(kind, ()) if "/" not in name
    }
    wanted = {name for name, hint in taken.items() if get_origin(hint) is Required}
    assert {name for name in wanted if not sent[name].is_required()} == set(echo.NEVER_ABSENT.get(kind, ()))


CREATED = {"created_by": "user-1"}
SEARCHED = {**WEB_SEARCH, "action": {"type": "search"}}
CHUNK = HOSTED_SHELL_OUTPUT["output"][0]
WIKI = {"type": "mcp", "server_label": "wiki"}
BLANK = {"type": "computer_screenshot"}
CUSTOM_TOOL = {"type": "custom", "name": "query"}
OF_CUSTOM = ("async", "defer_loading", "description", "format")


def nulls(*keys: str) -> dict[str, Any]:
    return dict.fromkeys(keys)


def loaded(tool: dict[str, Any]) -> dict[str, Any]:
    return {**SERVER_FOUND, "tools": [tool]}


def is_taken_back(item: dict[str, Any]) -> bool:
    try:
        return bool(judged(item) == item)
    except ValidationError:
        return False


@pytest.mark.parametrize(
    ("sent", "taken"),
    [
        ({**TEXT, "content": [TEXT["content"][0] | nulls("logprobs")]}, TEXT),
        (REASONING | nulls("content", "status"), REASONING),
        (WEATHER | nulls("id", "async", "namespace", "status"), without(WEATHER, "id", "status")),
        (QUERY | nulls("id", "async", "namespace"), without(QUERY, "id")),
        (MCP_CALL | nulls("status"), without(MCP_CALL, "status")),
        ({**WEB_SEARCH, "action": {"type": "search"} | nulls("query", "queries", "sources")}, SEARCHED),
        ({**FILE_SEARCH, "results": [nulls("file_id", "filename", "score", "text")]}, {**FILE_SEARCH, "results": [{}]}),
        (IMAGE | nulls("error", "svg_usage"), IMAGE),
        (without(IMAGE, "result"), IMAGE | nulls("result")),
        (without(CODE, "code", "outputs"), CODE | nulls("code", "outputs")),
        (SERVER_SEARCH | CREATED, SERVER_SEARCH),
        (COMPACTION | CREATED, COMPACTION),
        (HOSTED_SHELL | CREATED, HOSTED_SHELL),
        (HOSTED_SHELL_OUTPUT | CREATED | {"output": [CHUNK | CREATED]}, HOSTED_SHELL_OUTPUT),
        (SERVER_FOUND | CREATED, SERVER_FOUND),
        (loaded(FUNCTION_TOOL | nulls("async", "defer_loading")), loaded(without(FUNCTION_TOOL, "defer_loading"))),
        (loaded(CUSTOM_TOOL | nulls(*OF_CUSTOM)), loaded(CUSTOM_TOOL)),
        (
            loaded({**NAMESPACE_TOOL, "tools": [CUSTOM_TOOL | nulls(*OF_CUSTOM)]}),
            loaded({**NAMESPACE_TOOL, "tools": [CUSTOM_TOOL]}),
        ),
        (loaded(WIKI | nulls("authorization", "connector_id", "server_description")), loaded(WIKI)),
        ({**ADDED_TOOLS, "tools": [WIKI | nulls("server_url", "tunnel_id")]}, {**ADDED_TOOLS, "tools": [WIKI]}),
        (QUERIED | CREATED | {"status": "completed"}, QUERIED),
        (READ | CREATED, READ),
        (PATCHED | CREATED, PATCHED),
        (SCREEN | CREATED | {"status": "failed", "output": SCREEN["output"] | nulls("file_id")}, SCREEN),
        (SCREEN | {"status": "completed", "output": BLANK | nulls("image_url")}, SCREEN | {"output": BLANK}),
    ],
    ids=lambda item: str(item["type"]),
)
def test_an_item_that_openai_sends_and_does_not_take_back_goes_back_as_it_is_taken(
    sent: dict[str, Any], taken: dict[str, Any]
) -> None:
    assert not is_taken_back(sent)
    assert echoed(sent) == taken
    assert is_taken_back(taken)


def test_the_status_of_reasoning_does_not_go_back_although_the_type_has_it() -> None:
    """The API has answered "Unknown parameter: 'input[..].status'" to it."""
    sent = {**REASONING, "status": "completed"}
    assert is_taken_back(sent)
    assert echoed(sent) == REASONING


@pytest.mark.parametrize("role", ["tool", "assistant", "user", "system", "unknown"])
def test_tools_that_somebody_else_than_the_developer_has_added_do_not_go_back(role: str) -> None:
    body = response({**ADDED_TOOLS, "role": role}, WEATHER)
    Response.model_validate(body)
    with pytest.raises(ValidationError):
        judged(body["output"][0])
    assert openai_responses.read(body).echo == (WEATHER,)


@pytest.mark.parametrize(
    "call",
    [
        without(WEATHER, "call_id"),
        without(WEATHER, "name"),
        {**WEATHER, "arguments": {"city": "Seoul"}},
        {**WEATHER, "caller": "program"},
        {**WEATHER, "namespace": 7},
        {**WEATHER, "status": "soon_to_be_invented"},
        without(QUERY, "input"),
        without(APPROVAL, "id"),
        without(APPROVAL, "server_label"),
        without(SEARCH, "execution"),
        {**WEATHER, "type": "device_call"},
    ],
)
def test_what_openais_model_refuses_is_refused_here_too(call: dict[str, Any]) -> None:
    body = response(STOCK, call)
    with pytest.raises(ValidationError):
        Response.model_validate(body)
    with pytest.raises(ResponseRefused):
        openai_responses.read(body)


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("deferred", [True, False])
def test_definitions_are_listed_in_openais_own_shape(strict: bool, deferred: bool) -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    definition = ToolDefinition(
        "get_weather", "Reads the weather.", schema, strict=strict, deferred=deferred, examples=({"city": "Seoul"},)
    )
    rendered = openai_responses.render(definition)
    assert thawed(TOOL.validate_python(rendered)) == rendered


@pytest.mark.parametrize("spoilt", [{"output": {"status": "succeeded"}}, {"output": None}, {"call_id": 7}])
def test_the_judges_see_a_mistake(spoilt: dict[str, Any]) -> None:
    """A judge that accepts anything proves nothing."""
    body = response(WEATHER)
    last = openai_responses.write(openai_responses.read(body), results(body))[-1]
    with pytest.raises(ValidationError):
        judged({**last, **spoilt})


def test_the_judges_see_a_key_too_many() -> None:
    assert judged({**CALLS[0], "created_by": "user-1"}) != {**CALLS[0], "created_by": "user-1"}
