"""`python -m tests.bench.durable.dbos_host`: the five steps as a DBOS workflow, and its callers.

DBOS is a library, so whoever calls a workflow is in the process that runs it. This process therefore holds the closed
loop too: each line `{"callers": …, "calls": …}` on its socket is answered with a line of seconds, or of what failed.
"""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from dbos import DBOS, SetWorkflowID
from pydantic import Field

from adapters.postgres.engine import Database
from adapters.postgres_dsn import PostgresDsn
from tests.bench.durable.family import SEND
from tests.bench.durable.loops import closed_loop
from tests.bench.durable.registering import Register
from tests.bench.durable.steps import Steps
from worker import process
from worker.settings import Settings, read

Json = dict[str, Any]


class DbosSettings(Settings):
    """Our own roles, and the database in which DBOS keeps its state."""

    door_dsn: PostgresDsn = Field(description="the role that registers")
    dbos_dsn: PostgresDsn = Field(description="where DBOS may make its tables")
    dbos_port: int = Field(description="the port to listen on")


async def main() -> None:
    """Serve until told to end."""
    settings = read(DbosSettings)
    door = Database(settings.door_dsn.get_secret_value(), application_name="bench-dbos", pool_size=16)
    async with Steps.connected(settings.postgres_dsn.get_secret_value()) as steps:
        DBOS(config={"name": "bench", "system_database_url": settings.dbos_dsn.get_secret_value()})
        logging.getLogger("dbos").setLevel(logging.WARNING)
        five = five_steps(steps)
        DBOS.launch()
        register = Register(door)

        async def write() -> None:
            call = await register.one(SEND.name)
            with SetWorkflowID(call.operation_id or ""):
                state = await five(call.operation_id, call.intent_hash)
            if state != "succeeded":
                raise RuntimeError(f"a write ended as {state}")

        await _serve(write, settings.dbos_port, lambda: process.say_ready(settings.ready_file))


def five_steps(steps: Steps) -> Callable[..., Awaitable[str]]:
    """The workflow; each step under its own name."""
    validate, acquire, send, conclude, settle = (DBOS.step(name=step.__name__)(step) for step in steps.functions())

    async def five(operation_id: str, intent_hash: str) -> str:
        await validate(operation_id, intent_hash)
        claim = await acquire(operation_id)
        effect = await send(operation_id, intent_hash, claim)
        await conclude(claim, effect)
        return str(await settle(operation_id, intent_hash))

    workflow: Callable[..., Awaitable[str]] = DBOS.workflow(name="five")(five)
    return workflow


async def _serve(call: Callable[[], Awaitable[None]], port: int, ready: Callable[[], None]) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            asked = json.loads(line)
            try:
                told: Json = {"seconds": await closed_loop(call, asked["callers"], asked["calls"])}
            except Exception as error:
                logging.getLogger(__name__).exception("a run failed")
                told = {"failure": f"{type(error).__name__}: {error}"}
            writer.write(json.dumps(told).encode() + b"\n")
            await writer.drain()

    server = await asyncio.start_server(answer, "127.0.0.1", port, limit=2**24)
    ready()
    await server.serve_forever()


if __name__ == "__main__":
    process.run(main)
