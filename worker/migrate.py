"""`python -m worker.migrate`: brings the tables to the newest version and ends."""

import sys

from sqlalchemy.exc import OperationalError

from adapters.postgres.migrations import upgrade
from worker.settings import MigrateSettings, read
from workflows.domain.errors import InvalidConfiguration


def main() -> None:
    """Migrate; bad settings or an unreachable database end it with one sentence."""
    try:
        upgrade(read(MigrateSettings).postgres_dsn.get_secret_value())
    except InvalidConfiguration as error:
        _refuse(str(error))
    except OperationalError:
        _refuse("The database at ONCEWARD_POSTGRES_DSN does not answer, or refuses this role.")


def _refuse(sentence: str) -> None:
    print(sentence, file=sys.stderr)
    sys.exit(2)


if __name__ == "__main__":
    main()
