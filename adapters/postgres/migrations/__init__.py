"""The tables' history: one file for each change, never edited once released."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine
from sqlalchemy.engine import Connection, make_url


def upgrade(dsn: str, revision: str = "head") -> None:
    """Bring the database at `dsn` to `revision`; the role must own the schema and may create roles."""
    engine = create_engine(make_url(dsn).set(drivername="postgresql+psycopg"))
    try:
        with engine.begin() as connection:
            command.upgrade(_config(connection), revision)
    finally:
        engine.dispose()


def _config(connection: Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    config.attributes["connection"] = connection
    return config
