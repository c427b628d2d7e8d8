"""Timing that says something: warmed up, taken in turns, told as percentiles. In nanoseconds unless a name says other.

Other programs disturb what is timed here. So the contestants take turns, each of a few calls, and a disturbance hits
all of them alike; a figure is the median over several repeats; and a ratio is taken within one repeat, never between
two. Each call is timed by itself, so a percentile is one of calls. The garbage collector stays on, as in a service.
"""

import gc
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

Clock = Callable[[], int]
"""Nanoseconds from any beginning."""


@dataclass(frozen=True)
class Contestant:
    """What is timed: `about` is the sentence that a reader gets, `call` takes nothing."""

    name: str
    about: str
    call: Callable[[], object]


Turn = Sequence[Contestant]
"""Those that are called one after the other."""


@dataclass(frozen=True)
class Plan:
    """How much is called: `warm_up` untimed calls of each, then in each repeat `rounds` turns of `batch` calls."""

    warm_up: int = 500
    repeats: int = 7
    rounds: int = 20
    batch: int = 50

    def words(self, contestants: int) -> str:
        """For people, before it begins."""
        calls = self.rounds * self.batch
        return (
            f"{contestants} contestants, {self.warm_up} calls of each to warm up (not timed), then {self.repeats} "
            f"repeats of {calls} calls of each, in turns of {self.batch}"
        )


class Percentiles(NamedTuple):
    """What half, 95 and 99 of 100 calls stayed within."""

    p50: float
    p95: float
    p99: float


@dataclass(frozen=True)
class Timing:
    """One contestant's percentiles in each repeat."""

    repeats: Sequence[Percentiles]

    @property
    def told(self) -> Percentiles:
        """The median over the repeats of each percentile."""
        return Percentiles(*map(median, zip(*self.repeats, strict=True)))

    @property
    def p50(self) -> float:
        """The one figure to remember."""
        return self.told.p50

    @property
    def spread(self) -> float:
        """How far apart the repeats' p50 are, as a share of their median: 0.1 is 10 %."""
        halves = [each.p50 for each in self.repeats]
        return (max(halves) - min(halves)) / median(halves)


Timings = Mapping[str, Timing]
"""By the contestant's name."""


@dataclass(frozen=True)
class Group:
    """Contestants that are shown together. Ratios are against `baseline` and shares of `whole`, both by name.

    `parts` says that they are the whole's parts in their order. They then take one common turn and are called one after
    the other, since a call is slower after others than after itself; and what they leave of the whole is told too.
    """

    title: str
    contestants: Sequence[Contestant]
    baseline: str
    whole: str
    parts: bool = False


@dataclass(frozen=True)
class Verdict:
    """Whether a promise was kept, in words."""

    words: str
    held: bool

    def __str__(self) -> str:
        return f"{self.words}: {'held' if self.held else 'MISSED'}"


@dataclass(frozen=True)
class Contest:
    """One thing to measure; `judge` gives the verdicts, the most important one last."""

    name: str
    groups: Sequence[Group]
    judge: Callable[[Timings], Sequence[Verdict]]
    plan: Plan = Plan()

    @property
    def names(self) -> Sequence[str]:
        """Of all contestants."""
        return [contestant.name for turn in self.turns for contestant in turn]

    @property
    def turns(self) -> Sequence[Turn]:
        """In the order in which they are taken."""
        return [turn for group in self.groups for turn in _turns(group)]


def _turns(group: Group) -> Sequence[Turn]:
    return [group.contestants] if group.parts else [[contestant] for contestant in group.contestants]


def measure(contest: Contest, clock: Clock = time.perf_counter_ns) -> dict[str, Timing]:
    """Time all contestants as planned. Raises ValueError when two have one name."""
    if len(set(contest.names)) != len(contest.names):
        raise ValueError("each contestant needs a name of its own")
    for turn in contest.turns:
        _take(turn, contest.plan.warm_up, clock)
    repeats = [_repeat(contest, clock) for _ in range(contest.plan.repeats)]
    return {name: Timing([repeat[name] for repeat in repeats]) for name in contest.names}


def _repeat(contest: Contest, clock: Clock) -> dict[str, Percentiles]:
    gc.collect()
    times: dict[str, list[int]] = {name: [] for name in contest.names}
    for _ in range(contest.plan.rounds):
        for turn in contest.turns:
            for name, taken in _take(turn, contest.plan.batch, clock):
                times[name].append(taken)
    return {name: percentiles(taken) for name, taken in times.items()}


def _take(turn: Turn, calls: int, clock: Clock) -> Sequence[tuple[str, int]]:
    """Call each in its order, all of it so many times."""
    return [(contestant.name, _timed(contestant.call, clock)) for _ in range(calls) for contestant in turn]


def _timed(call: Callable[[], object], clock: Clock) -> int:
    began = clock()
    call()
    return clock() - began


def percentiles(times: Iterable[float]) -> Percentiles:
    """The nearest ranks: each is a time that was really measured."""
    ordered = sorted(times)
    return Percentiles(*(ordered[math.ceil(len(ordered) * percent / 100) - 1] for percent in (50, 95, 99)))


def ratio(one: Timing, other: Timing) -> float:
    """How many times as long one takes as the other: the median of what each repeat says."""
    return median(mine.p50 / theirs.p50 for mine, theirs in zip(one.repeats, other.repeats, strict=True))


def rest(group: Group, timings: Timings) -> float:
    """What is left of the whole's p50 when the parts' are taken away."""
    return timings[group.whole].p50 - sum(timings[part.name].p50 for part in group.contestants)


def fast_enough(bench: str, what: str, timing: Timing, target_ms: float) -> Verdict:
    """Whether half of the calls stay under the target, in milliseconds."""
    p50_ms = timing.p50 / 1e6
    return Verdict(f"{bench}: p50 {p50_ms:.3f} ms for {what}, target {target_ms:.2f} ms", p50_ms < target_ms)


def not_dearer(bench: str, what: str, found: float, most: float) -> Verdict:
    """Whether a ratio stays within its limit."""
    return Verdict(f"{bench}: {what} {found:.2f}, at most {most:.2f}", found <= most)


def exit_code(verdicts: Iterable[Verdict]) -> int:
    """0 when every promise was kept, 1 otherwise and also when there was none."""
    held = [verdict.held for verdict in verdicts]
    return 0 if held and all(held) else 1
