"""How a tool tells under which ids it sends, so that both sides' records can be held together afterwards."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

Keep = Callable[[str, str], Awaitable[None]]
"""Keeps what a call is known by: the id of the request, and of the task that its answer was promised as, or ""."""

_KEEP: Final[ContextVar[Keep | None]] = ContextVar("_KEEP", default=None)


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
