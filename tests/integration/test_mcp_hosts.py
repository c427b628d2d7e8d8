"""Other makers' agents as hosts, each with a scripted model: what they make of our tools and of a call that waits."""

from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from tests.support.onceward import Onceward

Json = dict[str, Any]


class Script:
    """A model that makes these calls, one in each response, and then says that it is done; keeps what it is told."""

    def __init__(self, *calls: tuple[str, Json]) -> None:
        self._calls, self.told, self.offered = list(calls), list[Any](), set[str]()

    def __call__(self, messages: list[ModelMessage], about: AgentInfo) -> ModelResponse:
        self.offered |= {tool.name for tool in about.function_tools}
        self.told += [part.content for part in messages[-1].parts if isinstance(part, ToolReturnPart)]
        if len(self.told) == len(self._calls):
            return ModelResponse(parts=[TextPart("Done.")])
        name, arguments = self._calls[len(self.told)]
        return ModelResponse(parts=[ToolCallPart(name, arguments)])


def agent(onceward: Onceward, script: Script) -> Agent[None, str]:
    tools: Any = MCPToolset(f"{onceward.stack.links.door}/mcp", headers={"Authorization": f"Bearer {onceward.token()}"})
    return Agent(FunctionModel(script), toolsets=[tools])


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
async def test_an_agent_of_pydantic_ai_refunds_once_and_reads_the_receipt(onceward: Onceward) -> None:
    arguments = await onceward.provider.refund_arguments(await onceward.provider.add_order())
    first = Script(("refund_payment", arguments), ("refund_payment", arguments))
    await agent(onceward, first).run("Refund the order.")
    waiting, again = first.told
    assert {"refund_payment", "get_operation"} <= first.offered
    assert waiting["status"] == again["status"] == "waiting"
    operation_id = waiting["operation_id"]
    assert again["operation_id"] == operation_id

    await onceward.approve(operation_id)
    await onceward.until(operation_id, "succeeded")
    later = Script(("get_operation", {"operation_id": operation_id}))
    await agent(onceward, later).run("What came of it?")
    (made,) = (await onceward.provider.ledger(operation_id))["refunds"]
    assert later.told[0]["result"]["refund_id"] == made["refund_id"]
