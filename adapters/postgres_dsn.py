"""A setting that names a PostgreSQL database."""

from typing import Annotated

from pydantic import AfterValidator, SecretStr
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError


def _of_postgres(dsn: SecretStr) -> SecretStr:
    try:
        url = make_url(dsn.get_secret_value())
    except ArgumentError:
        raise ValueError("no DSN") from None
    if url.get_backend_name() != "postgresql" or not url.database:
        raise ValueError("no DSN of a PostgreSQL database")
    return dsn


PostgresDsn = Annotated[SecretStr, AfterValidator(_of_postgres)]
"""A password stands in it, so it is a secret."""
