"""The scripted model on every API, as the official packages meet it and judge what it sends."""

import json
from collections.abc import AsyncIterator
from typing import Any

import google.genai.errors
import google.genai.interactions
import httpx2
import openai
import pytest
from google.genai._interactions_errors import BadRequestError, NotFoundError

from tests.unit.scripted_line import ASKED, QUESTION, SCHEMA, TOOL, Json, gemini, line_to_the_model, openai_at

TOLD: Json = {"status": "succeeded", "data": {"order_id": "O-17", "refundable": 12000, "currency": "KRW"}}
REFUSED: Json = {"status": "failed_terminal", "error": {"code": "not_found", "message": "No such order."}}
LAST_WORDS = "12,000 KRW of order O-17 can be refunded."


@pytest.fixture
async def line() -> AsyncIterator[httpx2.AsyncClient]:
    async with line_to_the_model() as client:
        yield client


# -- each API, with its package's own objects


async def chat_says(line: httpx2.AsyncClient, *more: Json, model: str = "orders", tools: Any = None) -> Any:
    offered = [{"type": "function", "function": TOOL}] if tools is None else tools
    question = {"role": "user", "content": QUESTION}
    given: Any = {"messages": [question, *more], "tools": offered}
    return await openai_at(line).chat.completions.create(model=model, **given)


async def response_says(line: httpx2.AsyncClient, *more: Json, model: str = "orders", **kept: Any) -> Any:
    question = [] if "previous_response_id" in kept else [{"role": "user", "content": QUESTION}]
    offered = [{"type": "function", "strict": False, **TOOL}]
    given: Any = {"input": [*question, *more], "tools": offered, **kept}
    return await openai_at(line).responses.create(model=model, **given)


async def content_says(line: httpx2.AsyncClient, *more: Any, model: str = "orders", **client: Any) -> Any:
    declaration = {"name": "get_order", "parametersJsonSchema": SCHEMA}
    question = {"role": "user", "parts": [{"text": QUESTION}]}
    return await gemini(line, **client).models.generate_content(
        model=model, contents=[question, *more], config={"tools": [{"functionDeclarations": [declaration]}]}
    )


async def interaction_says(line: httpx2.AsyncClient, *more: Any, model: str = "orders", **kept: Any) -> Any:
    question = {"type": "user_input", "content": [{"type": "text", "text": QUESTION}]}
    steps = [] if "previous_interaction_id" in kept else [question]
    return await gemini(line).interactions.create(
        model=model, input=[*steps, *more], tools=[{"type": "function", **TOOL}], **kept
    )


# -- OpenAI Chat Completions


def tool_message(call_id: str, told: Json = TOLD) -> Json:
    return {"role": "tool", "tool_call_id": call_id, "content": json.dumps(told)}


async def test_chat_asks_for_a_call_and_ends_with_words(line: httpx2.AsyncClient) -> None:
    first = (await chat_says(line)).choices[0]
    (call,) = first.message.tool_calls
    assert (first.finish_reason, call.function.name, json.loads(call.function.arguments)) == (
        "tool_calls",
        "get_order",
        ASKED,
    )
    last = (await chat_says(line, first.message.to_dict(), tool_message(call.id))).choices[0]
    assert (last.finish_reason, last.message.content, last.message.tool_calls) == ("stop", LAST_WORDS, None)


async def test_chat_reacts_to_a_failure_with_words(line: httpx2.AsyncClient) -> None:
    first = (await chat_says(line)).choices[0].message
    last = await chat_says(line, first.to_dict(), tool_message(first.tool_calls[0].id, REFUSED))
    assert last.choices[0].message.content == "This was not done (not_found): No such order."


async def test_chat_refuses_a_call_without_its_answer(line: httpx2.AsyncClient) -> None:
    first = (await chat_says(line)).choices[0].message
    with pytest.raises(openai.BadRequestError, match="unanswered_call") as refused:
        await chat_says(line, first.to_dict(), {"role": "user", "content": "And?"})
    assert refused.value.type == "invalid_request_error"


async def test_chat_calls_only_what_it_was_offered(line: httpx2.AsyncClient) -> None:
    with pytest.raises(openai.BadRequestError, match="the script needs get_order"):
        await chat_says(line, tools=[])


# -- OpenAI Responses


def call_in(response: Any) -> Any:
    (call,) = (item for item in response.output if item.type == "function_call")
    return call


def output_of(call_id: str, told: Json = TOLD) -> Json:
    return {"type": "function_call_output", "call_id": call_id, "output": json.dumps(told)}


async def test_a_response_asks_for_a_call_and_the_next_one_ends_with_words(line: httpx2.AsyncClient) -> None:
    first = await response_says(line)
    assert (call_in(first).name, json.loads(call_in(first).arguments)) == ("get_order", ASKED)
    echo = [item.to_dict() for item in first.output]
    last = await response_says(line, *echo, output_of(call_in(first).call_id))
    assert last.output_text == LAST_WORDS


async def test_a_response_goes_on_from_the_one_that_was_kept(line: httpx2.AsyncClient) -> None:
    first = await response_says(line)
    answer = output_of(call_in(first).call_id, REFUSED)
    last = await response_says(line, answer, previous_response_id=first.id)
    assert last.output_text == "This was not done (not_found): No such order."


async def test_a_response_that_was_not_kept_is_not_found(line: httpx2.AsyncClient) -> None:
    first = await response_says(line, store=False)
    with pytest.raises(openai.BadRequestError, match=f"Previous response with id '{first.id}' not found"):
        await response_says(line, output_of(call_in(first).call_id), previous_response_id=first.id)


async def test_a_response_refuses_a_call_without_the_reasoning_that_led_to_it(line: httpx2.AsyncClient) -> None:
    call = call_in(await response_says(line))
    with pytest.raises(openai.BadRequestError, match="provided without its required 'reasoning' item"):
        await response_says(line, call.to_dict(), output_of(call.call_id))


async def test_a_response_refuses_a_call_without_its_output(line: httpx2.AsyncClient) -> None:
    first = await response_says(line)
    with pytest.raises(openai.BadRequestError, match="unanswered_call"):
        await response_says(line, {"role": "user", "content": "And?"}, previous_response_id=first.id)


# -- Gemini generateContent


def function_response(call_id: str, name: str = "output", told: Json = TOLD) -> Json:
    return {
        "role": "user",
        "parts": [{"functionResponse": {"id": call_id, "name": "get_order", "response": {name: told}}}],
    }


@pytest.mark.parametrize("version", ["v1", "v1beta"])
async def test_content_asks_for_a_call_and_ends_with_words(line: httpx2.AsyncClient, version: str) -> None:
    first = await content_says(line, version=version)
    (call,) = first.function_calls
    assert (call.name, call.args) == ("get_order", ASKED)
    last = await content_says(line, first.candidates[0].content, function_response(call.id), version=version)
    assert (last.text, last.function_calls) == (LAST_WORDS, None)


async def test_content_reacts_to_a_failure_with_words(line: httpx2.AsyncClient) -> None:
    first = await content_says(line)
    answer = function_response(first.function_calls[0].id, "error", REFUSED)
    last = await content_says(line, first.candidates[0].content, answer)
    assert last.text == "This was not done (not_found): No such order."


async def test_content_refuses_a_signature_that_it_did_not_give(line: httpx2.AsyncClient) -> None:
    content = (await content_says(line)).candidates[0].content
    call = next(part for part in content.parts if part.function_call)
    call.thought_signature = call.thought_signature[:-1]
    with pytest.raises(google.genai.errors.ClientError, match="Thought signature is not valid") as refused:
        await content_says(line, content, function_response(call.function_call.id))
    assert (refused.value.code, refused.value.status) == (400, "INVALID_ARGUMENT")


async def test_content_refuses_a_call_without_its_answer(line: httpx2.AsyncClient) -> None:
    first = await content_says(line)
    with pytest.raises(google.genai.errors.ClientError, match="unanswered_call"):
        await content_says(line, first.candidates[0].content)


# -- Gemini Interactions


def function_result(call_id: str, told: Json = TOLD) -> Json:
    failed = told["status"] != "succeeded"
    return {"type": "function_result", "call_id": call_id, "name": "get_order", "result": told, "is_error": failed}


def called_in(interaction: Any) -> Any:
    (call,) = (step for step in interaction.steps if step.type == "function_call")
    return call


async def test_an_interaction_asks_for_a_call_and_the_next_one_ends_with_words(line: httpx2.AsyncClient) -> None:
    first = await interaction_says(line, store=False)
    assert (first.status, called_in(first).name, called_in(first).arguments) == ("requires_action", "get_order", ASKED)
    last = await interaction_says(line, *first.steps, function_result(called_in(first).id), store=False)
    assert (last.status, last.output_text) == ("completed", LAST_WORDS)


async def test_an_interaction_goes_on_from_the_one_that_was_kept(line: httpx2.AsyncClient) -> None:
    first = await interaction_says(line)
    answer = function_result(called_in(first).id, REFUSED)
    last = await interaction_says(line, answer, previous_interaction_id=first.id)
    assert last.output_text == "This was not done (not_found): No such order."


async def test_an_interaction_that_was_not_kept_is_not_found(line: httpx2.AsyncClient) -> None:
    first = await interaction_says(line, store=False)
    with pytest.raises(NotFoundError, match="There is no interaction of this id"):
        await interaction_says(line, function_result(called_in(first).id), previous_interaction_id=first.id)


async def test_an_interaction_refuses_a_thought_that_it_did_not_have(line: httpx2.AsyncClient) -> None:
    steps = [step.to_dict() for step in (await interaction_says(line)).steps]
    _, thought, call = steps
    with pytest.raises(BadRequestError, match="signature of a thought is not valid"):
        await interaction_says(line, thought | {"signature": "AAAA"}, call, function_result(call["id"]))


async def test_an_interaction_refuses_a_call_without_its_result(line: httpx2.AsyncClient) -> None:
    first = await interaction_says(line)
    with pytest.raises(BadRequestError, match="unanswered_call"):
        await interaction_says(line, *first.steps)
