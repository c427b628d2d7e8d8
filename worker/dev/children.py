"""The table of everything that one machine runs, in the order of its start."""

import sys
from collections.abc import Callable, Sequence

from worker.dev import environment, postgres, temporal
from worker.dev.child import Child
from worker.dev.layout import Layout
from worker.dev.readiness import answers, says_so


def module(name: str) -> Callable[[Layout], Sequence[str]]:
    """``python -m name``, with the interpreter that runs the stack."""
    return lambda _: [sys.executable, "-m", name]


TABLE: tuple[Child, ...] = (
    postgres.CHILD,
    temporal.CHILD,
    Child("migrate", "Migrations", module("worker.migrate"), environment=environment.migrate, once=True),
    Child("seed", "Sample accounts", module("worker.dev.seed"), environment=environment.migrate, once=True),
    Child(
        "provider",
        "Payments provider (sample)",
        module("examples.payments_provider"),
        ready=answers("provider"),
        environment=environment.provider,
        port="provider",
    ),
    Child(
        "issuer",
        "Token issuer (for development)",
        module("worker.dev.issuer"),
        ready=answers("issuer"),
        environment=environment.issuer,
        port="issuer",
    ),
    Child(
        "api",
        "Door and back office",
        module("worker.api"),
        ready=answers("api"),
        environment=environment.api,
        port="api",
    ),
    Child("relay", "Relay", module("worker.relay"), ready=says_so, environment=environment.relay),
    Child("worker", "Worker", module("worker"), ready=says_so, environment=environment.worker),
)
