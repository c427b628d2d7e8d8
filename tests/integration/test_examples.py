"""The agent loop of the examples, with the official package, the scripted model and the running stack."""

import asyncio
from collections.abc import AsyncIterator

import httpx2
import pytest
from anthropic import AsyncAnthropic
from sqlalchemy import select

from adapters.client import Onceward as Client
from adapters.postgres.tables import operations
from examples.agent_loop import converse, words
from examples.scripted_model.server import scripted_model
from tests.support.onceward import Onceward
from tests.support.waiting import until


@pytest.fixture
async def model() -> AsyncIterator[AsyncAnthropic]:
    async with (
        scripted_model() as url,
        AsyncAnthropic(base_url=url, api_key="none", http_client=httpx2.AsyncClient(trust_env=False)) as client,
    ):
        yield client


@pytest.fixture
async def door(onceward: Onceward) -> AsyncIterator[Client]:
    async with Client(onceward.stack.links.door, onceward.token) as client:
        yield client


async def test_the_loop_waits_for_a_person_and_the_model_names_the_receipt(
    onceward: Onceward, model: AsyncAnthropic, door: Client
) -> None:
    order_id = await onceward.provider.add_order()
    conversation = asyncio.create_task(converse(model, door, f"Refund the last payment of order {order_id}."))
    operation_id = await until(lambda: waiting_for_a_person(onceward, order_id), bool)
    await onceward.approve(operation_id)
    last = (await conversation)[-1]
    (refund,) = (await onceward.provider.ledger(operation_id))["refunds"]
    assert last["role"] == "assistant"
    assert words(last) == f"Done: 12,000 KRW of order {order_id} refunded, receipt {refund['refund_id']}."


async def test_the_loop_ends_with_the_models_words_when_a_call_is_refused(
    onceward: Onceward, model: AsyncAnthropic, door: Client
) -> None:
    order_id = await onceward.provider.add_order()
    last = (await converse(model, door, f"Refund the last payment of order {order_id}.", "amount-as-text"))[-1]
    assert "invalid_arguments" in words(last)
    assert await waiting_for_a_person(onceward, order_id) == ""


async def test_the_client_reads_an_operation_until_its_receipt(onceward: Onceward, door: Client) -> None:
    order_id = await onceward.provider.add_order()
    arguments = await onceward.provider.refund_arguments(order_id)
    call = {"type": "tool_use", "id": "call-1", "name": "refund_payment", "input": arguments}
    response = {"id": f"msg-{order_id}", "content": [call], "stop_reason": "tool_use"}
    waiting = (await door.turn("anthropic-messages", response)).results[0]
    assert (waiting.code, waiting.final) == ("approval_required", False)
    operation_id = str(waiting.operation_id)
    assert (await door.operation(operation_id)).state == "awaiting_approval"
    await onceward.approve(operation_id)
    done = (await door.until_complete("anthropic-messages", response)).results[0]
    operation = await door.operation(operation_id)
    assert (operation.state, operation.reference) == ("succeeded", done.data["refund_id"])


async def waiting_for_a_person(onceward: Onceward, order_id: str) -> str:
    """The operation on that order that waits for approval, empty when there is none."""
    wanted = select(operations.c.operation_id).where(
        operations.c.resource.contains(order_id), operations.c.state == "awaiting_approval"
    )
    return "".join(row.operation_id for row in await onceward.rows(wanted))
