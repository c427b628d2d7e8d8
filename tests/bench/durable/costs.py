"""What processes take: seconds of a core, and memory, by kind, read from /proc.

Memory that processes share, as PostgreSQL's do, is divided among them, so that it is counted once.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import psutil

CALLERS: Final = "callers"
"""This process: whoever calls."""


@dataclass(frozen=True)
class Reading:
    """At one moment: seconds of a core since the process began, and memory in MB, by kind of process."""

    cpu: Mapping[str, float]
    memory_mb: Mapping[str, float]


class Meter:
    """Reads the processes of a house, with all that they started."""

    def __init__(self, pids: Mapping[str, int]) -> None:
        self._roots = {name: psutil.Process(pid) for name, pid in pids.items()}

    def read(self) -> Reading:
        """Of each kind but the callers', of whom `callers` tells: to look takes work of theirs."""
        trees = {name: [root, *root.children(recursive=True)] for name, root in self._roots.items()}
        return Reading(
            {name: sum(map(_cpu, tree)) + _ended(tree[0]) for name, tree in trees.items()},
            {name: sum(map(_memory, tree)) / 1e6 for name, tree in trees.items()},
        )


def callers() -> Reading:
    """This process."""
    return Reading({CALLERS: time.process_time()}, {CALLERS: _memory(psutil.Process()) / 1e6})


def _cpu(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return float(times.user + times.system)


def _ended(root: psutil.Process) -> float:
    """Of its children that have ended: a connection to PostgreSQL is one."""
    times = root.cpu_times()
    return float(times.children_user + times.children_system)


def _memory(process: psutil.Process) -> float:
    """Bytes; where the system does not say how much of it is shared, all of it."""
    try:
        found = process.memory_full_info()
        return float(getattr(found, "pss", found.rss))
    except psutil.NoSuchProcess:
        return 0.0


def milliseconds_each(before: Reading, after: Reading, calls: int) -> dict[str, float]:
    """Of a core for each call, by kind of process."""
    return {name: (after.cpu[name] - before.cpu[name]) * 1000 / calls for name in after.cpu}
