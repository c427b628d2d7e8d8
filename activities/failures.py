"""From our errors to Temporal's: codes only, so that no value and no internal gets into a history."""

from collections.abc import Iterator
from contextlib import contextmanager

from temporalio.exceptions import ApplicationError

from workflows.domain.errors import ERRORS, OncewardError


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
        raise ApplicationError(error.code, type=error.code, non_retryable=not retryable) from None
    except Exception as error:
        raise ApplicationError("unexpected failure", type=type(error).__name__) from None
