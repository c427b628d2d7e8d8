"""Everything as it stands at one moment, for those who look over whole tables."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from psycopg.errors import InsufficientPrivilege, UndefinedColumn, UndefinedTable
from sqlalchemy import text
from sqlalchemy.exc import ProgrammingError
from sqlalchemy.ext.asyncio import AsyncConnection

from adapters.postgres.engine import Database
from workflows.domain.errors import InvalidConfiguration

UNREADABLE = (
    "The role of ONCEWARD_POSTGRES_DSN cannot read every table: "
    "it must be the worker's, the door's or the owner's, in a database that is migrated."
)

READ_ONLY = text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")

FOR_WHOLE_TABLES = text("SELECT set_config('work_mem', '64MB', true), set_config('jit', 'off', true)")
"""Room to join two tables in memory, and no time spent on compiling: both until the transaction ends."""


@asynccontextmanager
async def snapshot(database: Database) -> AsyncIterator[AsyncConnection]:
    """One transaction in which nothing can be changed and nothing changes.

    Raises:
        StoreUnavailable: the database does not answer.
        InvalidConfiguration: this role may not read every table, or there are none.
    """
    try:
        async with database.transaction() as connection:
            await connection.execute(READ_ONLY)
            await connection.execute(FOR_WHOLE_TABLES)
            yield connection
    except ProgrammingError as error:
        if isinstance(error.orig, InsufficientPrivilege | UndefinedTable | UndefinedColumn):
            raise InvalidConfiguration(UNREADABLE) from None
        raise
