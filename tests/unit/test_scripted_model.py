"""The scripted model as the official package meets it, and as strict as the real API about what it is sent."""

import json
from collections.abc import AsyncIterator
from typing import Any

import anthropic
import httpx2
import pytest
from anthropic import AsyncAnthropic
from anthropic.types import Message, ToolUseBlock

from examples.scripted_model.app import create_app
from examples.scripted_model.scripts import SCRIPTS
from examples.scripted_model.server import scripted_model

Json = dict[str, Any]

QUESTION: Json = {"role": "user", "content": "Refund the last payment of order O-17, 12,000 won."}
TOOLS: list[Any] = [
    {"name": name, "description": "", "input_schema": {"type": "object"}}
    for name in ("get_order", "prepare_refund", "refund_payment")
]
ORDER = {"order_id": "O-17", "refundable": 12000, "currency": "KRW"}
QUOTE = {"quote_id": "qt-1", "version": 2, "order_id": "O-17", "amount": 12000, "currency": "KRW"}
REFUND = {"refund_id": "rf-204", "order_id": "O-17", "amount": 12000, "currency": "KRW"}


@pytest.fixture
async def model() -> AsyncIterator[AsyncAnthropic]:
    transport = httpx2.ASGITransport(create_app(SCRIPTS))
    async with AsyncAnthropic(
        base_url="http://model", api_key="none", http_client=httpx2.AsyncClient(transport=transport)
    ) as client:
        yield client


async def said(model: AsyncAnthropic, *messages: Any, script: str = "refunds", tools: Any = TOOLS) -> Message:
    return await model.messages.create(model=script, max_tokens=64, messages=messages, tools=tools)


def call(call_id: str, name: str = "get_order") -> Json:
    return {"role": "assistant", "content": [{"type": "tool_use", "id": call_id, "name": name, "input": {}}]}


def answer(call_id: str, body: Json | None = None) -> Json:
    body = body or {"status": "succeeded", "data": ORDER}
    failed = body["status"] != "succeeded"
    return {"type": "tool_result", "tool_use_id": call_id, "is_error": failed, "content": json.dumps(body)}


def user(*blocks: Json) -> Json:
    return {"role": "user", "content": list(blocks)}


def succeeded(call_id: str, data: Json) -> Json:
    return user(answer(call_id, {"status": "succeeded", "data": data}))


def failed(call_id: str, code: str) -> Json:
    error = {"code": code, "message": "Because."}
    return user(answer(call_id, {"status": "failed_terminal", "error": error}))


def block_of(message: Message) -> ToolUseBlock:
    return next(block for block in message.content if isinstance(block, ToolUseBlock))


def text_of(message: Message) -> str:
    return "".join(block.text for block in message.content if block.type == "text")


PREPARED = [
    QUESTION,
    call("c-1"),
    succeeded("c-1", ORDER),
    call("c-2", "prepare_refund"),
    succeeded("c-2", QUOTE),
]


# -- what it decides


async def test_it_looks_the_order_of_the_question_up_first(model: AsyncAnthropic) -> None:
    first = await said(model, QUESTION)
    assert (first.stop_reason, block_of(first).name) == ("tool_use", "get_order")
    assert block_of(first).input == {"order_id": "O-17"}


async def test_it_quotes_what_the_look_up_found(model: AsyncAnthropic) -> None:
    second = await said(model, QUESTION, call("c-1"), succeeded("c-1", ORDER | {"refundable": 7000}))
    assert block_of(second).input == {"order_id": "O-17", "amount": 7000, "currency": "KRW"}


async def test_it_asks_for_the_refund_as_quoted(model: AsyncAnthropic) -> None:
    third = block_of(await said(model, *PREPARED))
    assert (third.id, third.name) == ("call-refund-3", "refund_payment")
    assert third.input == {
        "order_id": "O-17",
        "quote_id": "qt-1",
        "quote_version": 2,
        "amount": 12000,
        "currency": "KRW",
    }


@pytest.mark.parametrize(("amount", "currency", "spoken"), [(12000, "KRW", "12,000 KRW"), (2550, "USD", "25.50 USD")])
async def test_it_ends_by_naming_the_receipt(model: AsyncAnthropic, amount: int, currency: str, spoken: str) -> None:
    refunded = succeeded("c-3", REFUND | {"amount": amount, "currency": currency})
    last = await said(model, *PREPARED, call("c-3", "refund_payment"), refunded)
    assert last.stop_reason == "end_turn"
    assert text_of(last) == f"Done: {spoken} of order O-17 refunded, receipt rf-204."


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("approval_required", "A person has to approve this first"),
        ("reconciliation_pending", "still being carried out or checked"),
        ("approval_stale", "This was not done (approval_stale): Because."),
    ],
)
async def test_it_reacts_to_a_failure_with_words_and_no_further_call(
    model: AsyncAnthropic, code: str, words: str
) -> None:
    reaction = await said(model, *PREPARED, call("c-3", "refund_payment"), failed("c-3", code))
    assert reaction.stop_reason == "end_turn"
    assert words in text_of(reaction)


async def test_another_script_writes_the_amount_as_text(model: AsyncAnthropic) -> None:
    third = await said(model, *PREPARED, script="amount-as-text")
    assert block_of(third).input["amount"] == "12000"


async def test_another_script_asks_at_once_for_what_the_question_spells_out(model: AsyncAnthropic) -> None:
    question = {"role": "user", "content": "Refund order O-21 as in quote qt-9, 12,000 won."}
    first = block_of(await said(model, question, script="straight-refund"))
    assert (first.name, first.input["order_id"], first.input["quote_id"]) == ("refund_payment", "O-21", "qt-9")
    assert first.input["amount"] == 12000


async def test_a_second_question_begins_the_script_anew(model: AsyncAnthropic) -> None:
    end = {"role": "assistant", "content": "Done."}
    again = await said(model, *PREPARED, end, {"role": "user", "content": "And order O-18?"})
    assert block_of(again).input == {"order_id": "O-18"}


async def test_two_answers_to_one_conversation_have_ids_of_their_own(model: AsyncAnthropic) -> None:
    assert (await said(model, QUESTION)).id != (await said(model, QUESTION)).id


# -- what it refuses


@pytest.mark.parametrize(
    ("messages", "complaint"),
    [
        ([], "at least one message"),
        ([{"role": "assistant", "content": "Hello."}], "first message must use the `user` role"),
        ([{"role": "tool", "content": "x"}], "Input should be 'user' or 'assistant'"),
        ([{"role": "user", "content": []}], "content must not be empty"),
        (
            [user({"type": "tool_use", "id": "x", "name": "y", "input": {}})],
            "`tool_use` blocks are not allowed in user",
        ),
        ([QUESTION, call("c-1")], "without `tool_result` blocks immediately after: c-1"),
        ([QUESTION, call("c-1"), user({"type": "text", "text": "Go on."})], "without `tool_result` blocks"),
        ([QUESTION, call("c-1"), user({"type": "text", "text": "First."}, answer("c-1"))], "without `tool_result`"),
        ([QUESTION, call("c-1"), user(answer("c-1"), answer("c-9"))], "unexpected `tool_use_id` found.*c-9"),
        ([QUESTION, call("c-1"), user(answer("c-1"), answer("c-1"))], "each tool_use must have a single result"),
        ([QUESTION, user(answer("c-1"))], "unexpected `tool_use_id`"),
        (
            [QUESTION, call("c-1"), user(answer("c-1")), call("c-1"), user(answer("c-1"))],
            "`tool_use` ids must be unique",
        ),
        ([QUESTION, call("c-1"), user({"type": "tool_result", "content": "x"})], "tool_use_id: Field required"),
    ],
)
async def test_a_conversation_that_the_real_api_would_refuse_is_refused(
    model: AsyncAnthropic, messages: list[Any], complaint: str
) -> None:
    with pytest.raises(anthropic.BadRequestError, match=complaint) as refused:
        await said(model, *messages)
    body: Any = refused.value.body
    assert (body["type"], body["error"]["type"]) == ("error", "invalid_request_error")


async def test_text_after_the_results_is_allowed(model: AsyncAnthropic) -> None:
    second = await said(model, QUESTION, call("c-1"), user(answer("c-1"), {"type": "text", "text": "order O-17"}))
    assert second.stop_reason == "tool_use"


async def test_it_calls_only_what_it_was_offered(model: AsyncAnthropic) -> None:
    with pytest.raises(anthropic.BadRequestError, match="the script needs get_order"):
        await said(model, QUESTION, tools=[])


async def test_an_unknown_script_is_an_unknown_model(model: AsyncAnthropic) -> None:
    with pytest.raises(anthropic.NotFoundError, match="model: nobody"):
        await said(model, QUESTION, script="nobody")


@pytest.mark.parametrize(
    ("headers", "body", "status"),
    [
        ({"anthropic-version": "2023-06-01"}, "{}", 401),
        ({"x-api-key": "k"}, "{}", 400),
        ({"x-api-key": "k", "anthropic-version": "2023-06-01"}, "{", 400),
        ({"x-api-key": "k", "anthropic-version": "2023-06-01"}, '{"model": "refunds"}', 400),
    ],
)
async def test_a_request_without_what_the_api_needs_is_refused(headers: Json, body: str, status: int) -> None:
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(create_app(SCRIPTS)), base_url="http://model") as web:
        refused = await web.post("/v1/messages", headers=headers, content=body)
    assert (refused.status_code, refused.json()["type"]) == (status, "error")


# -- where it is


async def test_it_is_an_ordinary_server_on_a_free_port() -> None:
    async with (
        scripted_model() as url,
        AsyncAnthropic(base_url=url, api_key="none", http_client=httpx2.AsyncClient(trust_env=False)) as model,
    ):
        assert block_of(await said(model, QUESTION)).name == "get_order"
