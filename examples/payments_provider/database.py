"""Opening the books: the database, its schema and its tables are made when they are missing, never changed."""

from sqlalchemy import text
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.schema import CreateSchema

from examples.payments_provider.seed import is_empty, plant
from examples.payments_provider.tables import SCHEMA, metadata

POOL_SIZE = 20
"""Connections kept: a server allows 100 by default and is shared with the caller's own processes in a demo."""

MAINTENANCE_DATABASE = "postgres"
"""Every PostgreSQL server has it; a missing database can only be created from another one."""

OPENING_LOCK = 204_301
"""Advisory lock held while the books are opened, so that two providers started at once do not trip each other."""

ANOTHER_WAS_FASTER = frozenset({"42P04", "23505"})
"""duplicate_database, and what the server says while the other one's creation is not committed yet: a unique_violation
of its list of databases."""


class DatabaseUnreachable(Exception):
    """No PostgreSQL server lets us in under the given DSN."""


async def open_books(url: URL) -> AsyncEngine:
    """An engine on a database that has all tables and, if it was empty, the seed data."""
    # A database that was restarted is no fault of the provider's: those are made by its switches alone.
    engine = create_async_engine(url, pool_size=POOL_SIZE, max_overflow=0, pool_pre_ping=True)
    try:
        await _create_missing_database(engine)
    except OperationalError as refused:
        await engine.dispose()
        raise DatabaseUnreachable(f"{url.render_as_string(hide_password=True)}: {_first_line(refused)}") from refused
    async with engine.begin() as books:
        await _create_missing_tables(books)
    return engine


async def _create_missing_database(engine: AsyncEngine) -> None:
    """The database in the DSN is tried first: its owner may not be allowed into the maintenance database."""
    try:
        async with engine.connect():
            return
    except OperationalError as refused:
        if "does not exist" not in str(refused):
            raise
    await _create_database(engine.url)


async def _create_database(url: URL) -> None:
    maintenance = create_async_engine(url.set(database=MAINTENANCE_DATABASE), isolation_level="AUTOCOMMIT")
    name = maintenance.dialect.identifier_preparer.quote(str(url.database))
    try:
        async with maintenance.connect() as connection:
            await connection.execute(text(f"CREATE DATABASE {name}"))
    except DBAPIError as refused:
        if getattr(refused.orig, "sqlstate", None) not in ANOTHER_WAS_FASTER:
            raise
    finally:
        await maintenance.dispose()


async def _create_missing_tables(books: AsyncConnection) -> None:
    await books.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": OPENING_LOCK})
    await books.execute(CreateSchema(SCHEMA, if_not_exists=True))
    await books.run_sync(metadata.create_all)
    if await is_empty(books):
        await plant(books)


def _first_line(refused: OperationalError) -> str:
    return str(refused.orig).splitlines()[0]
