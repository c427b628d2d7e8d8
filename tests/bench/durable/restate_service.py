"""`python -m tests.bench.durable.restate_service`: the five steps as a handler that Restate calls over HTTP/2."""

import asyncio
from typing import Any

import restate
from hypercorn.asyncio import serve
from hypercorn.config import Config
from pydantic import Field

from tests.bench.durable.steps import Steps
from worker import process
from worker.settings import Settings, read


class RestateSettings(Settings):
    """Where the Restate server finds this process."""

    restate_service_port: int = Field(description="the port to listen on")


async def main() -> None:
    """Serve until told to end."""
    settings = read(RestateSettings)
    async with Steps.connected(settings.postgres_dsn.get_secret_value()) as steps:
        config = Config()
        config.bind = [f"127.0.0.1:{settings.restate_service_port}"]
        asyncio.get_running_loop().call_later(0.5, process.say_ready, settings.ready_file)
        app: Any = restate.app(services=[service(steps)], protocol="bidi")
        await serve(app, config)


def service(steps: Steps) -> restate.Service:
    """One service with one handler, `writes/five`."""
    writes = restate.Service("writes")

    async def five(ctx: restate.Context, ref: dict[str, str]) -> str:
        named = (ref["operation_id"], ref["intent_hash"])
        await ctx.run_typed("validate", steps.validate, restate.RunOptions(), *named)
        claim = await ctx.run_typed("acquire", steps.acquire, restate.RunOptions(), named[0])
        effect = await ctx.run_typed("send", steps.send, restate.RunOptions(), *named, claim)
        await ctx.run_typed("conclude", steps.conclude, restate.RunOptions(), claim, effect)
        return str(await ctx.run_typed("settle", steps.settle, restate.RunOptions(), *named))

    writes.handler("five")(five)
    return writes


if __name__ == "__main__":
    process.run(main)
