"""Who waits for operations in this process is told when one moves: by one connection that listens for all of them.

The database says so itself, in the transaction that moves an operation. A notification may be lost with the connection,
so one look at all that is waited for makes good what was not heard.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any, Final

import structlog
from psycopg import AsyncConnection, OperationalError
from sqlalchemy import text

from adapters.postgres.engine import CONNECT_SECONDS, LOST_AFTER, Database
from workflows.domain.errors import StoreUnavailable
from workflows.domain.lifecycle import State

log = structlog.get_logger(__name__)

CHANNEL: Final = "onceward_progress"
"""On which the id of each operation is told that has moved to where somebody may wait for it to be."""

LOOK_SECONDS: Final = 5.0
"""Between two looks at all that is waited for, while notifications come in."""

DEAF_SECONDS: Final = 0.5
"""The same while none can, and between two tries to listen again."""

MOVED: Final = text("""
SELECT DISTINCT operations.operation_id
FROM unnest(CAST(:names AS text[]), CAST(:states AS text[])) AS seen (operation_id, state)
JOIN operations ON operations.operation_id = seen.operation_id AND operations.state <> seen.state
""")


class _Ear:
    """One caller's; `seen` is where their operations stood when they last looked."""

    def __init__(self) -> None:
        self.seen: Mapping[str, State] = {}
        self.heard = asyncio.Event()

    async def within(self, seconds: float, seen: Mapping[str, State]) -> None:
        self.seen = seen
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.heard.wait()
        self.heard.clear()


class PostgresNews:
    """Fits `adapters.intake.watch.News`, as long as it is `running`."""

    def __init__(self, database: Database, dsn: str, *, application_name: str) -> None:
        """`dsn` is for the connection that listens; a pooler between would have to keep sessions."""
        self._database, self._dsn, self._name = database, dsn, application_name
        self._ears: defaultdict[str, set[_Ear]] = defaultdict(set)
        self._listens = False

    @contextmanager
    def about(self, operation_ids: Sequence[str]) -> Iterator[_Ear]:
        """Hear of these operations; see the port."""
        ear = _Ear()
        for name in operation_ids:
            self._ears[name].add(ear)
        try:
            yield ear
        finally:
            for name in operation_ids:
                self._ears[name].discard(ear)
                if not self._ears[name]:
                    del self._ears[name]

    def wake_all(self) -> None:
        """Have everybody look."""
        for name in list(self._ears):
            self._tell(name)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Listen, and look after what was not heard, until the end of the block."""
        works = [asyncio.create_task(self._listen_for_ever()), asyncio.create_task(self._look_for_ever())]
        try:
            yield
        finally:
            for work in works:
                work.cancel()
            await asyncio.gather(*works, return_exceptions=True)

    async def look(self) -> None:
        """Tell of all that stands elsewhere than whoever waits for it has seen; one statement for all of them."""
        seen = [pair for ears in self._ears.values() for ear in ears for pair in ear.seen.items()]
        if not seen:
            return
        names, states = zip(*set(seen), strict=True)
        given = {"names": list(names), "states": [state.value for state in states]}
        async with self._database.transaction() as connection:
            moved = list((await connection.execute(MOVED, given)).scalars())
        for name in moved:
            self._tell(name)

    def _tell(self, operation_id: str) -> None:
        for ear in self._ears.get(operation_id, ()):
            ear.heard.set()

    async def _listen_for_ever(self) -> None:
        while True:
            try:
                await self._listen()
            except (OperationalError, StoreUnavailable) as error:
                log.warning("outage", work="news", failure=type(error).__name__)
            finally:
                self._listens = False
            await asyncio.sleep(DEAF_SECONDS)

    async def _listen(self) -> None:
        settings: dict[str, Any] = {"application_name": self._name, "connect_timeout": CONNECT_SECONDS, **LOST_AFTER}
        async with await AsyncConnection.connect(self._dsn, autocommit=True, **settings) as connection:
            await connection.execute(f"LISTEN {CHANNEL}")
            self._listens = True
            # Something may have moved while nobody listened.
            await self.look()
            async for notification in connection.notifies():
                self._tell(notification.payload)

    async def _look_for_ever(self) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS if self._listens else DEAF_SECONDS)
            with suppress(StoreUnavailable):
                await self.look()
