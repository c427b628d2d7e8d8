"""The examples that talk to the running stack: the agent loops with the official packages, and the proposed refund."""

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx2
import pytest
from anthropic import AsyncAnthropic
from google import genai
from google.genai.types import HttpOptions
from openai import AsyncOpenAI
from sqlalchemy import select

from adapters.client import Onceward as Client
from adapters.postgres.tables import operations
from examples.agent_loops import (
    anthropic_messages,
    gemini_generate_content,
    gemini_interactions,
    openai_chat,
    openai_responses,
)
from examples.propose_refund import main, propose
from examples.scripted_model.server import scripted_model
from tests.support.onceward import Onceward
from tests.support.proposals import fresh
from tests.support.waiting import until
from worker.dev.folder import StateFolder
from worker.dev.layout import ROOT

LOOPS = (anthropic_messages, openai_chat, openai_responses, gemini_generate_content, gemini_interactions)


class Packages:
    """The scripted model as each provider's package meets it."""

    def __init__(self, url: str, line: httpx2.AsyncClient) -> None:
        openai = AsyncOpenAI(base_url=f"{url}/v1", api_key="any", http_client=line)
        options = HttpOptions(base_url=url, httpx_async_client=line)
        gemini = genai.Client(api_key="any", http_options=options).aio
        self.of: dict[str, Any] = {
            "anthropic-messages": AsyncAnthropic(base_url=url, api_key="any", http_client=line),
            "openai-chat": openai,
            "openai-responses": openai,
            "gemini-generate-content": gemini,
            "gemini-interactions": gemini,
        }

    async def streamed(self, surface: str, question: str, tools: list[Any]) -> Any:
        """The raw stream of a response that asks for the order."""
        package, messages = self.of[surface], [{"role": "user", "content": question}]
        asked: dict[str, Any] = {"model": "orders", "tools": tools, "stream": True}
        match surface:
            case "anthropic-messages":
                return await package.messages.create(max_tokens=1024, messages=messages, **asked)
            case "openai-chat":
                return await package.chat.completions.create(messages=messages, **asked)
            case "openai-responses":
                return await package.responses.create(input=question, **asked)
            case "gemini-interactions":
                return await package.interactions.create(input=question, **asked)
        config = {"tools": [{"functionDeclarations": tools}]}
        return await package.models.generate_content_stream(model="orders", contents=question, config=config)


async def converse(loop: ModuleType, model: Packages, door: Client, question: str, name: str) -> str:
    """What a loop of `examples` comes back with."""
    return str(await loop.converse(model.of[loop.SURFACE], door, question, name))


@pytest.fixture
async def model() -> AsyncIterator[Packages]:
    async with scripted_model() as url, httpx2.AsyncClient(trust_env=False) as line:
        yield Packages(url, line)


@pytest.fixture
async def door(onceward: Onceward) -> AsyncIterator[Client]:
    async with Client(onceward.stack.links.door, onceward.token) as client:
        yield client


async def test_the_loop_waits_for_a_person_and_the_model_names_the_receipt(
    onceward: Onceward, model: Packages, door: Client
) -> None:
    order_id = await onceward.provider.add_order()
    asked = converse(anthropic_messages, model, door, f"Refund the last payment of order {order_id}.", "refunds")
    conversation = asyncio.create_task(asked)
    operation_id = await until(lambda: waiting_for_a_person(onceward, order_id), bool)
    await onceward.approve(operation_id)
    last_words = await conversation
    (refund,) = (await onceward.provider.ledger(operation_id))["refunds"]
    assert last_words == f"Done: 12,000 KRW of order {order_id} refunded, receipt {refund['refund_id']}."


async def test_the_loop_ends_with_the_models_words_when_a_call_is_refused(
    onceward: Onceward, model: Packages, door: Client
) -> None:
    order_id = await onceward.provider.add_order()
    question = f"Refund the last payment of order {order_id}."
    assert "invalid_arguments" in await converse(anthropic_messages, model, door, question, "amount-as-text")
    assert await waiting_for_a_person(onceward, order_id) == ""


@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.SURFACE)
async def test_every_loop_reads_an_order_and_ends_with_the_models_words(
    onceward: Onceward, model: Packages, door: Client, loop: ModuleType
) -> None:
    order_id = await onceward.provider.add_order()
    last_words = await converse(loop, model, door, f"What can be refunded of order {order_id}?", "orders")
    assert last_words == f"12,000 KRW of order {order_id} can be refunded."


async def test_a_loop_goes_on_after_the_provider_has_paused(onceward: Onceward, model: Packages, door: Client) -> None:
    order_id = await onceward.provider.add_order()
    question = f"What can be refunded of order {order_id}?"
    last_words = await converse(anthropic_messages, model, door, question, "paused-orders")
    assert last_words == f"12,000 KRW of order {order_id} can be refunded."


@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.SURFACE)
async def test_a_stream_of_a_package_is_handed_in_as_its_events(
    onceward: Onceward, model: Packages, door: Client, loop: ModuleType
) -> None:
    order_id = await onceward.provider.add_order()
    tools = await door.tools(loop.SURFACE)
    stream = await model.streamed(loop.SURFACE, f"What can be refunded of order {order_id}?", tools)
    turn = await door.until_complete(loop.SURFACE, events=[event async for event in stream])
    assert [(result.status, result.data["refundable"]) for result in turn.results] == [("succeeded", 12000)]


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


async def test_the_request_that_the_readme_shows_is_answered_as_it_stands(onceward: Onceward) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (body,) = re.findall(r"-d '(\{.*?\})'\n", readme, re.DOTALL)
    # Others hand in responses of this name too, and the first to do so has said what it means.
    answer = await onceward.post(body.replace("msg_1", fresh("msg")).encode(), onceward.token(agent=""))
    assert answer.json()["results"][0]["data"]["order_id"] == "O-17"


async def test_a_stranger_is_led_from_a_proposed_refund_to_its_receipt(
    onceward: Onceward, capsys: pytest.CaptureFixture[str]
) -> None:
    proposing = asyncio.create_task(propose(onceward.stack.links.logs.parent))
    printed: list[str] = []

    async def link() -> str:
        printed.append(capsys.readouterr().out)
        return "".join(re.findall(r"http\S+/back-office(/operations/\S+/approval)\n", "".join(printed)))

    page = await until(link, bool)
    async with onceward.visitor("approver-1") as visitor:
        assert "Your decision" in (await visitor.page(page)).text
    operation_id = page.split("/")[2]
    await onceward.approve(operation_id)
    await proposing
    (refund,) = (await onceward.provider.ledger(operation_id))["refunds"]
    assert capsys.readouterr().out.endswith(f"receipt {refund['refund_id']}\n")


def test_a_refund_cannot_be_proposed_before_a_stack_was_started(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--state", str(tmp_path)]) == 2
    assert "No stack was started" in capsys.readouterr().err


def test_a_stack_that_does_not_run_is_said_to_be_away(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    StateFolder(tmp_path).remember("ports", {"api": 1, "issuer": 1})
    StateFolder(tmp_path).issuer.mkdir()
    assert main(["--state", str(tmp_path)]) == 1
    assert "Is `make dev` running?" in capsys.readouterr().err


async def waiting_for_a_person(onceward: Onceward, order_id: str) -> str:
    """The operation on that order that waits for approval, empty when there is none."""
    wanted = select(operations.c.operation_id).where(
        operations.c.resource.contains(order_id), operations.c.state == "awaiting_approval"
    )
    return "".join(row.operation_id for row in await onceward.rows(wanted))
