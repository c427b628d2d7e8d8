"""The providers' own models judge what the surfaces read and write.

Three traps: an adapter of a TypedDict drops unknown keys without a word, so what comes out is compared with what went
in; an `Iterable` field is checked only while it is iterated; and the adapter must outlive that iteration, so each one
is a constant here. None of the models checks pairing, order or uniqueness: `tests/unit` does.
"""

from typing import Any

import pytest
from anthropic.types import Message, MessageParam, ToolParam
from anthropic.types.beta import BetaMessage
from openai.types.chat import (
    ChatCompletion,
    ChatCompletionAssistantMessageParam,
    ChatCompletionFunctionToolParam,
    ChatCompletionToolMessageParam,
)
from pydantic import TypeAdapter, ValidationError

from adapters.envelopes import SURFACES, anthropic_messages, openai_chat
from adapters.envelopes.envelope import ToolDefinition
from tests.unit.three_reads import PROPOSALS, RESPONSES, RESULTS, choice, completion, message, tool_call, tool_use
from workflows.domain.errors import ResponseRefused

MESSAGE: TypeAdapter[Any] = TypeAdapter(MessageParam)
ANTHROPIC_TOOL: TypeAdapter[Any] = TypeAdapter(ToolParam)
ASSISTANT: TypeAdapter[Any] = TypeAdapter(ChatCompletionAssistantMessageParam)
TOOL: TypeAdapter[Any] = TypeAdapter(ChatCompletionToolMessageParam)
OPENAI_TOOL: TypeAdapter[Any] = TypeAdapter(ChatCompletionFunctionToolParam)

DEFINITION = ToolDefinition(
    "get_weather",
    "Reads the weather of a city.",
    {"type": "object", "properties": {"city": {"type": "string", "maxLength": 80}}, "required": ["city"]},
)

WHOLE_MESSAGE = message(
    {"type": "thinking", "thinking": "three reads", "signature": "EuYBCkQ=="},
    {"type": "redacted_thinking", "data": "AAEC"},
    {"type": "text", "text": "Three reads.", "citations": None},
    {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "ACME"}},
    {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
    *(tool_use(proposal, caller={"type": "direct"}) for proposal in PROPOSALS),
)
HOSTED_MESSAGE = message(
    {"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "ask", "server_name": "wiki", "input": {}},
    {"type": "mcp_tool_result", "tool_use_id": "mcptoolu_1", "is_error": False, "content": []},
    stop_reason="end_turn",
)


def thawed(value: Any) -> Any:
    """Iterate everything, so that what is checked lazily is checked now."""
    if isinstance(value, dict):
        return {key: thawed(item) for key, item in value.items()}
    if isinstance(value, str) or not hasattr(value, "__iter__"):
        return value
    return [thawed(item) for item in value]


def judged(adapter: TypeAdapter[Any], item: Any) -> Any:
    return thawed(adapter.validate_python(item))


@pytest.mark.parametrize("body", [RESPONSES["anthropic-messages"], WHOLE_MESSAGE])
def test_anthropic_takes_every_message_back_unchanged(body: dict[str, Any]) -> None:
    Message.model_validate(body)
    turn = anthropic_messages.read(body)
    for written in anthropic_messages.write(turn, RESULTS):
        assert judged(MESSAGE, written) == written


@pytest.mark.parametrize("stop_reason", [word for word in anthropic_messages.STOP_REASONS if word != "compaction"])
def test_anthropic_knows_every_stop_reason_of_the_table(stop_reason: str) -> None:
    Message.model_validate(message(stop_reason=stop_reason))


def test_anthropics_beta_model_accepts_hosted_calls_and_the_beta_stop_reason() -> None:
    BetaMessage.model_validate(message(stop_reason="compaction"))
    BetaMessage.model_validate(HOSTED_MESSAGE)
    assert anthropic_messages.read(HOSTED_MESSAGE).proposals == ()


@pytest.mark.parametrize(
    "block",
    [
        {"type": "tool_use", "name": "get_weather", "input": {}},
        {"type": "tool_use", "id": "c", "input": {}},
        {"type": "tool_use", "id": "c", "name": "get_weather"},
        {"type": "tool_use", "id": "c", "name": "get_weather", "input": "{}"},
        {"type": "device_tool_use", "id": "c", "name": "get_weather", "input": {}},
    ],
)
def test_what_anthropics_model_refuses_is_refused_here_too(block: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Message.model_validate(message(block))
    with pytest.raises(ResponseRefused):
        anthropic_messages.read(message(block))


def test_openai_takes_every_message_back_unchanged() -> None:
    body = RESPONSES["openai-chat"]
    ChatCompletion.model_validate(body)
    echo, *answers = openai_chat.write(openai_chat.read(body), RESULTS)
    assert judged(ASSISTANT, echo) == echo
    assert [judged(TOOL, answer) for answer in answers] == answers


@pytest.mark.parametrize("nothing", [None, []])
def test_calls_that_hold_nothing_are_not_sent_back_because_openai_takes_none(nothing: Any) -> None:
    body = completion(choice(finish_reason="stop", content="Done.", tool_calls=nothing))
    ChatCompletion.model_validate(body)
    [echo] = openai_chat.write(openai_chat.read(body), [])
    assert judged(ASSISTANT, echo) == echo
    assert "tool_calls" not in echo


def test_only_keys_that_openai_does_not_name_are_lost_to_its_model() -> None:
    body = completion(choice(*map(tool_call, PROPOSALS), annotations=[], reasoning_content="three reads"))
    ChatCompletion.model_validate(body)
    echo = openai_chat.read(body).echo[0]
    assert echo.keys() - judged(ASSISTANT, echo).keys() == {"annotations", "reasoning_content"}


@pytest.mark.parametrize("finish_reason", openai_chat.FINISH_REASONS)
def test_openai_knows_every_finish_reason_of_the_table(finish_reason: str) -> None:
    ChatCompletion.model_validate(completion(choice(finish_reason=finish_reason)))


@pytest.mark.parametrize("finish_reason", [None, "", "soon_to_be_invented"])
def test_what_openais_model_does_not_know_as_an_end_runs_nothing_here(finish_reason: str | None) -> None:
    body = completion(choice(tool_call(PROPOSALS[0]), finish_reason=finish_reason))
    with pytest.raises(ValidationError):
        ChatCompletion.model_validate(body)
    with pytest.raises(ResponseRefused):
        openai_chat.read(body)


@pytest.mark.parametrize(
    "call",
    [
        {"type": "function", "function": {"name": "get_weather", "arguments": "{}"}},
        {"id": "c", "type": "function", "function": {"arguments": "{}"}},
        {"id": "c", "type": "function", "function": {"name": "get_weather", "arguments": {}}},
        {"id": "c", "type": "plugin", "function": {"name": "get_weather", "arguments": "{}"}},
    ],
)
def test_what_openais_model_refuses_is_refused_here_too(call: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ChatCompletion.model_validate(completion(choice(call)))
    with pytest.raises(ResponseRefused):
        openai_chat.read(completion(choice(call)))


def test_definitions_are_listed_in_the_providers_own_shape() -> None:
    for adapter, module in ((ANTHROPIC_TOOL, anthropic_messages), (OPENAI_TOOL, openai_chat)):
        rendered = module.render(DEFINITION)
        assert judged(adapter, rendered) == rendered


@pytest.mark.parametrize("surface", SURFACES)
def test_the_judges_see_a_mistake(surface: str) -> None:
    """A judge that accepts anything proves nothing: spoil one field of the last message and watch it be refused."""
    envelope = SURFACES[surface]
    last = envelope.write(envelope.read(RESPONSES[surface]), RESULTS)[-1]
    spoilt = {**last, "content": [{"type": "tool_result", "content": {"status": "succeeded"}}]}
    with pytest.raises(ValidationError):
        judged(MESSAGE if surface == "anthropic-messages" else TOOL, spoilt)
