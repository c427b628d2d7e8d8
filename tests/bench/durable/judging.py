"""What is promised of durability, and whether it was kept."""

from collections.abc import Sequence
from typing import Final

from tests.bench.durable.contestants import APPROVED, DBOS, EMPTY, NAIVE, NOTHING, OPERATION, READ, READS
from tests.bench.durable.family import PROVIDER_SECONDS
from tests.bench.durable.figures import Found, Measured, more, slower
from tests.bench.measuring import Verdict

PROVIDER_MS: Final = PROVIDER_SECONDS * 1000

SLOWEST_WRITE: Final = 1.5
SLOWEST_APPROVED: Final = 2.0
"""p50 as a multiple of an empty workflow's, without the provider's own time."""
SLOWEST_READ: Final = 1.3
"""As a multiple of an empty activity's."""
LEAST_OF_EMPTY: Final = 0.85
LEAST_OF_NAIVE: Final = 3.0
"""Throughput as a multiple of theirs."""
MOST_ACTIONS: Final = 2
MOST_EVENTS: Final = 12
MOST_BYTES: Final = 6_000

SLOWEST: Final = {OPERATION: SLOWEST_WRITE, APPROVED: SLOWEST_APPROVED, READ: SLOWEST_READ}
FEWEST: Final = {OPERATION: LEAST_OF_EMPTY}
"""The targets by contestant, for the picture."""

BASELINES: Final = {READ: NOTHING, READS: NOTHING, NOTHING: NOTHING}


def baseline(name: str) -> str:
    """What a contestant is compared with: an empty activity for reads, an empty workflow for everything else."""
    return BASELINES.get(name, EMPTY)


def judge(found: Found) -> Sequence[Verdict]:
    """All targets, the most important one last."""
    return [
        *_traces(found[OPERATION]),
        _no_slower(found, APPROVED, SLOWEST_APPROVED),
        _no_slower(found, READ, SLOWEST_READ),
        _no_fewer(found, OPERATION, EMPTY, LEAST_OF_EMPTY),
        _no_fewer(found, OPERATION, NAIVE, LEAST_OF_NAIVE),
        _no_slower(found, OPERATION, SLOWEST_WRITE),
    ]


def beside(found: Found) -> str:
    """Of which nothing is promised: against DBOS, which takes the same steps in the process of its callers."""
    ours, dbos = found[OPERATION], found[DBOS]
    return (
        f"durable: {OPERATION} takes {slower(ours, dbos):.2f} times as long as {DBOS}, "
        f"and does {more(ours, dbos):.2f} times as many a second (no target)"
    )


def _no_slower(found: Found, name: str, most: float) -> Verdict:
    one, other = found[name], found[baseline(name)]
    ratio, whole = slower(one, other, PROVIDER_MS), slower(one, other)
    words = (
        f"durable: p50 of {name} {ratio:.2f} x {other.name}, at most {most:.2f} "
        f"({whole:.2f} with the provider's own {PROVIDER_MS:.0f} ms)"
    )
    return Verdict(words, ratio <= most)


def _no_fewer(found: Found, name: str, than: str, least: float) -> Verdict:
    ratio = more(found[name], found[than])
    return Verdict(f"durable: {name}s a second {ratio:.2f} x {than}, at least {least:.2f}", ratio >= least)


def _traces(measured: Measured) -> Sequence[Verdict]:
    trail = measured.trail
    if trail is None:
        return [Verdict(f"durable: {measured.name} left no history", False)]
    counted = (
        (trail.actions, MOST_ACTIONS, "billable actions (derived)"),
        (trail.events, MOST_EVENTS, "events"),
        (trail.bytes, MOST_BYTES, "bytes of history"),
    )
    return [
        Verdict(f"durable: {measured.name} takes {number:,.0f} {what}, at most {most:,}", number <= most)
        for number, most, what in counted
    ]
