"""Processes of this machine as the stack sees them: who is that pid, what did it start, end it for good."""

import signal
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

import psutil

# Seconds that two readings of one process's start time may differ: the clock may have been set in between.
CLOCK_TOLERANCE = 2.0

# How long a leftover of an earlier run may take to end after it was asked to, before it is killed (seconds).
LEFTOVER_GRACE = 5.0

Identity = dict[str, Any]


def identify(pid: int) -> Identity:
    """What is written down about a process so that a later run knows it again: pids are reused, start times are not."""
    with suppress(psutil.Error):
        return {"pid": pid, "started": psutil.Process(pid).create_time()}
    return {"pid": pid, "started": 0.0}


def find(identity: Identity) -> psutil.Process | None:
    """The process, if it is still the same one."""
    with suppress(psutil.Error, KeyError, TypeError):
        process = psutil.Process(int(identity["pid"]))
        if abs(process.create_time() - float(identity["started"])) <= CLOCK_TOLERANCE:
            return process
    return None


def tree(pid: int) -> list[psutil.Process]:
    """The process and all that it started, itself first."""
    with suppress(psutil.Error):
        process = psutil.Process(pid)
        return [process, *process.children(recursive=True)]
    return []


def signal_tree(pid: int, number: signal.Signals) -> None:
    """Send to a process and its descendants: its group would not do, PostgreSQL's backends leave it."""
    for process in tree(pid):
        with suppress(psutil.Error):
            process.send_signal(number)


def end_leftovers(record: Mapping[str, Any]) -> list[str]:
    """End what an earlier supervisor started and could not end. Returns the names of those that were still there."""
    found = {name: process for name, identity in record.items() if (process := find(identity))}
    for process in found.values():
        end(tree(process.pid))
    return list(found)


def end(processes: Iterable[psutil.Process], grace: float = LEFTOVER_GRACE) -> None:
    """Ask, wait, then kill."""
    asked = list(processes)
    for process in asked:
        with suppress(psutil.Error):
            process.resume()
            process.terminate()
    _, stubborn = psutil.wait_procs(asked, timeout=grace)
    for process in stubborn:
        with suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(stubborn, timeout=grace)
