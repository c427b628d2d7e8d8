"""`python -m worker.relay`: carries the outbox out: starts, nudges and events, at least once and in order.

Beside that it starts again what nobody carries any more, seals the audit log, and tells others what has happened.
"""

import asyncio
from functools import partial
from typing import Any

import structlog

from adapters.postgres.engine import Database
from adapters.postgres.outbox import Message, PostgresOutbox, Undeliverable
from adapters.postgres.registration import turn_from
from adapters.postgres.sealing import MOST_LINES, PostgresSealing
from adapters.postgres.sweep import PostgresSweep
from adapters.temporal.starter import TemporalStarter
from worker import notices, process, usage
from worker.repeating import for_ever
from worker.settings import RelaySettings, read
from workflows.messages import TurnRef

log = structlog.get_logger(__name__)

IDLE_SECONDS = 0.2
"""Between two looks of all drains together when nothing is due; nothing is due before the door has tried it itself."""

EVENTS_SECONDS = 0.2
"""Pause when no event is due."""

SWEEP_SECONDS = 5.0
SWEEP_NUMBER = 20
"""Four open operations a second are looked at, so that 10,000 that wait have their turn within the hour."""

SEAL_SECONDS = 1.0
"""Pause when every line of the audit log is sealed."""

WORKS = 3
"""What works beside the drains, each on a connection of its own: telling, sweeping, sealing."""


class Relay:
    """Hands each message to where it belongs, starts again what nobody carries any more, and seals what was told."""

    def __init__(
        self,
        outbox: PostgresOutbox,
        sweep: PostgresSweep,
        sealing: PostgresSealing,
        starter: TemporalStarter,
        drains: int = 1,
    ) -> None:
        """So many `drains` work side by side: one whose messages take long holds up none of the others."""
        self._outbox, self._sweep, self._sealing, self._starter = outbox, sweep, sealing, starter
        self._drains = drains

    async def run(self) -> None:
        """Drain, tell, sweep and seal for ever."""
        works = {"tell": self._tell, "sweep": self._look_for_the_forgotten, "seal": self._seal}
        drains = (self._drain_for_ever(place) for place in range(self._drains))
        await asyncio.gather(*drains, *(for_ever(name, work) for name, work in works.items()))

    async def _drain_for_ever(self, place: int) -> None:
        # One after the other, so that they do not all look at the same moment and then none for a while.
        await asyncio.sleep(place * IDLE_SECONDS)
        await for_ever("drain", self._drain)

    async def _drain(self) -> float:
        return 0.0 if await self._outbox.drain(self.deliver) else IDLE_SECONDS * self._drains

    async def _tell(self) -> float:
        """Strike events off; who wants to be told of one has a notice of it from then on."""
        told = await self._outbox.tell()
        for event in told:
            log.info(
                "event", operation_id=event.operation_id, message_id=event.message_id, what=event.payload.get("what")
            )
        return 0.0 if told else EVENTS_SECONDS

    async def _look_for_the_forgotten(self) -> float:
        """Start each open operation's workflow; where it runs, nothing happens."""
        for wake in await self._sweep.next(SWEEP_NUMBER):
            await self._starter.start_again(wake.operation_id, **wake.named())
        return SWEEP_SECONDS

    async def _seal(self) -> float:
        return 0.0 if await self._sealing.seal() == MOST_LINES else SEAL_SECONDS

    async def deliver(self, message: Message) -> None:
        """Deliver one message.

        Raises:
            Undeliverable: its kind or content is unknown here.
        """
        if message.kind == "start":
            await self._starter.start_write(message.operation_id, **_start(message.payload))
        elif message.kind == "read":
            await self._starter.start_read(message.operation_id, **_start(message.payload))
        elif message.kind == "turn":
            await self._starter.start_turn(*_turn(message.payload))
        elif message.kind == "nudge":
            await self._starter.nudge(message.operation_id, **_start(message.payload))
        else:
            raise Undeliverable(message.kind)


def _start(payload: dict[str, Any]) -> dict[str, str]:
    try:
        return {name: payload[name] for name in ("intent_hash", "tool", "tenant")}
    except KeyError as missing:
        raise Undeliverable(f"no {missing}") from None


def _turn(payload: dict[str, Any]) -> tuple[str, TurnRef]:
    try:
        return str(payload["turn"]), turn_from(payload["ref"])
    except (KeyError, TypeError):
        raise Undeliverable("no turn") from None


async def main() -> None:
    """Serve until told to end."""
    settings = read(RelaySettings)
    process.set_up_logs(settings.log_format)
    dsn, connections = settings.postgres_dsn.get_secret_value(), settings.drains + WORKS
    database = Database(dsn, application_name="onceward-relay", pool_size=connections)
    outbox = PostgresOutbox(database, notices.addressed(settings))
    async with process.temporal(settings) as client, notices.connected(settings) as telling:
        starter = TemporalStarter(client, settings.temporal_task_queue)
        relay = Relay(outbox, PostgresSweep(database), PostgresSealing(database), starter, settings.drains)
        try:
            await database.require()
            process.say_ready(settings.ready_file)
            await asyncio.gather(relay.run(), telling.run(settings.webhook_urls))
        finally:
            await database.close()


if __name__ == "__main__":
    parser = usage.parser("worker.relay", __doc__, RelaySettings)
    again = "put back the notices that were given up for a receiver, and end"
    parser.add_argument("--retell", metavar="RECEIVER", help=again)
    receiver = parser.parse_args().retell
    process.run(main if receiver is None else partial(notices.retell, receiver))
