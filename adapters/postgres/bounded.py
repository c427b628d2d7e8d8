"""Connections on which nobody waits for ever.

A server that was stopped, or a network that lost it, sends nothing: no setting of the server's own ends such a wait.
"""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from psycopg import AsyncConnection, OperationalError
from psycopg.abc import PQGen
from psycopg.pq import TransactionStatus

RV = TypeVar("RV")


class BoundedConnection(AsyncConnection[Any]):
    """Gives up on a server that has not answered one statement within `seconds`, and is closed then.

    What was sent may have been done: of a commit that is not answered nobody knows here.
    """

    seconds: float | None = None

    async def wait(self, gen: PQGen[RV], interval: float = 0.1, timeout: float | None = None) -> RV:  # noqa: ASYNC109
        """As every statement, commit and ping does it; raises `OperationalError` when it takes too long."""
        try:
            return await super().wait(gen, interval, self.seconds if timeout is None else timeout)
        except OperationalError as error:
            if self.pgconn.transaction_status != TransactionStatus.ACTIVE:
                raise
            # Still waiting for the answer: whatever is said on this connection next would get the wrong one.
            self.pgconn.finish()
            raise OperationalError("the server has not answered in time") from error


def connecting(seconds: float) -> Callable[..., Awaitable[BoundedConnection]]:
    """What opens connections for a pool."""

    async def connect(*args: Any, **settings: Any) -> BoundedConnection:
        connection = await BoundedConnection.connect(*args, **settings)
        connection.seconds = seconds
        return connection

    return connect
