"""One set of ports to test, and a view of what they have stored: over fakes, and over PostgreSQL.

Time passes on a bench when it is told to: the fakes' clock goes on, and in PostgreSQL the table owner moves the stored
moments of one operation into the past.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Protocol

from sqlalchemy import Column, Select, Table, func, select, update

from activities.ports import Approvals, Claims, Journal, Operations, Resolutions, Spendings
from adapters.intake.ports import Inbox, Progress
from adapters.postgres.approvals import PostgresApprovals
from adapters.postgres.cancellations import PostgresCancellations
from adapters.postgres.claims import PostgresClaims
from adapters.postgres.decisions import PostgresDecisions, Wake
from adapters.postgres.engine import Database
from adapters.postgres.inbox import PostgresInbox
from adapters.postgres.journal import PostgresJournal
from adapters.postgres.operations import PostgresOperations
from adapters.postgres.progress import PostgresProgress
from adapters.postgres.resolutions import PostgresResolutions
from adapters.postgres.spendings import PostgresSpendings
from adapters.postgres.tables import approvals, calls, claims, handler_calls, operations, outbox, spendings
from tests.fakes.approvals import MemoryApprovals
from tests.fakes.claims import MemoryClaims
from tests.fakes.inbox import MemoryInbox
from tests.fakes.journal import MemoryJournal
from tests.fakes.operations import MemoryOperations, MemoryProgress
from tests.fakes.resolutions import MemoryResolutions
from tests.fakes.spendings import MemorySpendings
from tests.fakes.world import World
from tests.support.proposals import CALLER
from workflows.domain.approval import ApprovalState, Choice
from workflows.domain.lifecycle import State
from workflows.domain.principal import Principal
from workflows.domain.resolution import Resolution

TENANT = "tenant-a"

OPERATOR = Principal(TENANT, "operator-1", frozenset({"operator"}))


async def nobody_is_woken(wake: Wake) -> None:
    """Whoever must know looks for themselves."""


@dataclass(frozen=True)
class Found:
    """What is stored of one operation.

    `claim` is its owner, generation and sends; `outbox` the kinds of messages, of events the names.
    """

    state: State
    claim: tuple[str, int, int] | None
    approvals: tuple[ApprovalState, ...]
    outbox: tuple[str, ...]


class Bench(Protocol):
    """The ports under test and the view behind them."""

    @property
    def operations(self) -> Operations: ...

    @property
    def approvals(self) -> Approvals: ...

    @property
    def claims(self) -> Claims: ...

    @property
    def resolutions(self) -> Resolutions: ...

    @property
    def spendings(self) -> Spendings: ...

    @property
    def journal(self) -> Journal: ...

    @property
    def inbox(self) -> Inbox: ...

    @property
    def progress(self) -> Progress: ...

    async def pass_time(self, operation_id: str, seconds: float) -> None:
        """Everything that is stored of this operation becomes that much older."""

    async def decide(self, approval_id: str, choice: Choice = Choice.APPROVE, approver: str = "approver-1") -> None:
        """A person decides."""

    async def resolve(self, operation_id: str, word: Resolution, operator: Principal = OPERATOR) -> None:
        """An operator gives their word."""

    async def cancel(self, operation_id: str) -> None:
        """The caller wants it to stop."""

    async def found(self, operation_id: str) -> Found:
        """What is stored."""

    async def calls_of(self, operation_id: str) -> list[tuple[int, str | None]]:
        """Generation and outcome of each call of a handler."""

    async def requests_of(self, operation_id: str) -> list[tuple[str | None, str | None]]:
        """Request and task by which the other side knows each call of a handler."""

    async def deliveries(self, request_id: str) -> list[tuple[str, int]]:
        """Call id and number of deliveries, in the order of call ids."""

    async def operations_of(self, request_id: str) -> list[str]:
        """Ids of the operations that came of a response."""


class MemoryBench:
    """Over the fakes."""

    def __init__(self) -> None:
        self.world = World()
        self.operations = MemoryOperations(self.world)
        self.approvals = MemoryApprovals(self.world)
        self.claims = MemoryClaims(self.world)
        self.resolutions = MemoryResolutions(self.world)
        self.spendings = MemorySpendings(self.world)
        self.journal = MemoryJournal(self.world)
        self.inbox = MemoryInbox(self.world)
        self.progress = MemoryProgress(self.world)

    async def pass_time(self, operation_id: str, seconds: float) -> None:
        self.world.advance(seconds)

    async def decide(self, approval_id: str, choice: Choice = Choice.APPROVE, approver: str = "approver-1") -> None:
        self.world.decide(approval_id, choice, approver)

    async def resolve(self, operation_id: str, word: Resolution, operator: Principal = OPERATOR) -> None:
        self.world.resolutions[operation_id, word.item, word.generation] = word

    async def cancel(self, operation_id: str) -> None:
        self.world.cancel(operation_id)

    async def found(self, operation_id: str) -> Found:
        held = self.world.claims.get(operation_id)
        return Found(
            state=self.world.kept(operation_id).operation.state,
            claim=None if held is None else (held.owner, held.generation, held.sends),
            approvals=tuple(asked.state for asked in self.world.questions(operation_id)),
            outbox=tuple(kind for name, kind in self.world.outbox if name == operation_id),
        )

    async def calls_of(self, operation_id: str) -> list[tuple[int, str | None]]:
        return [(entry.generation, entry.outcome) for entry in self.world.entries if entry.operation_id == operation_id]

    async def requests_of(self, operation_id: str) -> list[tuple[str | None, str | None]]:
        return [(entry.request_id, entry.task_id) for entry in self.world.entries if entry.operation_id == operation_id]

    async def deliveries(self, request_id: str) -> list[tuple[str, int]]:
        return sorted((key[2], row.deliveries) for key, row in self.world.calls.items() if key[1] == request_id)

    async def operations_of(self, request_id: str) -> list[str]:
        rows = (row for key, row in self.world.calls.items() if key[1] == request_id)
        return [row.operation_id for row in rows if row.operation_id is not None]


class PostgresBench:
    """Over PostgreSQL, each port with the rights of the process that uses it."""

    def __init__(self, *, door: Database, worker: Database, owner: Database) -> None:
        self.operations = PostgresOperations(worker)
        self.approvals = PostgresApprovals(worker)
        self.claims = PostgresClaims(worker)
        self.resolutions = PostgresResolutions(worker)
        self.spendings = PostgresSpendings(worker)
        self.journal = PostgresJournal(worker)
        self.inbox = PostgresInbox(door)
        self.progress = PostgresProgress(door)
        self._decisions = PostgresDecisions(door)
        self._words = PostgresResolutions(door)
        self._wishes = PostgresCancellations(door, nobody_is_woken)
        self._owner = owner

    async def pass_time(self, operation_id: str, seconds: float) -> None:
        await self._age(operations, operation_id, seconds, "created_at", "cleared_at", "ended_at")
        await self._age(calls, operation_id, seconds, "created_at")
        await self._age(spendings, operation_id, seconds, "reserved_at")
        await self._age(approvals, operation_id, seconds, "asked_at", "expires_at")
        await self._age(claims, operation_id, seconds, "lease_until", "first_sent_at", "last_sent_at")

    async def decide(self, approval_id: str, choice: Choice = Choice.APPROVE, approver: str = "approver-1") -> None:
        (asked,) = await self.rows(select(approvals).where(approvals.c.approval_id == approval_id))
        person = Principal(asked.tenant, approver, frozenset({asked.approver_role}))
        await self._decisions.decide(person, approval_id, choice, "Seen.", asked.revision, asked.intent_hash)

    async def resolve(self, operation_id: str, word: Resolution, operator: Principal = OPERATOR) -> None:
        await self._words.resolve(operator, operation_id, word)

    async def cancel(self, operation_id: str) -> None:
        assert await self._wishes.want(CALLER, operation_id)

    async def found(self, operation_id: str) -> Found:
        (operation,) = await self.rows(select(operations).where(operations.c.operation_id == operation_id))
        held = await self.rows(select(claims).where(claims.c.operation_id == operation_id))
        asked = select(approvals).where(approvals.c.operation_id == operation_id).order_by(approvals.c.revision)
        posted = select(outbox).where(outbox.c.operation_id == operation_id).order_by(outbox.c.message_id)
        return Found(
            state=State(operation.state),
            claim=(held[0].owner, held[0].generation, held[0].sends) if held else None,
            approvals=tuple(ApprovalState(row.state) for row in await self.rows(asked)),
            outbox=tuple(row.payload.get("what", row.kind) for row in await self.rows(posted) if row.kind != "nudge"),
        )

    async def calls_of(self, operation_id: str) -> list[tuple[int, str | None]]:
        wanted = select(handler_calls).where(handler_calls.c.operation_id == operation_id)
        return [(row.generation, row.outcome) for row in await self.rows(wanted.order_by(handler_calls.c.entry))]

    async def requests_of(self, operation_id: str) -> list[tuple[str | None, str | None]]:
        wanted = select(handler_calls).where(handler_calls.c.operation_id == operation_id)
        return [(row.request_id, row.task_id) for row in await self.rows(wanted.order_by(handler_calls.c.entry))]

    async def deliveries(self, request_id: str) -> list[tuple[str, int]]:
        wanted = select(calls).where(calls.c.request_id == request_id).order_by(calls.c.call_id)
        return [(row.call_id, row.deliveries) for row in await self.rows(wanted)]

    async def operations_of(self, request_id: str) -> list[str]:
        wanted = select(calls).where(calls.c.request_id == request_id, calls.c.operation_id.is_not(None))
        return [row.operation_id for row in await self.rows(wanted)]

    async def rows(self, statement: Select[Any]) -> list[Any]:
        """What the owner of the tables sees."""
        async with self._owner.transaction() as connection:
            return list(await connection.execute(statement))

    async def _age(self, table: Table, operation_id: str, seconds: float, *moments: str) -> None:
        earlier: Callable[[Column[Any]], Any] = lambda column: column - timedelta(seconds=seconds)  # noqa: E731
        values = {name: earlier(table.c[name]) for name in moments}
        async with self._owner.transaction() as connection:
            await connection.execute(update(table).where(table.c.operation_id == operation_id).values(values))


async def count(database: Database, table: Table, **having: str) -> int:
    """Rows of a table whose columns have these values."""
    wanted = select(func.count()).select_from(table)
    for name, value in having.items():
        wanted = wanted.where(table.c[name] == value)
    async with database.transaction() as connection:
        number: int = (await connection.execute(wanted)).scalar_one()
        return number
