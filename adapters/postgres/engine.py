"""The connection pool of one process."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sqlalchemy.engine import make_url
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine


class Database:
    """Gives transactions. Every public method of a repository is one of them."""

    def __init__(self, dsn: str, *, application_name: str, pool_size: int = 10) -> None:
        url = make_url(dsn).set(drivername="postgresql+psycopg")
        # Settings of the session: a forgotten lock or transaction ends by itself instead of blocking the others.
        options = "-c lock_timeout=5s -c idle_in_transaction_session_timeout=30s -c timezone=UTC"
        self.engine: AsyncEngine = create_async_engine(
            url,
            pool_size=pool_size,
            max_overflow=0,
            pool_pre_ping=True,
            # A failed statement ends in a log, and its values are arguments and results.
            hide_parameters=True,
            connect_args={"application_name": application_name, "options": options},
        )

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncConnection]:
        """One transaction: committed at the end, rolled back on any error."""
        async with self.engine.begin() as connection:
            yield connection

    async def close(self) -> None:
        """Give all connections back."""
        await self.engine.dispose()
