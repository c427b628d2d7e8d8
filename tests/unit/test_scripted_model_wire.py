"""What the scripted model sends on every API, whole and in pieces, judged by the official packages."""

import json
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import anthropic
import google.genai.interactions
import httpx2
import pytest
from anthropic.types import Message, RawMessageStreamEvent
from google.genai import types
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import BaseModel, TypeAdapter

from tests.unit.scripted_line import (
    ASKED,
    QUESTION,
    SCHEMA,
    TOOL,
    Json,
    gemini,
    line_to_the_model,
    messages,
    openai_at,
)


@pytest.fixture
async def line() -> AsyncIterator[httpx2.AsyncClient]:
    async with line_to_the_model() as client:
        yield client


MESSAGE_EVENT: TypeAdapter[Any] = TypeAdapter(RawMessageStreamEvent)
RESPONSE_EVENT: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
INTERACTION_EVENT: TypeAdapter[Any] = TypeAdapter(google.genai.interactions.InteractionSSEEvent)

KEYS = {"x-api-key": "any", "anthropic-version": "2023-06-01", "authorization": "Bearer any", "x-goog-api-key": "any"}
"""Whatever an API wants to see."""

Judge = Callable[[Any], Any]

APIS: dict[str, tuple[str, Json, Judge, Judge]] = {
    "messages": (
        "/v1/messages",
        {
            "max_tokens": 64,
            "messages": [{"role": "user", "content": QUESTION}],
            "tools": [{"name": "get_order", "input_schema": SCHEMA}],
        },
        Message.model_validate,
        MESSAGE_EVENT.validate_python,
    ),
    "chat": (
        "/v1/chat/completions",
        {"messages": [{"role": "user", "content": QUESTION}], "tools": [{"type": "function", "function": TOOL}]},
        ChatCompletion.model_validate,
        ChatCompletionChunk.model_validate,
    ),
    "responses": (
        "/v1/responses",
        {"input": QUESTION, "tools": [{"type": "function", **TOOL}]},
        Response.model_validate,
        RESPONSE_EVENT.validate_python,
    ),
    "generateContent": (
        "/v1beta/models/{}:generateContent",
        {
            "contents": [{"role": "user", "parts": [{"text": QUESTION}]}],
            "tools": [{"function_declarations": [TOOL]}],
        },
        types.GenerateContentResponse.model_validate,
        types.GenerateContentResponse.model_validate,
    ),
    "interactions": (
        "/v1beta/interactions",
        {"input": QUESTION, "tools": [{"type": "function", **TOOL}]},
        google.genai.interactions.Interaction.model_validate,
        INTERACTION_EVENT.validate_python,
    ),
}

every_api = pytest.mark.parametrize("name", APIS)


async def posted(
    line: httpx2.AsyncClient, name: str, model: str = "orders", keys: Json = KEYS, stream: bool = False
) -> httpx2.Response:
    path, body, _, _ = APIS[name]
    place = path.format(model).replace(":generate", ":streamGenerate") if stream else path.format(model)
    return await line.post(place, headers=keys, json=body | {"model": model, "stream": stream})


def events_in(text: str) -> Iterator[Json]:
    for each in text.split("\n"):
        if each.startswith("data: ") and each != "data: [DONE]":
            yield json.loads(each.removeprefix("data: "))


def members(value: Any) -> Iterator[BaseModel]:
    """Every object that a package has read, and those within."""
    if isinstance(value, BaseModel):
        yield value
        for _, each in value:
            yield from members(each)
    elif isinstance(value, list):
        for each in value:
            yield from members(each)


def unheard_of(read: Any) -> list[Any]:
    """What a package has kept without knowing it."""
    found = (each for each in members(read) if each.model_extra or getattr(each, "is_unknown", False))
    # The API names the kind of an interaction, as it does of the one in an event, where the package knows the member.
    return [each for each in found if set(each.model_extra or {"unknown"}) != {"object"}]


@every_api
@pytest.mark.parametrize("model", ["orders", "refunds"])
async def test_the_official_model_knows_all_that_is_sent(line: httpx2.AsyncClient, name: str, model: str) -> None:
    _, _, judge, _ = APIS[name]
    answer = await posted(line, name, model)
    assert answer.status_code == 200
    assert unheard_of(judge(answer.json())) == []


@every_api
async def test_the_official_models_know_every_event_of_a_stream(line: httpx2.AsyncClient, name: str) -> None:
    _, _, _, judge = APIS[name]
    answer = await posted(line, name, stream=True)
    assert answer.headers["content-type"].startswith("text/event-stream")
    events = [judge(each) for each in events_in(answer.text)]
    assert len(events) > 1
    assert unheard_of(events) == []


@every_api
async def test_without_a_key_nothing_is_said(line: httpx2.AsyncClient, name: str) -> None:
    refused = await posted(line, name, keys={})
    assert (refused.status_code, "error" in refused.json()) == (403 if name[0] in "gi" else 401, True)


@every_api
async def test_an_unknown_script_is_an_unknown_model(line: httpx2.AsyncClient, name: str) -> None:
    refused = await posted(line, name, "nobody")
    assert refused.status_code == 404
    assert "nobody" in refused.json()["error"]["message"]


@pytest.mark.parametrize("name", ["chat", "responses", "generateContent", "interactions"])
async def test_an_api_without_pauses_has_none(line: httpx2.AsyncClient, name: str) -> None:
    refused = await posted(line, name, "paused-orders")
    assert (refused.status_code, "pause" in refused.json()["error"]["message"]) == (400, True)


async def test_a_paused_message_is_sent_back_and_goes_on(line: httpx2.AsyncClient) -> None:
    _, body, _, _ = APIS["messages"]
    first = await messages(line).messages.create(model="paused-orders", **body)
    assert (first.stop_reason, first.content[-1].type) == ("pause_turn", "web_search_tool_result")
    echo = {"role": "assistant", "content": [block.to_dict() for block in first.content]}
    second = await messages(line).messages.create(
        model="paused-orders", **body | {"messages": [*body["messages"], echo]}
    )
    assert second.stop_reason == "tool_use"


# -- streams, put together by the packages


STRICT: Any = {"strict": True, **TOOL}
"""What the packages want before they put a stream together."""


async def test_a_streamed_message_is_the_whole_one(line: httpx2.AsyncClient) -> None:
    _, body, _, _ = APIS["messages"]
    async with messages(line).messages.stream(model="orders", **body) as stream:
        message = await stream.get_final_message()
    words, call = message.content
    assert isinstance(call, anthropic.types.ToolUseBlock)
    assert (words.type, call.input, message.stop_reason) == ("text", ASKED, "tool_use")


async def test_a_streamed_completion_is_the_whole_one(line: httpx2.AsyncClient) -> None:
    _, body, _, _ = APIS["chat"]
    tools: Any = [{"type": "function", "function": STRICT}]
    async with openai_at(line).chat.completions.stream(model="orders", **body | {"tools": tools}) as stream:
        message = (await stream.get_final_completion()).choices[0].message
    assert message.tool_calls is not None
    assert message.content == "I look the order up first."
    assert [json.loads(call.function.arguments) for call in message.tool_calls] == [ASKED]


async def test_a_streamed_response_is_the_whole_one(line: httpx2.AsyncClient) -> None:
    tools: Any = [{"type": "function", **STRICT}]
    async with openai_at(line).responses.stream(model="orders", input=QUESTION, tools=tools) as stream:
        texts = [event.text async for event in stream if event.type == "response.output_text.done"]
        response = await stream.get_final_response()
    assert [json.loads(item.arguments) for item in response.output if item.type == "function_call"] == [ASKED]
    assert texts == [response.output_text] == ["I look the order up first."]


async def test_streamed_content_is_the_whole_one_in_pieces(line: httpx2.AsyncClient) -> None:
    _, body, _, _ = APIS["generateContent"]
    stream = await gemini(line).models.generate_content_stream(
        model="orders", contents=body["contents"], config={"tools": [{"functionDeclarations": [TOOL]}]}
    )
    chunks = [chunk async for chunk in stream]
    assert [chunk.candidates[0].finish_reason for chunk in chunks] == [None, None, "STOP"]
    assert [call.args for chunk in chunks for call in chunk.function_calls or ()] == [ASKED]


async def test_a_streamed_interaction_ends_as_the_whole_one_does(line: httpx2.AsyncClient) -> None:
    _, body, _, _ = APIS["interactions"]
    stream = await gemini(line).interactions.create(model="orders", stream=True, **body)
    events = [event async for event in stream]
    pieces = [
        event.delta.arguments for event in events if getattr(event, "delta", None) and "arguments" in event.delta.type
    ]
    assert json.loads("".join(pieces)) == ASKED
    assert events[-1].interaction.status == "requires_action"
