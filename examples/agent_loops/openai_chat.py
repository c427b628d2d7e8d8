"""An agent loop on OpenAI Chat Completions, an API that many servers speak.

    python -m examples.agent_loops.openai_chat MODEL_URL DOOR_URL TOKEN "Refund the last payment of order O-17."

With the scripted model and a running stack, as in `examples.agent_loops.anthropic_messages`.
"""

import asyncio
import sys
from typing import Any
from uuid import uuid4

from openai import AsyncOpenAI

from adapters.client import Onceward

SURFACE = "openai-chat"


async def converse(model: AsyncOpenAI, door: Onceward, question: str, name: str = "refunds") -> str:
    """Go on until the model has nothing left to ask for; returns its last words."""
    named = uuid4().hex  # calls and corrections are counted for each conversation
    tools: list[Any] = await door.tools(SURFACE)
    conversation: list[Any] = [{"role": "user", "content": question}]
    while True:
        response = await model.chat.completions.create(model=name, messages=conversation, tools=tools)
        # Waits for people too: the same response is handed in again until every result is final.
        turn = await door.until_complete(SURFACE, response, conversation=named)
        conversation += turn.append
        tools += [found for found in turn.tools if found not in tools]  # what a search has brought up
        if not turn.results:  # no pauses on this API: it runs no tools of its own
            return response.choices[0].message.content or ""


async def main(model_url: str, door_url: str, token: str, question: str) -> None:
    """Ask one question and print the last answer."""
    async with AsyncOpenAI(base_url=f"{model_url}/v1", api_key="any") as model, Onceward(door_url, token) as door:
        print(await converse(model, door, question))


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    asyncio.run(main(*sys.argv[1:]))
