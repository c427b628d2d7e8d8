"""What the stack must know about a process to run it. The table of the real ones is in ``children``."""

import signal
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from worker.dev.environment import Environment, ours
from worker.dev.layout import Layout

Command = Callable[[Layout], Sequence[str]]
Step = Callable[[Layout], Awaitable[None]]


async def nothing(_: Layout) -> None:
    """The step of a child that needs none."""


@dataclass(frozen=True)
class Child:
    """One line of the table.

    ``ready`` is asked again and again with the layout and the name until it says yes; it raises when it never will.
    ``prepare`` runs before each start, ``furnish`` after the child is ready and before anything else starts.
    """

    name: str
    title: str
    command: Command
    ready: Callable[[Layout, str], Awaitable[bool]] | None = None
    environment: Callable[[Layout], Environment] = ours
    prepare: Step = field(default=nothing)
    furnish: Step = field(default=nothing)
    # Where its data lies, if it has any: a server that does not start is then told apart from a process that fails.
    data: Callable[[Layout], Path] | None = None
    # The name of the port it listens on; a second copy gets another one.
    port: str | None = None
    # Whether it runs to its end before the next child starts, instead of staying.
    once: bool = False
    # Whether it is started again when it dies by itself. Servers that hold data are not: somebody should look first.
    restarted: bool = True
    # Asks it to end. Some servers know a quicker way than SIGTERM that is as safe.
    stop: signal.Signals = signal.SIGTERM
    # What it gets when the supervisor is gone and nobody can wait for it.
    orphaned: signal.Signals = signal.SIGKILL
    # Seconds between being asked to end and being killed.
    grace: float = 8.0
    # Seconds it may take to become ready (or to end, when it runs once).
    patience: float = 60.0
