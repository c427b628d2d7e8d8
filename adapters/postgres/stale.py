"""Connections that have died in the pool are noticed when they are taken out, without asking the server each time.

A server that ends a connection says so on it: whoever finds something to read where nobody has asked has to ask. A
network that drops a connection says nothing, but does so only to one that has been silent for a while.
"""

import select
import time
from typing import Any, Final

from sqlalchemy import event
from sqlalchemy.exc import DBAPIError, InvalidatePoolError
from sqlalchemy.ext.asyncio import AsyncEngine

IDLE_SECONDS: Final = 5.0
"""In the pool; after it the server is asked whether it still knows the connection."""

SINCE: Final = "in_the_pool_since"


def watch_over(engine: AsyncEngine) -> None:
    """Have each connection of the engine's pool looked at when it is taken out; a dead one is replaced by a new one."""
    dialect: Any = engine.dialect

    def note(_: Any, record: Any) -> None:
        record.info[SINCE] = time.monotonic()

    def look(connection: Any, record: Any, _: Any) -> None:
        since = record.info.get(SINCE)
        # A new one has just been answered.
        if since is not None and (_has_word(connection) or time.monotonic() - since > IDLE_SECONDS):
            _ask(dialect, connection)

    event.listen(engine.sync_engine, "checkin", note)
    event.listen(engine.sync_engine, "checkout", look)


def _has_word(connection: Any) -> bool:
    """Whether the server has said something unasked, or the connection is closed."""
    driver = connection.driver_connection
    if driver.closed:
        return True
    looking = select.poll()
    looking.register(driver.pgconn.socket, select.POLLIN)
    return bool(looking.poll(0))


def _ask(dialect: Any, connection: Any) -> None:
    try:
        dialect.do_ping(connection)
    except (DBAPIError, dialect.loaded_dbapi.Error) as error:
        raise InvalidatePoolError from error
