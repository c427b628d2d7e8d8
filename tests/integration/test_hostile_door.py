"""Hostile arguments at the real door: refused one by one, nothing begins, and everybody is still well afterwards."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import httpx2
import pytest

from adapters.outside_schema import OutsideSchema
from tests.support.hostile import Generator, Hostile, text_fits, valid_arguments
from tests.support.onceward import Onceward, Trace
from tests.support.proposals import CATALOG, fresh
from tests.support.responses import call

Json = dict[str, Any]

SEED = 7
EACH = 50
"""Texts for each tool on each surface."""
DRAWN = 2_000
AT_ONCE = 8
REFUSALS = {"invalid_arguments_json", "invalid_arguments"}
NAME_AT = {
    "openai-chat": lambda tool: str(tool["function"]["name"]),
    "anthropic-messages": lambda tool: str(tool["name"]),
}


def turn(surface: str, response: Json) -> Json:
    """A conversation of its own for each, so that no budget of corrections is spent."""
    return {"surface": surface, "response": response, "conversation": fresh("conversation")}


def chat_body(tool: str, text: str) -> bytes:
    """The arguments are a string inside the body."""
    asked = {"id": "call-1", "type": "function", "function": {"name": tool, "arguments": text}}
    choice = {"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "tool_calls": [asked]}}
    response = {"id": fresh("response"), "choices": [choice]}
    return json.dumps(turn("openai-chat", response)).encode()


def messages_body(tool: str, text: str) -> bytes:
    """The arguments are a part of the body, so what is no JSON makes the whole body none."""
    asked = {"type": "tool_use", "id": "call-1", "name": tool, "input": "HERE"}
    response = {"id": fresh("response"), "role": "assistant", "stop_reason": "tool_use", "content": [asked]}
    body = json.dumps(turn("anthropic-messages", response))
    return body.replace('"HERE"', text).encode(errors="surrogatepass")


BODIES: dict[str, Callable[[str, str], bytes]] = {"openai-chat": chat_body, "anthropic-messages": messages_body}


def sample(schema: Json) -> Iterator[Hostile]:
    """Spread over all families, without the few that are valid by chance."""
    held = OutsideSchema(schema)
    drawn = [each for each in Generator(valid_arguments(schema), SEED).texts(DRAWN) if not text_fits(held, each.text)]
    return islice(drawn[:: len(drawn) // EACH], EACH)


async def offered(onceward: Onceward, surface: str, token: str) -> dict[str, Json]:
    """The contract's own schema of each tool that the door offers: it judges, in whatever form the tool is offered."""
    headers = {"Authorization": f"Bearer {token}"}
    answer = await onceward.door.get("/v1/tools", params={"surface": surface}, headers=headers)
    contracts = [CATALOG.find(NAME_AT[surface](tool)) for tool in answer.json()["tools"]]
    return {contract.name: contract.schema for contract in contracts if contract is not None}


def verdict(answer: httpx2.Response) -> str:
    """The one code that this body came to; a body that is no JSON is refused as a whole."""
    told = answer.json()
    if answer.status_code == 200:
        (result,) = told["results"]
        assert (result["status"], result["operation_id"], result["final"]) == ("failed_terminal", None, True)
        return str(result["error"]["code"])
    assert answer.headers["content-type"] == "application/problem+json"
    return str(told["code"])


def logs(onceward: Onceward) -> dict[str, str]:
    return {name: onceward.stack.log(name).read_text(errors="replace") for name in onceward.stack.running()}


@pytest.fixture(scope="module", autouse=True)
def written_before(onceward: Onceward) -> dict[str, int]:
    """How long each process's log is when this begins; others have left their failures in it."""
    return {name: len(text) for name, text in logs(onceward).items()}


@pytest.mark.parametrize("surface", BODIES)
async def test_hostile_arguments_are_refused_and_nothing_begins(onceward: Onceward, surface: str) -> None:
    tenant = fresh("tenant")
    token = onceward.token(tenant=tenant)
    posts = await onceward.provider.posts()
    schemas = await offered(onceward, surface, token)
    bodies = [BODIES[surface](tool, each.text) for tool, schema in schemas.items() for each in sample(schema)]
    turnstile = asyncio.Semaphore(AT_ONCE)

    async def hand_in(body: bytes) -> httpx2.Response:
        async with turnstile:
            return await onceward.post(body, token)

    answers = await asyncio.gather(*map(hand_in, bodies))
    assert len(answers) == EACH * len(schemas)
    assert Counter(answer.status_code for answer in answers).keys() <= {200, 400, 413, 422}
    allowed = REFUSALS | {"invalid_json", "body_too_large", "malformed_tool_calls"}
    codes = Counter(map(verdict, answers))
    assert codes.keys() <= allowed
    assert codes["invalid_arguments"] > EACH
    assert await onceward.trace(tenant) == Trace()
    assert await onceward.provider.posts() == posts


async def test_twenty_megabytes_of_spaces_are_refused_unread(onceward: Onceward) -> None:
    answer = await onceward.post(chat_body("get_order", " " * 20_000_000))
    assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")


async def test_everybody_is_well_afterwards(onceward: Onceward, written_before: dict[str, int]) -> None:
    tenant = fresh("tenant")
    order_id = await onceward.provider.add_order(merchant=tenant)
    reply = await onceward.turn(call("get_order", {"order_id": order_id}), token=onceward.token(tenant=tenant))
    assert reply.only["status"] == "succeeded"
    assert {"api", "worker", "relay"} <= set(onceward.stack.running())
    written = {name: text[written_before.get(name, 0) :] for name, text in logs(onceward).items()}
    assert [name for name, text in written.items() if "Traceback" in text] == []
