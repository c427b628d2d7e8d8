"""What goes over the wire between this process and PostgreSQL, as the client library itself notes it."""

import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from psycopg.pq import Trace

from adapters.postgres.engine import Database

MESSAGE = re.compile(r"^B\t\d+\t(\w+)(?:\t ?(.*))?$", re.MULTILINE)
"""Kind and content of a message from the server."""

FRAMES = ('"BEGIN"', '"COMMIT"', '"ROLLBACK"')


@dataclass
class Traffic:
    """Between two moments: transactions that were ended, statements inside them, and waits for the server."""

    transactions: int = 0
    statements: int = 0
    round_trips: int = 0

    def __iter__(self) -> Iterator[int]:
        return iter((self.transactions, self.statements, self.round_trips))


class Wire:
    """The one connection of a database with room for one, listened to; `notes` is a file of ours."""

    def __init__(self, database: Database, notes: Path) -> None:
        self._database, self._notes = database, notes

    @asynccontextmanager
    async def counted(self) -> AsyncIterator[Traffic]:
        """What goes over the wire within the block; filled in at its end."""
        traffic, driver = Traffic(), await self._driver()
        with self._notes.open("w") as noted:
            driver.pgconn.trace(noted.fileno())
            driver.pgconn.set_trace_flags(Trace.SUPPRESS_TIMESTAMPS)
            yield traffic
            # It is only then that everything is in the file.
            driver.pgconn.untrace()
        _count(self._notes.read_text(), traffic)

    async def _driver(self) -> Any:
        async with self._database.engine.connect() as connection:
            return (await connection.get_raw_connection()).driver_connection


def _count(noted: str, traffic: Traffic) -> None:
    """Add up what libpq has noted of the server's answers; each of its `ReadyForQuery` is one that we waited for."""
    for kind, content in MESSAGE.findall(noted):
        traffic.statements += kind == "CommandComplete" and content not in FRAMES
        traffic.round_trips += kind == "ReadyForQuery"
        # After it the server is in no transaction.
        traffic.transactions += kind == "ReadyForQuery" and content == "I"


@asynccontextmanager
async def listened_to(dsn: str, notes: Path) -> AsyncIterator[tuple[Database, Wire]]:
    """A database of one connection, and its wire; `notes` is a file to come."""
    database = Database(dsn, application_name="tests", pool_size=1)
    try:
        yield database, Wire(database, notes)
    finally:
        await database.close()
