"""An agent loop on OpenAI Responses, where the provider keeps the conversation.

    python -m examples.agent_loops.openai_responses MODEL_URL DOOR_URL TOKEN "Refund the last payment of order O-17."

With the scripted model and a running stack, as in `examples.agent_loops.anthropic_messages`.
"""

import asyncio
import sys
from typing import Any
from uuid import uuid4

from openai import AsyncOpenAI

from adapters.client import Onceward

SURFACE = "openai-responses"


async def converse(model: AsyncOpenAI, door: Onceward, question: str, name: str = "refunds") -> str:
    """Go on until the model has nothing left to ask for; returns its last words."""
    named = uuid4().hex  # calls and corrections are counted for each conversation
    tools: list[Any] = await door.tools(SURFACE)
    given: list[Any] = [{"role": "user", "content": question}]
    before: str | None = None
    while True:
        response = await model.responses.create(model=name, input=given, tools=tools, previous_response_id=before)
        # Waits for people too: the same response is handed in again until every result is final.
        turn = await door.until_complete(SURFACE, response, conversation=named)
        # The provider has its own items already. Where it is to keep nothing (`store=False`, and `include` for the
        # encrypted reasoning), leave `previous_response_id` out and send the whole list: `given += turn.append`.
        given, before = turn.answers, response.id
        tools += [found for found in turn.tools if found not in tools]  # what a search has brought up
        if not turn.results:  # no pauses on this API: what is under way is no response yet
            return response.output_text


async def main(model_url: str, door_url: str, token: str, question: str) -> None:
    """Ask one question and print the last answer."""
    async with AsyncOpenAI(base_url=f"{model_url}/v1", api_key="any") as model, Onceward(door_url, token) as door:
        print(await converse(model, door, question))


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    asyncio.run(main(*sys.argv[1:]))
