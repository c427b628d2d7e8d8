"""An agent loop on Gemini's Interactions, with the whole conversation in each request and nothing kept.

    python -m examples.agent_loops.gemini_interactions MODEL_URL DOOR_URL TOKEN "Refund the last payment of order O-17."

With the scripted model and a running stack, as in `examples.agent_loops.anthropic_messages`.
"""

import asyncio
import sys
from typing import Any
from uuid import uuid4

from google import genai
from google.genai.client import AsyncClient
from google.genai.types import HttpOptions

from adapters.client import Onceward

SURFACE = "gemini-interactions"

MOST_PAUSES = 6
"""How often the provider may stop in the middle of its own work before we let it be."""


async def converse(model: AsyncClient, door: Onceward, question: str, name: str = "refunds") -> str:
    """Go on until the model has nothing left to ask for; returns its last words."""
    named = uuid4().hex  # calls and corrections are counted for each conversation
    tools: list[Any] = await door.tools(SURFACE)
    steps: list[Any] = [{"type": "user_input", "content": [{"type": "text", "text": question}]}]
    pauses = 0
    while True:
        response: Any = await model.interactions.create(model=name, input=steps, tools=tools, store=False)
        # Waits for people too: the same response is handed in again until every result is final.
        turn = await door.until_complete(SURFACE, response, conversation=named)
        # Where the provider keeps the conversation, send `turn.answers` alone with `previous_interaction_id`.
        steps += turn.append
        tools += [found for found in turn.tools if found not in tools]  # what a search has brought up
        pauses += turn.paused  # rare: the package goes on by itself, unless it is told not to
        if pauses > MOST_PAUSES or not (turn.results or turn.paused):
            return str(response.output_text)


async def main(model_url: str, door_url: str, token: str, question: str) -> None:
    """Ask one question and print the last answer."""
    client = genai.Client(api_key="any", http_options=HttpOptions(base_url=model_url)).aio
    async with client as model, Onceward(door_url, token) as door:
        print(await converse(model, door, question))


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    asyncio.run(main(*sys.argv[1:]))
