"""The activities as the workflow sees them: recorded name, timeouts, attempts.

The names are in every history, so they never change. Every activity states its timeouts and its attempts; none is
unlimited.
"""

from dataclasses import dataclass
from datetime import timedelta

from temporalio.common import RetryPolicy

EXECUTE_OPERATION = "onceward.ExecuteOperation"
EXECUTE_TURN = "onceward.ExecuteTurn"
NUDGE = "onceward.nudge"
"""Signal: look at the database again. It carries nothing and decides nothing, so it may be lost or doubled."""

PROGRESS = "onceward.progress"
"""Query: how far a batch has come."""

STARTED_IS_MARKED = "onceward.started-is-marked"
"""Recorded by an operation that shows in the console when it begins to make the effect and when it lets it rest."""

VALIDATE = "onceward.validate"
APPLY = "onceward.apply"
RECONCILE = "onceward.reconcile"
SETTLE = "onceward.settle"
READ = "onceward.read"
FOLLOW = "onceward.follow"

HEARTBEAT_EVERY = timedelta(seconds=2)
"""How often a running step says that it lives."""

READ_DEADLINE = timedelta(seconds=120)
"""Longest life of a read, its retries and its time in the queue included."""


FOLLOW_PATIENCE = timedelta(seconds=100)
"""How long the step that follows other operations waits for their end before it says that they have none yet."""

HEARTBEAT_TIMEOUT = timedelta(seconds=6)
"""A step whose worker has been silent for so long is given up."""


@dataclass(frozen=True)
class Call:
    """How an activity is called."""

    start_to_close: timedelta
    retry: RetryPolicy


def _retry(attempts: int, longest_seconds: float) -> RetryPolicy:
    return RetryPolicy(
        initial_interval=timedelta(milliseconds=500),
        backoff_coefficient=2.0,
        maximum_interval=timedelta(seconds=longest_seconds),
        maximum_attempts=attempts,
    )


CALLS: dict[str, Call] = {
    # Reads only; an outage of the downstream has half an hour to end.
    VALIDATE: Call(timedelta(seconds=30), _retry(36, 60)),
    # One attempt: whatever stops it, what to do next is decided by looking, never by sending again unseen.
    APPLY: Call(timedelta(seconds=120), _retry(1, 1)),
    # A downstream that cannot be asked is an answer; only an outage of our own database is waited out here.
    RECONCILE: Call(timedelta(seconds=30), _retry(36, 20)),
    # Only our own database: about a day of outage is waited out before the workflow fails visibly.
    SETTLE: Call(timedelta(seconds=30), _retry(1500, 60)),
    READ: Call(timedelta(seconds=30), _retry(4, 5)),
    # Only our own database, as long as patience lasts.
    FOLLOW: Call(timedelta(seconds=120), _retry(36, 20)),
}

ONCE = RetryPolicy(maximum_attempts=1)

AT_ONCE: dict[str, timedelta] = {
    # Longer than this is trouble, and goes on where everybody sees it.
    VALIDATE: timedelta(seconds=5),
    # As when it is called in sight: it is never called a second time, and ends by the contract's own limit long before.
    APPLY: CALLS[APPLY].start_to_close,
    SETTLE: timedelta(seconds=5),
}
"""How long a step may take within the workflow task that is at work. The others are never taken there."""
