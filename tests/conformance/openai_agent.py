"""An agent of openai-agents with a scripted model, as a host: lists our tools, calls one, prints what it is told.

Run by itself, in an environment of its own: the package takes an older websockets than ours. The door's address and the
user's token are its two arguments.
"""

import asyncio
import sys
from typing import Any

from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage, set_tracing_disabled
from agents.mcp import MCPServerStreamableHttp
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText


class Script(Model):
    """Calls one tool, and then repeats what it was told."""

    async def get_response(self, **asked: Any) -> ModelResponse:
        """The next response to the conversation in `input`."""
        told = [item["output"] for item in asked["input"] if isinstance(item, dict) and "output" in item]
        return ModelResponse(output=[_said(told[-1]) if told else _call()], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> Any:
        """Nothing is streamed."""
        raise NotImplementedError


def _call() -> Any:
    return ResponseFunctionToolCall(type="function_call", call_id="c-1", name="test_simple_text", arguments="{}")


def _said(told: Any) -> Any:
    text = ResponseOutputText(type="output_text", text=str(told), annotations=[])
    return ResponseOutputMessage(id="m-1", type="message", role="assistant", status="completed", content=[text])


async def main(url: str, token: str) -> None:
    """Run the agent once."""
    set_tracing_disabled(True)
    params: Any = {"url": url, "headers": {"Authorization": f"Bearer {token}"}}
    async with MCPServerStreamableHttp(params=params) as server:
        agent = Agent(name="host", model=Script(), mcp_servers=[server])
        done = await Runner.run(agent, "Say it.", run_config=RunConfig(tracing_disabled=True))
        print(done.final_output)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
