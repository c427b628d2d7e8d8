"""The agent loops against the scripted model, with a door of a few lines that reads and writes the real envelopes."""

from collections.abc import Awaitable, Callable
from types import ModuleType
from typing import Any

import httpx2
import pytest
from anthropic import AsyncAnthropic
from google import genai
from google.genai.types import HttpOptions
from openai import AsyncOpenAI

from adapters import strict_json
from adapters.client import Onceward
from adapters.envelopes import SURFACES
from adapters.envelopes.envelope import ToolDefinition
from examples.agent_loops import (
    anthropic_messages,
    gemini_generate_content,
    gemini_interactions,
    openai_chat,
    openai_responses,
)
from examples.scripted_model.app import create_app
from examples.scripted_model.script import Call, Pause, Script
from examples.scripted_model.scripts import SCRIPTS
from workflows.domain.proposal import CallResult, Proposal, Status

QUESTION = "What can be refunded of order O-17?"
LAST_WORDS = "12,000 KRW of order O-17 can be refunded."

GET_ORDER = ToolDefinition("get_order", "Looks an order up.", {"type": "object", "properties": {"order_id": {}}})
FIND_TOOLS = ToolDefinition("find_tools", "Finds tools.", {"type": "object", "properties": {"query": {}}})

ORDER = {"order_id": "O-17", "refundable": 12000, "currency": "KRW"}

LOOK, TELL = SCRIPTS["orders"]
FIND = Call("call-find-1", "find_tools", lambda _: {"query": "orders"})
FIND_AGAIN = Call("call-find-2", "find_tools", lambda _: {"query": "orders"})
MODELS: dict[str, Script] = {
    "orders": (LOOK, TELL),
    "found-orders": (FIND, FIND_AGAIN, LOOK, TELL),
    "paused-orders": (Pause("I read first."), LOOK, TELL),
    "restless": [Pause("I read on.")] * 20,
}


class Door:
    """Answers every call at once. What is searched for is found: the tool that was not offered from the start."""

    def __init__(self, *offered: ToolDefinition) -> None:
        self._offered = offered
        self.turns = 0

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        if request.method == "GET":
            envelope = SURFACES[request.url.params["surface"]]
            body: dict[str, Any] = {"tools": [envelope.render(tool) for tool in self._offered]}
        else:
            body = self._turn(strict_json.parse(request.content, limit=1_000_000))
        return httpx2.Response(200, content=strict_json.dump(body))

    def _turn(self, asked: Any) -> dict[str, Any]:
        self.turns += 1
        envelope = SURFACES[asked["surface"]]
        read = envelope.read(asked["response"])
        results = [_result(each) for each in read.proposals]
        append = envelope.write(read, results)
        searched = any(each.tool_name == "find_tools" for each in read.proposals)
        return {
            "request_id": read.request_id,
            "complete": True,
            "paused": read.paused,
            "results": [
                {"call_id": r.call_id, "tool_name": r.tool_name, "final": True, "replayed": False, **r.body()}
                for r in results
            ],
            "append": append,
            "answers": append[len(read.echo) :],
            "tools": [envelope.render(GET_ORDER)] if searched else [],
        }


def _result(proposal: Proposal) -> CallResult:
    data = ORDER if proposal.tool_name == "get_order" else {"found": ["get_order"]}
    return CallResult(proposal.call_id, proposal.tool_name, Status.SUCCEEDED, data)


def line() -> httpx2.AsyncClient:
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(create_app(MODELS)))


def anthropic() -> AsyncAnthropic:
    return AsyncAnthropic(base_url="http://model", api_key="any", http_client=line())


def openai() -> AsyncOpenAI:
    return AsyncOpenAI(base_url="http://model/v1", api_key="any", http_client=line())


def gemini() -> Any:
    options = HttpOptions(base_url="http://model", httpx_async_client=line())
    return genai.Client(api_key="any", http_options=options).aio


LOOPS: dict[ModuleType, Callable[[], Any]] = {
    anthropic_messages: anthropic,
    openai_chat: openai,
    openai_responses: openai,
    gemini_generate_content: gemini,
    gemini_interactions: gemini,
}

every_loop = pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.SURFACE)


def conversed(loop: ModuleType, door: Door, name: str) -> Awaitable[str]:
    onceward = Onceward("http://door", "a-token", transport=httpx2.MockTransport(door))
    spoken: Awaitable[str] = loop.converse(LOOPS[loop](), onceward, QUESTION, name)
    return spoken


@every_loop
async def test_a_loop_hands_over_each_response_until_the_model_has_nothing_left_to_ask_for(loop: ModuleType) -> None:
    door = Door(GET_ORDER)
    assert await conversed(loop, door, "orders") == LAST_WORDS
    assert door.turns == 2


@every_loop
async def test_a_loop_offers_what_a_search_has_found_and_offers_it_once(loop: ModuleType) -> None:
    door = Door(FIND_TOOLS)
    assert await conversed(loop, door, "found-orders") == LAST_WORDS
    assert door.turns == 4


async def test_a_loop_sends_back_what_was_paused_and_goes_on() -> None:
    door = Door(GET_ORDER)
    assert await conversed(anthropic_messages, door, "paused-orders") == LAST_WORDS
    assert door.turns == 3


async def test_a_loop_goes_on_after_six_pauses_and_no_more() -> None:
    door = Door()
    assert await conversed(anthropic_messages, door, "restless") == "I read on."
    assert door.turns == 7


def test_there_is_a_loop_for_every_surface() -> None:
    assert {loop.SURFACE for loop in LOOPS} == set(SURFACES)
