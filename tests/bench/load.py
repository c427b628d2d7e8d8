"""What a machine does that is asked for more than it bears: two doors, two workers, a loud tenant and a quiet one.

Real servers and the real doors. Each caller has a refund of an order of its own made, waits for the end, and begins the
next at once; who is told 503 comes back when `Retry-After` says, with the same response. The callers and the provider
are on the same machine, so what is told of speed is of all of them together.
"""

import os
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final
from unittest.mock import patch

import psutil
from sqlalchemy import func, select

from adapters.postgres.tables import operations
from tests.bench.callers import Callers, Tenant
from tests.bench.measuring import Verdict, not_dearer
from tests.support.onceward import Onceward
from tests.support.waiting import until
from worker.dev.stack import Stack

SECONDS: Final = 300.0
CALLERS: Final = 200
LOUD, QUIET = "tenant-a", "tenant-b"
QUIET_SHARE: Final = 0.1
"""Of the callers."""
PART: Final = 5
"""What is measured for comparison, the quiet tenant alone and one worker alone, takes so much less time."""
UNASKED: Final = dict.fromkeys(
    (
        "ONCEWARD_POLICY_UNASKED_UP_TO",
        "ONCEWARD_POLICY_DAILY_UNASKED_UP_TO",
        "ONCEWARD_POLICY_TENANT_DAILY_UNASKED_UP_TO",
    ),
    '{"KRW": 1000000000000}',
)
"""No person is asked: what is measured is the machine."""
PATIENCE_SECONDS: Final = 600.0
DOORS, WORKERS = ("api", "api-2"), ("worker", "worker-2")
PROCESSES: Final = (*DOORS, *WORKERS, "relay", "temporal", "provider")
DEARER_FOR_QUIET: Final = 4.0
"""Times its p95 alone, that 95 of 100 of the quiet tenant's turns may take beside the loud one."""
RECOVERED_WITHIN: Final = 10.0


@dataclass(frozen=True)
class Found:
    """Everything that was measured; times in seconds, memory in MB."""

    seconds: float
    quiet_alone: Tenant
    quiet: Tenant
    loud: Tenant
    recovered_after: float
    accepted: int
    effects: int
    doubled: int
    without_effect: int
    one_worker_per_second: float
    two_workers_per_second: float
    memory: dict[str, float]


async def measure(seconds: float, callers: int) -> Found:
    """The quiet tenant alone, both, the rest after it, and both with one worker."""
    quiet = max(1, round(QUIET_SHARE * callers))
    both = {LOUD: callers - quiet, QUIET: quiet}
    with tempfile.TemporaryDirectory() as folder, patch.dict(os.environ, UNASKED):
        async with Stack(Path(folder) / "load", restart=False) as stack, Onceward.connected(stack) as onceward:
            await stack.spawn("api", name=DOORS[1])
            await stack.spawn("worker", name=WORKERS[1])
            crowd = Callers(onceward, [stack.url(door) for door in DOORS])
            try:
                with _announced("the quiet tenant alone"):
                    alone = (await crowd.run(seconds / PART, **{QUIET: quiet}))[QUIET]
                with _announced("both"):
                    found = await crowd.run(seconds, **both)
                recovered = await _recovery(crowd, alone)
                memory = {name: _memory(stack, name) for name in PROCESSES}
                await stack.stop(WORKERS[1])
                with _announced("both with one worker"):
                    one = await crowd.run(seconds / PART, **both)
                accepted, counted = await _all_ended(onceward), await _effects(onceward)
            finally:
                await crowd.close()
    return Found(
        seconds=seconds,
        quiet_alone=alone,
        quiet=found[QUIET],
        loud=found[LOUD],
        recovered_after=round(recovered, 1),
        accepted=len(accepted),
        effects=counted.total(),
        doubled=sum(number > 1 for number in counted.values()),
        without_effect=len(accepted - counted.keys()),
        one_worker_per_second=round(sum(each.per_second for each in one.values()), 2),
        two_workers_per_second=round(sum(each.per_second for each in found.values()), 2),
        memory=memory,
    )


@contextmanager
def _announced(what: str) -> Iterator[None]:
    began = time.monotonic()
    yield
    print(f"  {what}: {time.monotonic() - began:.0f} s", flush=True)


async def _recovery(crowd: Callers, alone: Tenant) -> float:
    """Seconds until a turn takes no longer than it did with the quiet tenant alone."""
    began = time.monotonic()
    await until(lambda: crowd.probe(QUIET), lambda seconds: seconds <= alone.times.p95, PATIENCE_SECONDS)
    return time.monotonic() - began


async def _all_ended(onceward: Onceward) -> set[str]:
    """The operations that were ever registered, once all have ended."""
    still_open = select(func.count()).where(operations.c.ended_at.is_(None))
    await until(lambda: onceward.rows(still_open), lambda rows: rows[0][0] == 0, PATIENCE_SECONDS)
    return {row.operation_id for row in await onceward.rows(select(operations.c.operation_id))}


async def _effects(onceward: Onceward) -> Counter[str]:
    """Refunds in the provider's own book, by operation."""
    return Counter(refund["client_reference"] for refund in (await onceward.provider.ledger())["refunds"])


def _memory(stack: Stack, name: str) -> float:
    root = psutil.Process(stack.pid(name))
    return round(sum(each.memory_info().rss for each in (root, *root.children(recursive=True))) / 1e6, 1)


def judge(found: Found) -> Sequence[Verdict]:
    """What is promised under overload."""
    unusual = {**found.quiet_alone.unusual, **found.quiet.unusual, **found.loud.unusual}
    return [
        Verdict(f"load: {found.without_effect} of {found.accepted:,} accepted operations ended without their effect",
                found.without_effect == 0),
        Verdict(f"load: {found.doubled} of {found.effects:,} effects doubled", found.doubled == 0),
        Verdict(f"load: answers that are neither a success nor 503 overloaded: {unusual or 'none'}", not unusual),
        not_dearer("load", "quiet p95 beside the loud tenant, times its p95 alone",
                   found.quiet.times.p95 / found.quiet_alone.times.p95, DEARER_FOR_QUIET),
        not_dearer("load", "seconds to recover", found.recovered_after, RECOVERED_WITHIN),
    ]  # fmt: skip


def lines(found: Found) -> Sequence[str]:
    """For people."""
    rows = {"quiet alone": found.quiet_alone, "quiet": found.quiet, "loud": found.loud}
    memory = ", ".join(f"{name} {mb:.0f}" for name, mb in found.memory.items())
    return [
        f"\n{'':<12}{'callers':>8}{'turns':>8}{'per s':>8}{'p50 s':>8}{'p95 s':>8}{'p99 s':>8}{'told 503':>10}",
        *(
            f"{name:<12}{each.callers:8}{each.turns:8,}{each.per_second:8.1f}"
            f"{each.times.p50:8.2f}{each.times.p95:8.2f}{each.times.p99:8.2f}{each.refused:10.1%}"
            for name, each in rows.items()
        ),
        f"  recovered {found.recovered_after} s after the last caller; {found.accepted:,} accepted, "
        f"{found.effects:,} effects at the provider, {found.doubled} doubled",
        f"  {found.two_workers_per_second} a second with two workers, {found.one_worker_per_second} with one",
        f"  MB: {memory}",
    ]


def as_values(found: Found) -> dict[str, object]:
    """For later comparisons."""
    return asdict(found)
