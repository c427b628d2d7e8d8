"""What is under way and what is stuck, over all tenants or of one, with ages by the database's clock."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from adapters.postgres.engine import Database
from adapters.postgres.snapshot import snapshot
from workflows.domain.lifecycle import ENDS, State

OPEN_STATES: Final = tuple(state for state in State if state not in ENDS)

FEW = 5
"""Messages that are named one by one."""

HOUR, DAY = 3600, 24 * 3600

OPEN: Final = """
SELECT state, count(*), max(seconds),
    count(*) FILTER (WHERE seconds < :hour),
    count(*) FILTER (WHERE seconds >= :hour AND seconds < :day),
    count(*) FILTER (WHERE seconds >= :day)
FROM (
    SELECT state, extract(epoch FROM clock_timestamp() - updated_at) AS seconds
    FROM operations
    WHERE ended_at IS NULL
) AS open_operation
GROUP BY state
"""
"""Open operations by state and by how long they have been in it."""

QUESTIONS: Final = """
SELECT
    count(*) FILTER (WHERE state = 'pending'),
    max(extract(epoch FROM clock_timestamp() - asked_at)) FILTER (WHERE state = 'pending'),
    count(*) FILTER (WHERE expires_at <= clock_timestamp()),
    max(extract(epoch FROM clock_timestamp() - expires_at)) FILTER (WHERE expires_at <= clock_timestamp())
FROM approvals
WHERE state IN ('pending', 'granted')
"""
"""Questions that wait for people, and open ones or unused grants whose deadline has passed without being noticed."""

DUE: Final = """
SELECT
    count(*) FILTER (WHERE due_at <= clock_timestamp()),
    max(extract(epoch FROM clock_timestamp() - due_at)) FILTER (WHERE due_at <= clock_timestamp()),
    count(*) FILTER (WHERE attempts > 0),
    max(extract(epoch FROM clock_timestamp() - created_at)) FILTER (WHERE attempts > 0)
FROM outbox
WHERE sent_at IS NULL AND set_aside_at IS NULL
"""
"""Messages that should be out by now, and those of which a delivery has failed."""

FAILING: Final = """
SELECT message_id, kind, operation_id, failure, extract(epoch FROM clock_timestamp() - created_at)
FROM outbox
WHERE sent_at IS NULL AND set_aside_at IS NULL AND attempts > 0
ORDER BY message_id
LIMIT :few
"""
"""The oldest messages that could not be delivered yet."""

SET_ASIDE: Final = """
SELECT message_id, kind, operation_id, failure, extract(epoch FROM clock_timestamp() - created_at),
    count(*) OVER (), max(extract(epoch FROM clock_timestamp() - created_at)) OVER ()
FROM outbox
WHERE set_aside_at IS NOT NULL
ORDER BY message_id
LIMIT :few
"""
"""The oldest messages that nobody will deliver, each beside the number of all of them and the age of the oldest."""

NOTICES: Final = """
SELECT message_id, outbox.payload ->> 'what' || ' for ' || receiver, operation_id, notices.failure,
    extract(epoch FROM clock_timestamp() - notices.created_at),
    count(*) OVER (), max(extract(epoch FROM clock_timestamp() - notices.created_at)) OVER ()
FROM notices
JOIN outbox USING (message_id)
WHERE {}
ORDER BY message_id, receiver
LIMIT :few
"""
"""The oldest notices of which that is so, each beside the number of all of them and the age of the oldest."""

NOT_TAKEN: Final = "notices.sent_at IS NULL AND notices.set_aside_at IS NULL AND notices.failure IS NOT NULL"

GIVEN_UP: Final = "notices.set_aside_at IS NOT NULL"


@dataclass(frozen=True)
class Waiting:
    """How many wait, and for how many seconds the oldest does; 0.0 when none does."""

    number: int = 0
    oldest_seconds: float = 0.0


@dataclass(frozen=True)
class Open:
    """Open operations of one state: `waiting` in it, of those less than an hour, less than a day, and longer."""

    waiting: Waiting = Waiting()
    within_an_hour: int = 0
    within_a_day: int = 0
    longer: int = 0


@dataclass(frozen=True)
class Held:
    """A message of the outbox that does not go out, or a notice that its receiver does not take.

    `kind` is start, nudge or event, of a notice its event and its receiver; `seconds` have passed since it was written.
    """

    message_id: int
    kind: str
    operation_id: str
    failure: str
    seconds: float


@dataclass(frozen=True)
class Backlog:
    """Everything that waits. `pending` are questions to people, `overdue` those and grants past their deadline.

    `due` messages of the outbox are late by as much as they wait; `failing` and `set_aside` are as old as they wait,
    and the oldest few of them are named in `failures` and `poison`. Of the notices some are `not_taken` yet and others
    `given_up`; the oldest few of both are named in `refusals` and `lost`.
    """

    states: Mapping[State, Open]
    pending: Waiting = Waiting()
    overdue: Waiting = Waiting()
    due: Waiting = Waiting()
    failing: Waiting = Waiting()
    set_aside: Waiting = Waiting()
    failures: tuple[Held, ...] = ()
    poison: tuple[Held, ...] = ()
    not_taken: Waiting = Waiting()
    given_up: Waiting = Waiting()
    refusals: tuple[Held, ...] = ()
    lost: tuple[Held, ...] = ()


class PostgresBacklog:
    """Looks; changes nothing."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(self) -> Backlog:
        """Everything that waits at this moment. Raises as `snapshot` does."""
        async with snapshot(self._database) as connection:
            return await read(connection)


async def read(connection: AsyncConnection, scope: str = "", **scope_values: str) -> Backlog:
    """Everything that waits, as this transaction sees it; a `scope` of `tenant_scope` leaves one tenant's."""

    async def rows(query: str, **values: int) -> list[Any]:
        return list(await connection.execute(text(scope + query), values | scope_values))

    pending, overdue = _pairs(await rows(QUESTIONS))
    due, failing = _pairs(await rows(DUE))
    failures = await rows(FAILING, few=FEW)
    poison = await rows(SET_ASIDE, few=FEW)
    refusals = await rows(NOTICES.format(NOT_TAKEN), few=FEW)
    lost = await rows(NOTICES.format(GIVEN_UP), few=FEW)
    return Backlog(
        states=_states(await rows(OPEN, hour=HOUR, day=DAY)),
        pending=pending,
        overdue=overdue,
        due=due,
        failing=failing,
        set_aside=_all_of(poison),
        failures=tuple(map(_held, failures)),
        poison=tuple(map(_held, poison)),
        not_taken=_all_of(refusals),
        given_up=_all_of(lost),
        refusals=tuple(map(_held, refusals)),
        lost=tuple(map(_held, lost)),
    )


def _pairs(rows: list[Any]) -> tuple[Waiting, Waiting]:
    ((first, first_seconds, second, second_seconds),) = rows
    return _waiting(first, first_seconds), _waiting(second, second_seconds)


def _waiting(number: int, seconds: Any) -> Waiting:
    return Waiting(number, max(0.0, float(seconds or 0.0)))


def _all_of(named: list[Any]) -> Waiting:
    """All of which these are the oldest few."""
    return _waiting(*named[0][5:]) if named else Waiting()


def _states(rows: list[Any]) -> dict[State, Open]:
    found = {state: Open(_waiting(number, seconds), *ages) for state, number, seconds, *ages in rows}
    return {state: found.get(state.value, Open()) for state in OPEN_STATES}


def _held(row: Any) -> Held:
    return Held(row[0], row[1], row[2], row[3] or "", float(row[4]))
