"""An agent loop on the Anthropic Messages API: the model proposes, Onceward carries out, what comes back is appended.

    python -m examples.agent_loops.anthropic_messages MODEL_URL DOOR_URL TOKEN "Refund the last payment of order O-17."

With the scripted model (`python -m examples.scripted_model`) and a running stack (`make dev`, which says how to get a
token). In your own project it is `from onceward import Onceward`; everything else stays as it is.
"""

import asyncio
import sys
from typing import Any
from uuid import uuid4

from anthropic import AsyncAnthropic

from adapters.client import Onceward

SURFACE = "anthropic-messages"

MOST_PAUSES = 6
"""How often the provider may stop in the middle of its own work before we let it be."""


async def converse(model: AsyncAnthropic, door: Onceward, question: str, name: str = "refunds") -> str:
    """Go on until the model has nothing left to ask for; returns its last words."""
    named = uuid4().hex  # calls and corrections are counted for each conversation
    tools: list[Any] = await door.tools(SURFACE)
    conversation: list[Any] = [{"role": "user", "content": question}]
    pauses = 0
    while True:
        response = await model.messages.create(model=name, max_tokens=1024, messages=conversation, tools=tools)
        # Waits for people too: the same response is handed in again until every result is final.
        turn = await door.until_complete(SURFACE, response, conversation=named)
        conversation += turn.append
        tools += [found for found in turn.tools if found not in tools]  # what a search has brought up
        pauses += turn.paused
        if pauses > MOST_PAUSES or not (turn.results or turn.paused):
            return words(response.to_dict(mode="json"))


def words(message: dict[str, Any]) -> str:
    """What a message says in plain text."""
    return "".join(block["text"] for block in message["content"] if block["type"] == "text")


async def main(model_url: str, door_url: str, token: str, question: str) -> None:
    """Ask one question and print the last answer."""
    async with AsyncAnthropic(base_url=model_url, api_key="any") as model, Onceward(door_url, token) as door:
        print(await converse(model, door, question))


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    asyncio.run(main(*sys.argv[1:]))
