"""How a tool tells of a call that is under way: under which ids it sends, and how far it is said to have come."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

Keep = Callable[[str, str], Awaitable[None]]
"""Keeps what a call is known by: the id of the request, and of the task that its answer was promised as, or ""."""

Hear = Callable[[float, float | None], None]
"""Takes how far a call has come, and of how much if that is known."""

_KEEP: Final[ContextVar[Keep | None]] = ContextVar("_KEEP", default=None)
_HEAR: Final[ContextVar[Hear | None]] = ContextVar("_HEAR", default=None)


@contextmanager
def kept_by(keep: Keep) -> Iterator[None]:
    """Whatever is told inside goes to `keep`."""
    token = _KEEP.set(keep)
    try:
        yield
    finally:
        _KEEP.reset(token)


async def tell(request_id: str, task_id: str = "") -> None:
    """Say under which id a request is about to leave; what nobody keeps is fine, such as a look-up."""
    keep = _KEEP.get()
    if keep is not None:
        await keep(request_id, task_id)


@contextmanager
def heard_by(hear: Hear) -> Iterator[None]:
    """Whatever progress is told of inside goes to `hear`. It is a sign of life, and prolongs nothing."""
    token = _HEAR.set(hear)
    try:
        yield
    finally:
        _HEAR.reset(token)


def listener() -> Hear:
    """Who hears of progress here; to be asked by whoever calls, as word of it may come in another task."""
    return _HEAR.get() or _nobody


def _nobody(_: float, __: float | None) -> None:
    """Hears nothing."""
