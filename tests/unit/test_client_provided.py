"""What the client hands to the door equals what the provider sent, whichever package has read it in between."""

import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import httpx2
import pytest
from anthropic import AsyncAnthropic
from google import genai
from google.genai import types
from hypothesis import given
from hypothesis import strategies as st
from openai import AsyncOpenAI
from pydantic import BaseModel

from adapters.client.provided import as_sent, delivered, written

Json = dict[str, Any]

QUESTION: Any = [{"role": "user", "content": "?"}]
ARGUMENTS: Json = {"order_id": "O-17", "none": None, "big": 2**70, "fraction": 1.5, "deep": [{"": []}]}

MESSAGE: Json = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "some-model",
    "content": [
        {"type": "thinking", "thinking": "...", "signature": "EqQB+/=="},
        {"type": "text", "text": "I look.", "citations": None},
        {
            "type": "tool_use",
            "id": "call-1",
            "name": "get_order",
            "input": ARGUMENTS,
            "caller": {"type": "direct"},
            "unheard_of": {"deep": [None, 1]},
        },
        {"type": "kind_of_tomorrow", "id": "b-1", "payload": {"x": None}},
    ],
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "usage": {"input_tokens": 1, "output_tokens": 2, "unheard_of": {"a": 1}},
    "unheard_of": None,
}
COMPLETION: Json = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "some-model",
    "choices": [
        {
            "index": 0,
            "finish_reason": "tool_calls",
            "logprobs": None,
            "message": {
                "role": "assistant",
                "content": None,
                "refusal": None,
                "annotations": [],
                "tool_calls": [
                    {
                        "id": "call-1",
                        "type": "function",
                        "function": {"name": "get_order", "arguments": '{"order_id": "O-17"}'},
                        "unheard_of": 1,
                    },
                    {"id": "call-2", "type": "custom", "custom": {"name": "write", "input": "x"}},
                ],
            },
        }
    ],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    "unheard_of": {"a": None},
}
RESPONSE: Json = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1,
    "status": "completed",
    "model": "some-model",
    "output": [
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": None},
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "phase": "commentary",
            "content": [{"type": "output_text", "text": "I look.", "annotations": []}],
        },
        {
            "type": "function_call",
            "id": "fc_1",
            "call_id": "call-1",
            "name": "get_order",
            "arguments": "{}",
            "async": True,
            "caller": {"type": "program", "caller_id": "pr_1"},
        },
        {"type": "item_of_tomorrow", "id": "it_1", "payload": {"x": None}},
    ],
    "unheard_of": {"a": None},
}
CONTENT: Json = {
    "candidates": [
        {
            "index": 0,
            "finishReason": "STOP",
            "content": {
                "role": "model",
                "parts": [
                    {"text": "I look.", "thought": True},
                    {
                        "functionCall": {"id": "call-1", "name": "get_order", "args": ARGUMENTS},
                        "thoughtSignature": "+/+/AA==",
                    },
                    {"functionCall": {"name": "get_order"}},
                    {"inlineData": {"mimeType": "image/png", "data": "iVBORw0K//8="}},
                ],
            },
        }
    ],
    "modelVersion": "some-model",
    "responseId": "r-1",
    "usageMetadata": {"promptTokenCount": 1, "totalTokenCount": 2},
}
INTERACTION: Json = {
    "id": "int_1",
    "object": "interaction",
    "status": "requires_action",
    "model": "some-model",
    "created": "2026-11-30T12:00:00Z",
    "steps": [
        {"type": "thought", "signature": "c2ln", "summary": [{"type": "text", "text": "..."}]},
        {"type": "model_output", "content": [{"type": "text", "text": "I look."}]},
        {"type": "model_output", "content": [{"type": "image", "mime_type": "image/png", "data": "iVBORw0K//8="}]},
        {"type": "function_call", "id": "call-1", "name": "get_order", "arguments": ARGUMENTS, "unheard_of": 1},
        {"type": "step_of_tomorrow", "payload": {"x": None}},
    ],
    "usage": {"total_tokens": 2, "unheard_of": None},
    "unheard_of": {"a": None},
}


class Order(BaseModel):
    """What a package may be told to read."""

    order_id: str


def answering(body: Any, events: bool = False) -> httpx2.AsyncClient:
    """The line to a provider that sends this answer. It may be one that only Python's parser takes for JSON."""
    kind = "text/event-stream" if events else "application/json"
    content = body if events else json.dumps(body)
    return httpx2.AsyncClient(
        transport=httpx2.MockTransport(lambda _: httpx2.Response(200, content=content, headers={"content-type": kind}))
    )


def anthropic(line: httpx2.AsyncClient) -> AsyncAnthropic:
    return AsyncAnthropic(api_key="none", base_url="http://model", http_client=line)


def openai(line: httpx2.AsyncClient) -> AsyncOpenAI:
    return AsyncOpenAI(api_key="none", base_url="http://model", http_client=line)


def google(line: httpx2.AsyncClient) -> Any:
    options = types.HttpOptions(base_url="http://model", httpx_async_client=line)
    return genai.Client(api_key="none", http_options=options).aio


Reading = Callable[[httpx2.AsyncClient], Awaitable[Any]]

READINGS: dict[str, tuple[Json, Reading]] = {
    "messages": (
        MESSAGE,
        lambda line: anthropic(line).messages.create(model="m", max_tokens=1, messages=QUESTION),
    ),
    "beta messages": (
        MESSAGE,
        lambda line: anthropic(line).beta.messages.create(model="m", max_tokens=1, messages=QUESTION),
    ),
    "chat": (COMPLETION, lambda line: openai(line).chat.completions.create(model="m", messages=QUESTION)),
    "responses": (RESPONSE, lambda line: openai(line).responses.create(model="m", input="?")),
    "generateContent": (CONTENT, lambda line: google(line).models.generate_content(model="m", contents="?")),
    "interactions": (INTERACTION, lambda line: google(line).interactions.create(model="m", input="?")),
}


def arrives(response: Any) -> Any:
    """What the door reads."""
    return json.loads(written(delivered(response, None)))["response"]


@pytest.mark.parametrize("name", READINGS)
async def test_a_response_of_a_package_arrives_as_the_provider_sent_it(name: str) -> None:
    sent, reading = READINGS[name]
    assert arrives(await reading(answering(sent))) == sent


# -- what packages add


SPOKEN: Json = {"order_id": "O-17"}


async def test_what_a_package_has_made_of_the_words_of_a_message_is_not_sent() -> None:
    sent = MESSAGE | {"content": [{"type": "text", "text": json.dumps(SPOKEN)}], "stop_reason": "end_turn"}
    message = await anthropic(answering(sent)).messages.parse(
        model="m", max_tokens=1, messages=QUESTION, output_format=Order
    )
    assert message.parsed_output == Order(order_id="O-17")
    assert arrives(message) == sent


async def test_what_a_package_has_made_of_a_completion_and_its_calls_is_not_sent() -> None:
    call = {"id": "call-1", "type": "function", "function": {"name": "get_order", "arguments": "{}"}}
    message = {"role": "assistant", "content": json.dumps(SPOKEN), "tool_calls": [call]}
    sent = COMPLETION | {"choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}]}
    tool: Any = {"type": "function", "function": {"name": "get_order", "strict": True, "parameters": {}}}
    completion = await openai(answering(sent)).chat.completions.parse(
        model="m", messages=QUESTION, response_format=Order, tools=[tool]
    )
    assert completion.choices[0].message.parsed == Order(order_id="O-17")
    assert arrives(completion) == sent


async def test_what_a_package_has_made_of_the_items_of_a_response_is_not_sent() -> None:
    sent = RESPONSE | {"output": RESPONSE["output"][:3]}
    response = await openai(answering(sent)).responses.parse(model="m", input="?")
    assert "parsed_arguments" in response.output[2].model_dump()
    assert arrives(response) == sent


async def test_what_a_package_has_made_of_the_words_of_a_candidate_is_not_sent() -> None:
    content = {"role": "model", "parts": [{"text": json.dumps(SPOKEN)}]}
    sent = CONTENT | {"candidates": [{"finishReason": "STOP", "content": content}]}
    response = await google(answering(sent)).models.generate_content(
        model="m", contents="?", config={"response_mime_type": "application/json", "response_schema": Order}
    )
    assert response.parsed == Order(order_id="O-17")
    assert arrives(response) == sent


async def test_what_googles_package_does_not_know_of_a_candidate_is_gone_before_it_comes_to_us() -> None:
    candidate = CONTENT["candidates"][0] | {"unheard_of": 1}
    _, reading = READINGS["generateContent"]
    assert arrives(await reading(answering(CONTENT | {"candidates": [candidate]}))) == CONTENT


@pytest.mark.filterwarnings("ignore:REASON_OF_TOMORROW is not a valid FinishReason")
async def test_a_word_that_googles_package_does_not_know_arrives_as_it_is() -> None:
    sent = CONTENT | {"candidates": [CONTENT["candidates"][0] | {"finishReason": "REASON_OF_TOMORROW"}]}
    _, reading = READINGS["generateContent"]
    assert arrives(await reading(answering(sent))) == sent


# -- what is not JSON in Python


@given(st.binary(min_size=1))
async def test_a_signature_arrives_as_the_text_that_it_was(signature: bytes) -> None:
    part = types.Part.model_validate({"functionCall": {"name": "get_order"}, "thoughtSignature": signature})
    received = as_sent(types.Part.model_validate_json(part.model_dump_json(by_alias=True, exclude_unset=True)))
    again = types.Part.model_validate(received)
    assert again.thought_signature == signature
    assert set(received["thoughtSignature"]).isdisjoint("-_"), "providers send the plain alphabet"


async def test_what_a_package_has_read_as_a_moment_arrives_as_the_same_moment() -> None:
    sent = MESSAGE | {"container": {"id": "container_1", "expires_at": "2026-11-30T12:00:00.000000Z"}}
    _, reading = READINGS["messages"]
    moment = arrives(await reading(answering(sent)))["container"]["expires_at"]
    assert datetime.fromisoformat(moment) == datetime(2026, 11, 30, 12, tzinfo=UTC)


async def test_an_odd_key_in_an_object_of_a_package_stays_as_odd_as_it_was() -> None:
    odd = MESSAGE | {"content": [MESSAGE["content"][2] | {"input": {"half \ud83d": "\ud83d"}}]}
    _, reading = READINGS["messages"]
    assert arrives(await reading(answering(odd))) == odd


async def test_a_number_that_json_does_not_have_never_becomes_null_on_its_way() -> None:
    call = MESSAGE["content"][2] | {"input": {"amount": float("nan")}}
    _, reading = READINGS["messages"]
    response = await reading(answering(MESSAGE | {"content": [call]}))
    with pytest.raises(ValueError, match="not JSON compliant"):
        arrives(response)


# -- streams


def lines(*events: Json, named: str = "", end: str = "") -> str:
    """As server-sent events; `named` is the member that names the event in its own line."""
    return "".join(f"event: {e.get(named)}\n" * bool(named) + f"data: {json.dumps(e)}\n\n" for e in events) + end


MESSAGE_EVENTS: list[Json] = [
    {"type": "message_start", "message": MESSAGE | {"content": [], "stop_reason": None}},
    {
        "type": "content_block_start",
        "index": 0,
        "content_block": {"type": "tool_use", "id": "call-1", "name": "get_order", "input": {}},
    },
    {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": '{"a": 1'}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "delta_of_tomorrow", "x": None}},
    {"type": "content_block_stop", "index": 0, "unheard_of": 1},
    {
        "type": "message_delta",
        "delta": {"stop_reason": "tool_use", "stop_sequence": None},
        "usage": {"output_tokens": 2},
    },
    {"type": "message_stop"},
]
COMPLETION_CHUNKS: list[Json] = [
    {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "some-model",
        "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}],
        "unheard_of": None,
    }
    for delta, reason in (
        (
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {"index": 0, "id": "call-1", "type": "function", "function": {"name": "get_order", "arguments": ""}}
                ],
            },
            None,
        ),
        ({"tool_calls": [{"index": 0, "function": {"arguments": '{"a": 1}'}}]}, None),
        ({}, "tool_calls"),
    )
]
RESPONSE_EVENTS: list[Json] = [
    {"type": "response.created", "sequence_number": 0, "response": RESPONSE | {"status": "in_progress", "output": []}},
    {
        "type": "response.output_item.added",
        "sequence_number": 1,
        "output_index": 0,
        "item": RESPONSE["output"][2] | {"arguments": "", "status": "in_progress"},
    },
    {
        "type": "response.function_call_arguments.delta",
        "sequence_number": 2,
        "output_index": 0,
        "item_id": "fc_1",
        "delta": "{}",
    },
    {"type": "response.event_of_tomorrow", "sequence_number": 3, "x": None},
    {"type": "response.completed", "sequence_number": 4, "response": RESPONSE},
]
CONTENT_CHUNKS: list[Json] = [
    {"candidates": [{"content": CONTENT["candidates"][0]["content"]}], "responseId": "r-1"},
    {"candidates": [{"finishReason": "STOP", "content": {"role": "model", "parts": [{"text": ""}]}}]},
]
INTERACTION_EVENTS: list[Json] = [
    {"event_type": "interaction.created", "interaction": {"id": "int_1", "status": "in_progress"}, "event_id": "e-1"},
    {
        "event_type": "step.start",
        "index": 0,
        "step": {"type": "function_call", "id": "call-1", "name": "get_order", "arguments": {}},
    },
    {"event_type": "step.delta", "index": 0, "delta": {"type": "arguments_delta", "arguments": '{"a": 1}'}},
    {"event_type": "step.delta", "index": 0, "delta": {"type": "delta_of_tomorrow", "x": None}},
    {"event_type": "step.stop", "index": 0, "unheard_of": {"a": None}},
    {"event_type": "event_of_tomorrow", "x": {"y": None}},
    {"event_type": "interaction.completed", "interaction": {"id": "int_1", "status": "requires_action"}},
]

STREAMS: dict[str, tuple[list[Json], str, Reading]] = {
    "messages": (
        MESSAGE_EVENTS,
        lines(*MESSAGE_EVENTS, named="type"),
        lambda line: anthropic(line).messages.create(model="m", max_tokens=1, messages=QUESTION, stream=True),
    ),
    "chat": (
        COMPLETION_CHUNKS,
        lines(*COMPLETION_CHUNKS, end="data: [DONE]\n\n"),
        lambda line: openai(line).chat.completions.create(model="m", messages=QUESTION, stream=True),
    ),
    "responses": (
        RESPONSE_EVENTS,
        lines(*RESPONSE_EVENTS, named="type"),
        lambda line: openai(line).responses.create(model="m", input="?", stream=True),
    ),
    "generateContent": (
        CONTENT_CHUNKS,
        lines(*CONTENT_CHUNKS),
        lambda line: google(line).models.generate_content_stream(model="m", contents="?"),
    ),
    "interactions": (
        INTERACTION_EVENTS,
        lines(*INTERACTION_EVENTS, named="event_type", end="data: [DONE]\n\n"),
        lambda line: google(line).interactions.create(model="m", input="?", stream=True),
    ),
}


@pytest.mark.parametrize("name", STREAMS)
async def test_the_events_of_a_packages_stream_arrive_as_the_provider_sent_them(name: str) -> None:
    sent, content, reading = STREAMS[name]
    stream = await reading(answering(content, events=True))
    body = delivered(None, [event async for event in stream])
    assert json.loads(written(body)) == {"events": sent}


async def test_what_the_streaming_convenience_of_a_package_adds_to_its_events_is_not_sent() -> None:
    whole = RESPONSE | {"output": [RESPONSE["output"][2]]}
    sent = [*RESPONSE_EVENTS[:3], RESPONSE_EVENTS[-1] | {"response": whole}]
    line = answering(lines(*sent, named="type"), events=True)
    async with openai(line).responses.stream(model="m", input="?") as stream:
        events = [event async for event in stream]
    assert any(hasattr(event, "snapshot") for event in events)
    assert json.loads(written(delivered(None, events)))["events"] == sent


# -- what is neither


@pytest.mark.parametrize("nothing", [None, 7, "text", ["no", "response"]])
def test_what_is_no_response_is_an_error_of_the_caller(nothing: Any) -> None:
    with pytest.raises(TypeError):
        delivered(nothing, None)


def test_what_is_no_event_is_an_error_of_the_caller() -> None:
    with pytest.raises(TypeError, match="a mapping or an object of a provider's package; this is str"):
        delivered(None, [{"type": "message_start"}, "data: {}"])


def test_a_response_and_its_events_are_two_things_to_hand_in() -> None:
    with pytest.raises(TypeError, match="exactly one of both"):
        delivered({}, [])
