"""`python -m worker.relay`: carries the outbox out: starts, nudges and events, at least once and in order."""

import asyncio
from typing import Any

import structlog
from sqlalchemy.exc import SQLAlchemyError

from adapters.postgres.engine import Database
from adapters.postgres.outbox import Message, PostgresOutbox, Undeliverable
from adapters.temporal.starter import TemporalStarter
from worker import process
from worker.settings import RelaySettings, read

log = structlog.get_logger(__name__)

IDLE_SECONDS = 0.2
"""Pause when nothing is due."""

OUTAGE_SECONDS = 2.0
"""Pause while the database is away."""


class Relay:
    """Hands each message to where it belongs."""

    def __init__(self, outbox: PostgresOutbox, starter: TemporalStarter) -> None:
        self._outbox, self._starter = outbox, starter

    async def run(self) -> None:
        """Drain for ever."""
        while True:
            try:
                delivered = await self._outbox.drain(self.deliver)
            except SQLAlchemyError as error:
                log.warning("database_away", failure=type(error).__name__)
                await asyncio.sleep(OUTAGE_SECONDS)
                continue
            if not delivered:
                await asyncio.sleep(IDLE_SECONDS)

    async def deliver(self, message: Message) -> None:
        """Deliver one message.

        Raises:
            Undeliverable: its kind or content is unknown here.
        """
        if message.kind == "start":
            await self._starter.start_write(message.operation_id, **_start(message.payload))
        elif message.kind == "nudge":
            await self._starter.nudge(message.operation_id)
        elif message.kind == "event":
            log.info("event", operation_id=message.operation_id, message_id=message.message_id, **message.payload)
        else:
            raise Undeliverable(message.kind)


def _start(payload: dict[str, Any]) -> dict[str, str]:
    try:
        return {name: payload[name] for name in ("intent_hash", "tool", "tenant")}
    except KeyError as missing:
        raise Undeliverable(f"no {missing}") from None


async def main() -> None:
    """Serve until told to end."""
    settings = read(RelaySettings)
    process.set_up_logs(settings.log_format)
    database = Database(settings.postgres_dsn.get_secret_value(), application_name="onceward-relay", pool_size=2)
    async with process.temporal(settings) as client:
        relay = Relay(PostgresOutbox(database), TemporalStarter(client, settings.temporal_task_queue))
        process.say_ready(settings.ready_file)
        try:
            await relay.run()
        finally:
            await database.close()


if __name__ == "__main__":
    process.run(main)
