"""Whether what has ended makes what comes slower: the same steps on empty tables and among very many operations.

Two databases of one server, taken in turns, so that whatever else runs disturbs both alike. Only PostgreSQL and our own
ports are measured; Temporal keeps what has ended for a few days and does not grow with it.
"""

import asyncio
import shutil
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Final, TypeVar

import psycopg

from adapters.intake.ports import Receipt
from adapters.postgres.claims import PostgresClaims
from adapters.postgres.engine import Database
from adapters.postgres.inbox import PostgresInbox
from adapters.postgres.operations import PostgresOperations
from tests.bench.measuring import Verdict, not_dearer
from tests.support.acts import ATTEMPT_SECONDS, LEASE_SECONDS, binding_of
from tests.support.finished import plant, sizes
from tests.support.proposals import fresh, refund, turn_of
from worker.dev.stack import Stack
from workflows.domain.approval import Clearance
from workflows.domain.effect import Effect
from workflows.domain.gate import Layer
from workflows.domain.gate import Verdict as Judgement
from workflows.domain.lifecycle import State
from workflows.domain.operation import Settlement

T = TypeVar("T")

OPERATIONS: Final = 10_000_000
DUE_RATIO: Final = 1.3
"""A step among all of them may take so many times what it takes on empty tables."""
BYTES_NEEDED: Final = 9_000
"""On the disk, for each operation, while its indexes are made."""
WARM_UP: Final = 100
ROUNDS: Final = 400
EMPTY: Final = "empty"
FULL: Final = "onceward"
MADE: Final = Effect.applied("rf-204", {"refund_id": "rf-204", "amount": 12_000})

ROOMY: Final = ("max_wal_size = '8GB'", "checkpoint_timeout = '1h'", "autovacuum = off")
"""So that nothing is tidied up behind what is measured."""


@dataclass(frozen=True)
class Pace:
    """Of one step: half of the calls on empty tables, and among all that has ended, stayed within this (ms)."""

    empty_ms: float
    full_ms: float

    @property
    def ratio(self) -> float:
        """How many times as long it takes among all."""
        return self.full_ms / self.empty_ms


@dataclass(frozen=True)
class Size:
    """Of one table (bytes)."""

    table: int
    indexes: int


@dataclass(frozen=True)
class Found:
    """Everything that was measured."""

    operations: int
    planting_seconds: float
    sizes: Mapping[str, Size]
    paces: Mapping[str, Pace]

    @property
    def bytes_per_operation(self) -> float:
        """With the indexes."""
        return sum(size.table + size.indexes for size in self.sizes.values()) / self.operations


class House:
    """The door and a worker on one database, and how long their steps have taken (s)."""

    def __init__(self, door: Database, worker: Database) -> None:
        self._inbox, self._operations = PostgresInbox(door), PostgresOperations(worker)
        self._claims = PostgresClaims(worker)
        self.times: defaultdict[str, list[float]] = defaultdict(list)

    async def refund(self) -> None:
        """One refund from the door to its end, its response handed in twice."""
        turn = turn_of(refund(order_id=fresh("O")))
        (first,) = await self._timed("register (inbox)", self._inbox.register(turn))
        operation = await self._operations.load(first.operation_id or "")
        await self._operations.record(operation, [Judgement(Layer.RISK)], Clearance(binding_of(operation)))
        acquiring = self._claims.acquire(operation.operation_id, "owner-1", LEASE_SECONDS)
        claim = await self._timed("acquire (claim)", acquiring)
        await self._claims.begin_send(claim, ATTEMPT_SECONDS)
        await self._claims.conclude(claim, MADE)
        ending = Settlement(State.SUCCEEDED, data=MADE.data, reference=MADE.reference)
        await self._timed("settle", self._operations.settle(operation.operation_id, ending))
        (again,) = await self._timed("register, delivered before", self._inbox.register(turn))
        assert again.receipt is Receipt.KNOWN

    async def _timed(self, name: str, step: Awaitable[T]) -> T:
        began = time.perf_counter()
        result = await step
        self.times[name].append(time.perf_counter() - began)
        return result


async def measure(number: int) -> Found:
    """Plant so many in one of two databases, and take turns at both."""
    with tempfile.TemporaryDirectory() as folder:
        _require_room(Path(folder), number)
        async with Stack(Path(folder) / "growth", only={"postgres", "migrate"}, restart=False) as stack:
            _make_room(stack)
            began = time.monotonic()
            await asyncio.to_thread(plant, stack.dsn("postgres", FULL), number, _tell)
            planting = time.monotonic() - began
            found = {name: Size(*each) for name, each in sizes(stack.dsn("postgres", FULL)).items()}
            return Found(number, round(planting, 1), found, await _paces(stack))


def _require_room(folder: Path, number: int) -> None:
    needed, free = number * BYTES_NEEDED, shutil.disk_usage(folder).free
    if needed > free:
        raise SystemExit(f"{number:,} operations take {needed / 1e9:.0f} GB; {folder} has {free / 1e9:.0f} GB left")


def _make_room(stack: Stack) -> None:
    """A second database with the same tables, while nobody is connected to the first one, and room to write."""
    with psycopg.connect(stack.dsn("postgres", "postgres"), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {EMPTY} TEMPLATE {FULL}")
        for setting in ROOMY:
            connection.execute(f"ALTER SYSTEM SET {setting}".encode())
        connection.execute("SELECT pg_reload_conf()")


async def _paces(stack: Stack) -> Mapping[str, Pace]:
    async with _opened(stack, EMPTY) as empty, _opened(stack, FULL) as full:
        for house in (empty, full):
            for _ in range(WARM_UP):
                await house.refund()
            house.times.clear()
        for number in range(ROUNDS):
            for house in (empty, full) if number % 2 else (full, empty):
                await house.refund()
        return {name: Pace(_p50_ms(times), _p50_ms(full.times[name])) for name, times in empty.times.items()}


@asynccontextmanager
async def _opened(stack: Stack, name: str) -> AsyncIterator[House]:
    door, worker = (
        Database(stack.dsn(f"onceward_{role}", name), application_name="bench", pool_size=1)
        for role in ("door", "worker")
    )
    try:
        yield House(door, worker)
    finally:
        await door.close()
        await worker.close()


def _p50_ms(times: Sequence[float]) -> float:
    return round(median(times) * 1000, 3)


def _tell(what: str) -> None:
    print(f"  {what}", flush=True)


def judge(found: Found) -> Sequence[Verdict]:
    """What is promised of growth."""
    return [
        not_dearer("growth", f"{name} among {found.operations:,} operations, times what it takes on empty tables",
                   pace.ratio, DUE_RATIO)
        for name, pace in found.paces.items()
    ]  # fmt: skip


def lines(found: Found) -> Sequence[str]:
    """For people."""
    largest = sorted(found.sizes.items(), key=lambda each: -each[1].table - each[1].indexes)
    tables = [f"  {name:<28}{size.table / 1e6:12,.0f}{size.indexes / 1e6:12,.0f}" for name, size in largest]
    paces = [
        f"  {name:<28}{pace.empty_ms:12.2f}{pace.full_ms:12.2f}{pace.ratio:12.2f}" for name, pace in found.paces.items()
    ]
    return [
        f"\n{found.operations:,} operations that have ended, planted in {found.planting_seconds:.0f} s",
        f"  {'':<28}{'table MB':>12}{'indexes MB':>12}",
        *tables,
        f"  {found.bytes_per_operation:,.0f} bytes for each operation",
        f"  {'':<28}{'p50 empty ms':>12}{'among all':>12}{'times':>12}",
        *paces,
    ]


def as_values(found: Found) -> dict[str, object]:
    """For later comparisons."""
    ratios = {name: round(pace.ratio, 3) for name, pace in found.paces.items()}
    return {**asdict(found), "ratios": ratios, "bytes_per_operation": round(found.bytes_per_operation)}
