"""One conversation between a user, the model and the door, step by step so that the demonstration can interfere."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from anthropic import AsyncAnthropic
from anthropic.types import Message, ToolUseBlock

from adapters.client import Onceward, Result, Turn
from examples.agent_loops.anthropic_messages import SURFACE, words
from examples.demo.telling import Telling


class Conversation:
    """The same loop as `examples.agent_loops.anthropic_messages`, held at the call that is told about."""

    def __init__(self, model: AsyncAnthropic, door: Onceward, script: str, telling: Telling) -> None:
        self._model, self._script, self._telling = model, script, telling
        self.door = door
        self._messages: list[Any] = []

    async def ask(self, question: str, held_at: str = "refund_payment") -> Message:
        """Carry out what the model asks for until it proposes `held_at`; gives that response, not yet handed in."""
        self._telling.line(f"user: {question}")
        self._messages.append({"role": "user", "content": question})
        while True:
            response = await self._propose()
            if call_of(response).name == held_at:
                self._telling.line(f"model proposes {called(call_of(response))}")
                return response
            turn = await self.door.until_complete(SURFACE, response)
            self._messages += turn.append
            self._tell(turn.results[0])

    async def hand_in(self, response: Message) -> Turn:
        """Hand a held response in, until its true end."""
        return await self.door.until_complete(SURFACE, response)

    async def last_words(self, turn: Turn) -> str:
        """Give the model the answer; what it says to that."""
        self._messages += turn.append
        said = words((await self._propose()).to_dict(mode="json"))
        self._telling.line(f"model: {said}")
        return said

    async def _propose(self) -> Message:
        tools: Any = await self.door.tools(SURFACE)
        return await self._model.messages.create(
            model=self._script, max_tokens=1024, messages=self._messages, tools=tools
        )

    def _tell(self, result: Result) -> None:
        self._telling.line(f"{result.tool_name}: {result.code or listed(result.data, FOUND[result.tool_name])}")


FOUND = {"get_order": ("order_id", "refundable", "currency"), "prepare_refund": ("quote_id", "version", "amount")}
ASKED = ("order_id", "amount", "currency")
"""Members that are worth a place on the line; the others are left out."""


def call_of(response: Message) -> ToolUseBlock:
    """The one call of a response."""
    return next(block for block in response.content if isinstance(block, ToolUseBlock))


def called(call: ToolUseBlock) -> str:
    """A proposal in one line, with the quotation marks that the model wrote."""
    return f"{call.name}({listed(call.input, ASKED)}, ...) as {call.id}"


def listed(members: Mapping[str, Any], names: Sequence[str]) -> str:
    """Some members of an object in one line."""
    return ", ".join(f"{name}={json.dumps(members[name])}" for name in names)
