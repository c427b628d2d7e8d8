"""`python -m worker prune`: what ended long ago gives up its content, a few hundred operations at a time."""

import argparse
import asyncio
import sys
from datetime import timedelta
from typing import Any, NoReturn

from psycopg.errors import InsufficientPrivilege, UndefinedFunction
from sqlalchemy.exc import ProgrammingError

from adapters.postgres.engine import UNANSWERED, Database
from adapters.postgres.pruning import LEAST_DAYS, PostgresPruning, Pruned
from worker.settings import Settings, read
from workflows.domain.errors import InvalidConfiguration, StoreUnavailable

NOT_ITS_ROLE = "The role of ONCEWARD_POSTGRES_DSN cannot prune: it must be the relay's, in a database that is migrated."


def add_to(actions: Any) -> None:
    """The action and its option."""
    pruning = actions.add_parser("prune", help="what ended long ago gives up its content and keeps its end")
    pruning.add_argument(
        "--older-than", type=_days, required=True, metavar="DAYS",
        help=f"days since it ended, at least {LEAST_DAYS}",
    )  # fmt: skip
    pruning.set_defaults(run=lambda asked: prune(asked.older_than))


def prune(days: int) -> NoReturn:
    """Prune to the end; it may be stopped at any time and run again. Exit code 0, or 2 when it cannot."""
    try:
        found = asyncio.run(_pruned(timedelta(days=days)))
    except InvalidConfiguration as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    removed = f"{found.messages} messages, {found.notices} notices and {found.verdicts} verdicts removed"
    print(f"prune: {found.operations} operations gave up their content; {removed}")
    sys.exit(0)


async def _pruned(older_than: timedelta) -> Pruned:
    dsn = read(Settings).postgres_dsn.get_secret_value()
    database = Database(dsn, application_name="onceward-prune", pool_size=1)
    try:
        await database.require()
        return await _to_the_end(PostgresPruning(database), older_than)
    except StoreUnavailable:
        raise InvalidConfiguration(UNANSWERED) from None
    except ProgrammingError as error:
        if isinstance(error.orig, InsufficientPrivilege | UndefinedFunction):
            raise InvalidConfiguration(NOT_ITS_ROLE) from None
        raise
    finally:
        await database.close()


async def _to_the_end(pruning: PostgresPruning, older_than: timedelta) -> Pruned:
    total = Pruned()
    while (found := await pruning.prune(older_than)).operations:
        total += found
    return total


def _days(written: str) -> int:
    days = int(written)
    if days < LEAST_DAYS:
        raise argparse.ArgumentTypeError(f"at least {LEAST_DAYS}")
    return days
