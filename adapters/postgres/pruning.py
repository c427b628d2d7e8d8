"""What ended long ago gives up its content: what it was asked with, what came of it, what was sent because of it.

Its identity stays, for as long as somebody may hand the same response in again: which call of which response it was,
what it meant, whose it was, how it ended and under which reference. So does the audit log, and every word of a person.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from sqlalchemy import Interval, bindparam, text

from adapters.postgres.engine import Database

LEAST_DAYS: Final = 7
"""Content that is younger is never pruned: pages, policies and budgets look back on it."""

AT_ONCE: Final = 500
"""Operations of one transaction."""

PRUNE: Final = text("SELECT * FROM prune_content(:older_than, :most)").bindparams(
    bindparam("older_than", type_=Interval)
)


@dataclass(frozen=True)
class Pruned:
    """How many operations gave up their content, and what was removed with it."""

    operations: int = 0
    messages: int = 0
    notices: int = 0
    verdicts: int = 0

    def __add__(self, other: "Pruned") -> "Pruned":
        return Pruned(
            self.operations + other.operations,
            self.messages + other.messages,
            self.notices + other.notices,
            self.verdicts + other.verdicts,
        )


class PostgresPruning:
    """For whoever may call the function that does it, and nothing else: the relay's role."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def prune(self, older_than: timedelta, most: int = AT_ONCE) -> Pruned:
        """The oldest that ended longer ago than this, in one transaction; raises `StoreUnavailable`.

        What is open, what nobody could find out, and what somebody holds just now is left as it is.
        """
        (row,) = await self._database.rows(PRUNE.bindparams(older_than=older_than, most=most))
        return Pruned(row.pruned, row.messages_gone, row.notices_gone, row.verdicts_gone)
