"""`python -m worker.migrate`: brings the tables to the newest version and ends."""

import sys

from sqlalchemy.exc import OperationalError

from adapters.postgres.engine import UNANSWERED
from adapters.postgres.migrations import upgrade
from worker import usage
from worker.settings import MigrateSettings, read
from workflows.domain.errors import InvalidConfiguration


def main() -> None:
    """Migrate; bad settings or an unreachable database end it with one sentence."""
    try:
        upgrade(read(MigrateSettings).postgres_dsn.get_secret_value())
    except InvalidConfiguration as error:
        _refuse(str(error))
    except OperationalError:
        _refuse(UNANSWERED)


def _refuse(sentence: str) -> None:
    print(sentence, file=sys.stderr)
    sys.exit(2)


if __name__ == "__main__":
    usage.parser("worker.migrate", __doc__, MigrateSettings).parse_args()
    main()
