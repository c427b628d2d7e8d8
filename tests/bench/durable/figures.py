"""What is worked out of the times: percentiles, throughput, and ratios that are taken within one repeat."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from tests.bench.durable.histories import Trail
from tests.bench.measuring import Percentiles, percentiles

ALONE, TOGETHER = 1, 16
"""Callers: one for latency, so many at once for throughput."""


@dataclass(frozen=True)
class Slot:
    """One turn of one contestant: the seconds of each call and of all, and what each kind of process took for it.

    `cpu_ms` is of a core for each call, `memory_mb` the memory at its end; both by kind of process.
    """

    seconds: Sequence[float]
    elapsed: float
    cpu_ms: Mapping[str, float]
    memory_mb: Mapping[str, float]

    @property
    def per_second(self) -> float:
        """Calls."""
        return len(self.seconds) / self.elapsed

    @property
    def p50_ms(self) -> float:
        """Milliseconds that half of the calls stayed within."""
        return percentiles(self.seconds).p50 * 1000


@dataclass(frozen=True)
class Measured:
    """One contestant: its slots with one caller and with many, repeat by repeat, and what it leaves in Temporal."""

    name: str
    about: str
    alone: Sequence[Slot]
    together: Sequence[Slot]
    trail: Trail | None = None

    @property
    def told(self) -> Percentiles:
        """In ms with one caller: the median of the repeats' p50; p95 and p99 of the calls of all repeats."""
        everything = percentiles(seconds * 1000 for slot in self.alone for seconds in slot.seconds)
        return Percentiles(median(slot.p50_ms for slot in self.alone), everything.p95, everything.p99)

    @property
    def per_second(self) -> float:
        """Calls with many callers, the median of the repeats."""
        return median(slot.per_second for slot in self.together)

    @property
    def cpu_ms(self) -> dict[str, float]:
        """Of a core for each call with many callers, by kind of process, medians of the repeats."""
        return {name: median(slot.cpu_ms[name] for slot in self.together) for name in self.together[0].cpu_ms}

    @property
    def memory_mb(self) -> dict[str, float]:
        """Memory by kind of process after its last turn."""
        return dict(self.together[-1].memory_mb)


Found = Mapping[str, Measured]
"""By the contestant's name."""


def slower(one: Measured, other: Measured, without_ms: float = 0.0) -> float:
    """How many times as long one takes, with one caller: the median of what each repeat says.

    `without_ms` is taken off `one` first: what it waits for somebody whom the other does not call.
    """
    return median(_each(one.alone, other.alone, lambda mine, theirs: (mine.p50_ms - without_ms) / theirs.p50_ms))


def more(one: Measured, other: Measured) -> float:
    """How many times as many calls one takes with many callers: the median of what each repeat says."""
    return median(_each(one.together, other.together, lambda mine, theirs: mine.per_second / theirs.per_second))


def _each(mine: Sequence[Slot], theirs: Sequence[Slot], ratio: Callable[[Slot, Slot], float]) -> Iterator[float]:
    return (ratio(one, other) for one, other in zip(mine, theirs, strict=True))
