"""The connection pool of one process."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from sqlalchemy import Connection, Executable, Row, event, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from adapters.postgres.bounded import connecting
from adapters.postgres.stale import watch_over
from workflows.domain.errors import InvalidConfiguration, StoreUnavailable

LOST_AFTER = {
    "keepalives_idle": 15,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
"""Seconds (the last one milliseconds) after which a peer that the network has lost is taken for gone."""

CONNECT_SECONDS = 4
"""For somebody who waits for an answer; it may come on top of a statement on a connection that was lost."""

ANSWER_SECONDS = 10.0
"""How long whoever waits for an answer lets the server be silent on one statement."""

STATEMENT_SECONDS = 8
"""After which the server itself ends a statement of theirs: less, so that its word comes before we stop listening.

More than its wait for a lock.
"""

UNANSWERED = "The database at ONCEWARD_POSTGRES_DSN does not answer, or refuses this role."


ALONE = "onceward_alone"
"""The option of a statement that is a transaction by itself."""


class Database:
    """Gives transactions. Every public method of a repository is one of them."""

    def __init__(self, dsn: str, *, application_name: str, pool_size: int = 10, answering: bool = False) -> None:
        """`answering`: somebody waits for an answer, and a store that gives none is told to them soon."""
        url = make_url(dsn).set(drivername="postgresql+psycopg")
        # Settings of the session: a forgotten lock or transaction ends by itself instead of blocking the others.
        options = "-c lock_timeout=5s -c idle_in_transaction_session_timeout=30s -c timezone=UTC"
        settings: dict[str, Any] = {"application_name": application_name, **LOST_AFTER}
        if answering:
            options += f" -c statement_timeout={STATEMENT_SECONDS}s"
            settings["connect_timeout"] = CONNECT_SECONDS
        settings["async_creator_fn"] = connecting(ANSWER_SECONDS if answering else None)
        self.engine: AsyncEngine = create_async_engine(
            url,
            pool_size=pool_size,
            max_overflow=0,
            pool_timeout=ANSWER_SECONDS if answering else 30.0,
            # A failed statement ends in a log, and its values are arguments and results.
            hide_parameters=True,
            connect_args={**settings, "options": options},
        )
        watch_over(self.engine)
        event.listen(self.engine.sync_engine, "begin", _begin)
        self._alone = self.engine.execution_options(**{ALONE: True})

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncConnection]:
        """One transaction: committed at the end, rolled back on any error.

        Raises:
            StoreUnavailable: the database does not answer, or not in time.
        """
        with as_unavailable():
            async with self.engine.begin() as connection:
                yield connection

    async def rows(self, statement: Executable, values: Mapping[str, Any] | None = None) -> Sequence[Row[Any]]:
        """What one statement finds, without a transaction around it; raises `StoreUnavailable`."""
        with as_unavailable():
            async with self._alone.connect() as connection:
                return (await connection.execute(statement, values)).all()

    async def changed(self, statement: Executable, values: Mapping[str, Any] | None = None) -> int:
        """How many rows one statement has changed, in a transaction of its own; raises `StoreUnavailable`."""
        with as_unavailable():
            async with self._alone.connect() as connection:
                return (await connection.execute(statement, values)).rowcount

    async def require(self, seconds: float = 10.0) -> None:
        """Return once it has answered.

        Raises:
            InvalidConfiguration: it did not within `seconds`, or it refuses this role.
        """
        try:
            async with asyncio.timeout(seconds):
                await self.rows(text("SELECT 1"))
        except (StoreUnavailable, TimeoutError):
            raise InvalidConfiguration(UNANSWERED) from None

    async def close(self) -> None:
        """Give all connections back."""
        await self.engine.dispose()


def _begin(connection: Connection) -> None:
    """Connections are in no transaction by themselves; each that SQLAlchemy speaks of is begun here."""
    if not connection.get_execution_options().get(ALONE):
        driver: Any = connection.connection.driver_connection
        driver.begin()


@contextmanager
def as_unavailable() -> Iterator[None]:
    """Tell of a server that does not answer, or not in time, as the core knows it."""
    try:
        yield
    except (OperationalError, InterfaceError, PoolTimeout) as error:
        raise StoreUnavailable from error
