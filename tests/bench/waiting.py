"""Whether waiting is free: many operations that wait for people, held by one worker, and what that costs.

Real servers and the real door. The worker keeps the newest thousand workflows in its memory; the others are in Temporal
alone until somebody decides, so its memory does not grow with what waits.
"""

import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Final, TypeVar

import psutil
from sqlalchemy import func, select

from adapters.postgres.tables import approvals, operations
from tests.bench.measuring import Verdict, not_dearer
from tests.support.onceward import Onceward
from tests.support.responses import call
from tests.support.waiting import until
from worker.dev.stack import Stack

T = TypeVar("T")

OPERATIONS: Final = 10_000
AT_ONCE: Final = 8
"""Agents at the door, and people in the back office."""
FIRST: Final = 200
"""So many of those that have waited longest are decided by themselves, when the worker remembers none of them."""
NEXT: Final = 800
"""And so many after them; the others wait on."""
IDLE_SECONDS: Final = 20.0
SAMPLE: Final = 20
PATIENCE_SECONDS: Final = 1800.0
TOLD_EVERY: Final = 250
PROCESSES: Final = ("worker", "temporal", "api", "relay")
LARGEST_SHARE: Final = 0.1
"""Of one core, that the worker may take while all of them wait."""


@dataclass(frozen=True)
class Cost:
    """Of one process: memory (MB), and the share of one core while nothing is asked of it."""

    before_mb: float
    waiting_mb: float
    idle_before: float
    idle_waiting: float


@dataclass(frozen=True)
class Found:
    """Everything that was measured; times in seconds."""

    operations: int
    proposing_seconds: float
    costs: dict[str, Cost]
    history_bytes: float
    history_events: float
    events_while_waiting: int
    decided_first: int
    deciding_first_seconds: float
    decided_next: int
    deciding_next_seconds: float


async def measure(number: int) -> Found:
    """Let so many wait, look, and decide on those that have waited longest."""
    with tempfile.TemporaryDirectory() as folder:
        async with Stack(Path(folder) / "waiting", restart=False) as stack, Onceward.connected(stack) as onceward:
            await _waiting(onceward, 1)
            before, idle_before = _memory(stack), await _idle(stack)
            began = time.monotonic()
            ids = await _waiting(onceward, number)
            proposing = time.monotonic() - began
            sample = ids[:: max(1, len(ids) // SAMPLE)]
            sizes = [await _history(onceward, each) for each in sample]
            memory, idle = _memory(stack), await _idle(stack)
            later = [await _history(onceward, each) for each in sample]
            first, following = ids[:FIRST], ids[FIRST : FIRST + NEXT]
            seconds = [await _decided(onceward, first), await _decided(onceward, following)]
    return Found(
        operations=number,
        proposing_seconds=round(proposing, 1),
        costs={name: Cost(before[name], memory[name], idle_before[name], idle[name]) for name in PROCESSES},
        history_bytes=median(size for size, _ in sizes),
        history_events=median(events for _, events in sizes),
        events_while_waiting=sum(events for _, events in later) - sum(events for _, events in sizes),
        decided_first=len(first),
        deciding_first_seconds=round(seconds[0], 1),
        decided_next=len(following),
        deciding_next_seconds=round(seconds[1], 1),
    )


async def _waiting(onceward: Onceward, number: int) -> list[str]:
    """Propose refunds, each on an order of its own, and return when each of them waits for a person."""

    async def proposed(_: int) -> str:
        arguments = await onceward.provider.refund_arguments(await onceward.provider.add_order())
        return (await onceward.turn(call("refund_payment", arguments), wait_seconds=0)).operation_id

    ids = await _several(proposed, range(number), "proposed")
    await until(lambda: _number(onceward, "awaiting_approval"), lambda found: found >= number, PATIENCE_SECONDS)
    return ids


async def _decided(onceward: Onceward, ids: Sequence[str]) -> float:
    """Seconds from the first click on Approve until the last of them has its effect on record."""
    asked = select(approvals.c.operation_id, approvals.c.approval_id).where(approvals.c.state == "pending")
    questions = {row.operation_id: row.approval_id for row in await onceward.rows(asked)}
    done, began = await _number(onceward, "succeeded"), time.monotonic()
    async with onceward.visitor("approver-1") as person:

        async def approved(operation_id: str) -> None:
            await person.decide(questions[operation_id], "approve", "")

        await _several(approved, ids, "decided")
    await until(lambda: _number(onceward, "succeeded"), lambda found: found >= done + len(ids), PATIENCE_SECONDS)
    return time.monotonic() - began


async def _several(act: Callable[[T], Awaitable[T | str | None]], on: Sequence[T], told: str) -> list[str]:
    """Do it to each, a few at once, and say how far it has come."""
    gate, done = asyncio.Semaphore(AT_ONCE), 0

    async def one(each: T) -> str:
        nonlocal done
        async with gate:
            answer = str(await act(each))
        done += 1
        if done % TOLD_EVERY == 0:
            print(f"  {done:,} of {len(on):,} {told}", flush=True)
        return answer

    return list(await asyncio.gather(*(one(each) for each in on)))


async def _number(onceward: Onceward, state: str) -> int:
    (row,) = await onceward.rows(select(func.count()).where(operations.c.state == state))
    return int(row[0])


async def _history(onceward: Onceward, operation_id: str) -> tuple[int, int]:
    """Bytes and events that the server holds for it."""
    described = await onceward.temporal.get_workflow_handle(operation_id).describe()
    info = described.raw_description.workflow_execution_info
    return info.history_size_bytes, info.history_length


def _memory(stack: Stack) -> dict[str, float]:
    return {name: round(sum(each.memory_info().rss for each in _tree(stack, name)) / 1e6, 1) for name in PROCESSES}


async def _idle(stack: Stack) -> dict[str, float]:
    """Share of one core that each takes while nobody asks anything of it."""
    before = {name: _cpu(stack, name) for name in PROCESSES}
    await asyncio.sleep(IDLE_SECONDS)
    return {name: round((_cpu(stack, name) - before[name]) / IDLE_SECONDS, 4) for name in PROCESSES}


def _cpu(stack: Stack, name: str) -> float:
    return sum(sum(each.cpu_times()[:2]) for each in _tree(stack, name))


def _tree(stack: Stack, name: str) -> list[psutil.Process]:
    root = psutil.Process(stack.pid(name))
    return [root, *root.children(recursive=True)]


def judge(found: Found) -> Sequence[Verdict]:
    """What is promised of waiting."""
    return [
        Verdict(f"waiting: events that were added while {found.operations:,} waited: {found.events_while_waiting}",
                found.events_while_waiting == 0),
        not_dearer("waiting", "the worker's share of one core while they wait",
                   found.costs["worker"].idle_waiting, LARGEST_SHARE),
    ]  # fmt: skip


def lines(found: Found) -> Sequence[str]:
    """For people."""
    costs = [
        f"  {name:<10}{cost.before_mb:9.1f}{cost.waiting_mb:11.1f}{cost.idle_before:13.1%}{cost.idle_waiting:13.1%}"
        for name, cost in found.costs.items()
    ]
    return [
        f"\n{found.operations:,} operations that wait, proposed in {found.proposing_seconds:.0f} s",
        f"{'':<12}{'MB before':>9}{'waiting':>9}{'idle before':>13}{'waiting':>13}",
        *costs,
        f"  history of one: {found.history_bytes:,.0f} bytes in {found.history_events:.0f} events",
        f"  {found.decided_first:,} decided and done in {found.deciding_first_seconds:.1f} s, the next "
        f"{found.decided_next:,} in {found.deciding_next_seconds:.1f} s",
    ]


def as_values(found: Found) -> dict[str, object]:
    """For later comparisons."""
    return asdict(found)
