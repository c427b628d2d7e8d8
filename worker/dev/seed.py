"""`python -m worker.dev.seed`: the sample accounts of the development stack. Those that are there are left alone."""

from sqlalchemy import create_engine
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.engine import make_url

from adapters.downstream.ledger_tables import accounts
from worker.settings import MigrateSettings, read

SAMPLES = (
    {"account_id": "CA-17", "tenant": "tenant-a", "customer": "user-17", "currency": "KRW", "credit_limit": 1_000_000},
    {"account_id": "CA-18", "tenant": "tenant-a", "customer": "user-18", "currency": "USD", "credit_limit": 100_000},
    {"account_id": "CA-19", "tenant": "tenant-a", "customer": "user-19", "currency": "KRW", "credit_limit": 1_000_000},
    {"account_id": "CA-21", "tenant": "tenant-b", "customer": "user-21", "currency": "KRW", "credit_limit": 1_000_000},
)
"""In the minor unit of each currency."""

CLOSED = frozenset({"CA-19"})


def main() -> None:
    """Add what is missing, as the owner of the tables."""
    dsn = read(MigrateSettings).postgres_dsn.get_secret_value()
    rows = [{**sample, "closed": sample["account_id"] in CLOSED} for sample in SAMPLES]
    engine = create_engine(make_url(dsn).set(drivername="postgresql+psycopg"), hide_parameters=True)
    try:
        with engine.begin() as connection:
            connection.execute(insert(accounts).on_conflict_do_nothing(), rows)
    finally:
        engine.dispose()


if __name__ == "__main__":
    main()
