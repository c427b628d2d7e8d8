"""Connections on which nobody waits for ever, and for no more answers than are needed.

A server that was stopped, or a network that lost it, sends nothing: no setting of the server's own ends such a wait.
"""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeVar

from psycopg import AsyncConnection, AsyncCursor, OperationalError
from psycopg.abc import Params, PQGen, QueryNoTemplate
from psycopg.errors import PipelineAborted
from psycopg.pq import TransactionStatus

RV = TypeVar("RV")


class BoundedConnection(AsyncConnection[Any]):
    """Gives up on a server that has not answered within `seconds`, and is closed then.

    What was sent may have been done: of a commit that is not answered nobody knows here.

    Statements that were put off go out, in their order, with the next one that is not, or with the commit. The one that
    fails raises its error there, and the server does none of those after it.
    """

    seconds: float | None = None

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.cursor_factory = GatheringCursor
        self.putting_off, self.ending = False, False
        self.put_off: list[tuple[QueryNoTemplate, Params | None]] = []

    def begin(self) -> None:
        """Begin a transaction with the next statement."""
        self.put_off.append(("BEGIN", None))

    async def commit(self) -> None:
        """Send what was put off, and commit; one answer for all of it."""
        if len(self.put_off) > 1 or self.pgconn.transaction_status != TransactionStatus.IDLE:
            async with self.pipeline():
                await self.send_put_off()
                await AsyncCursor(self).execute("COMMIT", prepare=False)
        self.put_off.clear()

    async def rollback(self) -> None:
        """Forget what was put off, and take back what was sent."""
        self.put_off.clear()
        await super().rollback()

    async def send_put_off(self) -> None:
        """Say what was put off, in a pipeline of the caller's."""
        while self.put_off:
            query, params = self.put_off.pop(0)
            await AsyncCursor(self).execute(query, params)

    async def wait(self, gen: PQGen[RV], interval: float = 0.1, timeout: float | None = None) -> RV:  # noqa: ASYNC109
        """As every statement, commit and ping does it; raises `OperationalError` when it takes too long."""
        try:
            return await super().wait(gen, interval, self.seconds if timeout is None else timeout)
        except OperationalError as error:
            answered = error.sqlstate is not None or isinstance(error, PipelineAborted)
            if answered or self.pgconn.transaction_status != TransactionStatus.ACTIVE:
                raise
            # Still waiting for the answer: whatever is said on this connection next would get the wrong one.
            self.pgconn.finish()
            raise OperationalError("the server has not answered in time") from error


class GatheringCursor(AsyncCursor[Any]):
    """Sends a statement with those that were put off before it, or puts it off itself."""

    _conn: BoundedConnection

    async def execute(self, query: Any, params: Params | None = None, **how: Any) -> "GatheringCursor":
        """Fits `AsyncCursor`; a statement that is put off has no result."""
        connection = self._conn
        if connection.putting_off:
            connection.put_off.append((query, params))
        elif connection.put_off or connection.ending:
            async with connection.pipeline():
                await connection.send_put_off()
                await super().execute(query, params, **how)
                if connection.ending:
                    await AsyncCursor(connection).execute("COMMIT", prepare=False)
        else:
            await super().execute(query, params, **how)
        return self

    async def executemany(self, query: Any, params_seq: Iterable[Params], *, returning: bool = False) -> None:
        """Fits `AsyncCursor`."""
        connection = self._conn
        if connection.putting_off:
            connection.put_off += ((query, params) for params in params_seq)
        elif connection.put_off:
            async with connection.pipeline():
                await connection.send_put_off()
                await super().executemany(query, params_seq, returning=returning)
        else:
            await super().executemany(query, params_seq, returning=returning)


def connecting(seconds: float | None) -> Callable[..., Awaitable[BoundedConnection]]:
    """What opens connections for a pool; they are in no transaction until one is begun."""

    async def connect(*args: Any, **settings: Any) -> BoundedConnection:
        connection = await BoundedConnection.connect(*args, autocommit=True, **settings)
        connection.seconds = seconds
        return connection

    return connect
