"""What surrounds every step: it says that it lives, and it fails in codes."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from temporalio import activity
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory

from workflows import contracts
from workflows.domain.errors import ERRORS, OncewardError
from workflows.domain.invocation import heard_by


@asynccontextmanager
async def step() -> AsyncIterator[None]:
    """Run one step so that its worker's death is noticed soon, and so that no value gets into a history."""
    if activity.info().is_local:
        # The workflow task around it says that the worker lives.
        with as_failure():
            yield
        return
    progress = Progress()
    beat = asyncio.create_task(_beat(progress))
    try:
        with as_failure(), heard_by(progress.hear):
            yield
    finally:
        beat.cancel()
        await asyncio.gather(beat, return_exceptions=True)


@contextmanager
def as_failure() -> Iterator[None]:
    """Let an error of ours leave an activity as a failure that names its code and nothing else.

    Anything else is a fault of the program or of a part it stands on: it leaves as its class name, to be retried.
    """
    try:
        yield
    except OncewardError as error:
        entry = ERRORS.get(error.code)
        retryable = entry is not None and entry.retryable
        # An answer and no fault of the program, so the log has no traceback of it.
        benign = ApplicationErrorCategory.BENIGN
        raise ApplicationError(error.code, type=error.code, non_retryable=not retryable, category=benign) from None
    except Exception as error:
        raise ApplicationError("unexpected failure", type=type(error).__name__) from None


def is_the_last_attempt(name: str) -> bool:
    """Whether the running activity, which is called by this name, is not tried again after this attempt."""
    return activity.info().attempt >= contracts.CALLS[name].retry.maximum_attempts


class Progress:
    """How far the other side says that it has come. It rides on the heartbeats, is seen in the console, and no more."""

    def __init__(self) -> None:
        self.told: tuple[dict[str, float | None], ...] = ()

    def hear(self, done: float, total: float | None) -> None:
        """Keep the newest word."""
        self.told = ({"progress": done, "total": total},)


async def _beat(progress: Progress) -> None:
    while True:
        activity.heartbeat(*progress.told)
        await asyncio.sleep(contracts.HEARTBEAT_EVERY.total_seconds())
