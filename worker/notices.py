"""Tells receivers outside what has happened: the part of the relay that talks to strangers.

It has connections and loops of its own, one loop for each receiver, so that a receiver that hangs holds up neither the
others nor a start or a nudge.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Final

import structlog

from adapters.http.back_office.settings import PREFIX
from adapters.postgres.engine import Database
from adapters.postgres.notices import Notice, PostgresNotices
from adapters.webhooks.receivers import Receiver
from adapters.webhooks.sender import Event, Sender
from worker.repeating import for_ever
from worker.settings import RelaySettings, read
from workflows.domain.errors import InvalidConfiguration

log = structlog.get_logger(__name__)

AT_ONCE: Final = 8
"""Deliveries to one receiver side by side."""

IDLE_SECONDS: Final = 0.5
"""Pause when nothing is due for a receiver."""

SLACK_SECONDS: Final = 30.0
"""What a delivery may take beside the receiver's own time before it is made again: the database may be slow."""

GIVE_UP_EVERY_SECONDS: Final = 60.0


def addressed(settings: RelaySettings) -> Callable[[str], Sequence[str]]:
    """Who is told of an event of that name: every receiver, if it is one of those that are wanted."""
    names = tuple(receiver.name for receiver in settings.webhook_urls)
    return lambda what: names if what in settings.webhook_events else ()


@asynccontextmanager
async def connected(settings: RelaySettings) -> AsyncIterator["Notices"]:
    """The notices with connections of their own, which are closed at the end."""
    dsn = settings.postgres_dsn.get_secret_value()
    database = Database(dsn, application_name="onceward-relay-notices", pool_size=2)
    sender = Sender(settings.webhook_keys, settings.webhook_timeout_seconds, lambda: datetime.now(UTC))
    try:
        yield Notices(PostgresNotices(database), sender, settings.public_url, settings.webhook_timeout_seconds)
    finally:
        await sender.close()
        await database.close()


async def retell(receiver: str) -> None:
    """Put back what was given up for a receiver, and say how much; a relay delivers it.

    Raises:
        InvalidConfiguration: nobody of that name is told, or the database does not answer.
    """
    settings = read(RelaySettings)
    known = [each.name for each in settings.webhook_urls]
    if receiver not in known:
        raise InvalidConfiguration(f"No receiver of that name is told; told are: {', '.join(known) or 'none'}.")
    dsn = settings.postgres_dsn.get_secret_value()
    database = Database(dsn, application_name="onceward-relay-notices", pool_size=1)
    try:
        await database.require()
        print(f"Put back: {await PostgresNotices(database).retell(receiver)}.")
    finally:
        await database.close()


class Notices:
    """Delivers what is due to each receiver, and gives up what has waited too long."""

    def __init__(self, store: PostgresNotices, sender: Sender, public_url: str, seconds: float) -> None:
        """`public_url` is how people reach the back office; a delivery may take so many seconds."""
        self._store, self._sender = store, sender
        self._pages = public_url.rstrip("/") + PREFIX
        self._lease = seconds + SLACK_SECONDS

    async def run(self, receivers: Sequence[Receiver]) -> None:
        """Deliver for ever. Without receivers, what is left of those that there were is still given up in time."""
        telling = (for_ever("tell", partial(self.tell, receiver)) for receiver in receivers)
        await asyncio.gather(for_ever("give_up", partial(self.give_up, receivers)), *telling)

    async def tell(self, receiver: Receiver) -> float:
        """Deliver a few of the notices that are due; returns the pause until the next look."""
        due = await self._store.take(receiver.name, AT_ONCE, self._lease)
        fates = await asyncio.gather(*(self._deliver(receiver, notice) for notice in due), return_exceptions=True)
        for outage in filter(None, fates):
            # Only now: the others have had their say.
            raise outage
        return 0.0 if due else IDLE_SECONDS

    async def give_up(self, receivers: Sequence[Receiver] = ()) -> float:
        """Set aside what is for none of these and waits for nobody; returns the pause until the next look."""
        number = await self._store.give_up([receiver.name for receiver in receivers])
        if number:
            log.warning("notices.given_up", number=number)
        return GIVE_UP_EVERY_SECONDS

    async def _deliver(self, receiver: Receiver, notice: Notice) -> None:
        fate = await self._sender.send(receiver, self._event(notice))
        if not fate.failure:
            await self._store.delivered(notice)
            return
        told = {"receiver": receiver.name, "event_id": notice.event_id, "what": notice.what}
        log.warning("notice.failed", failure=fate.failure, attempts=notice.attempts, **told)
        if fate.refused:
            await self._store.refused(notice, fate.failure)
        else:
            await self._store.failed(notice, fate.failure, fate.not_before_seconds)

    def _event(self, notice: Notice) -> Event:
        approval = notice.data.get("approval")
        page = f"approvals/{approval['approval_id']}" if approval else f"operations/{notice.operation_id}"
        return Event(notice.event_id, notice.what, notice.at, {**notice.data, "link": f"{self._pages}/{page}"})
