"""A transport under watch: which call was handed to it under which id, so that "not sent" is a fact."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Protocol, Self

from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCRequest

from workflows.domain.invocation import tell

CALL: Final = "tools/call"


class Reading(Protocol):
    """What a transport hands in."""

    async def receive(self) -> SessionMessage | Exception: ...  # noqa: D102 - as the package declares them
    async def aclose(self) -> None: ...  # noqa: D102
    def __aiter__(self) -> "Reading": ...
    async def __anext__(self) -> SessionMessage | Exception: ...
    async def __aenter__(self) -> Self: ...
    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None: ...


class Writing(Protocol):
    """What a transport takes."""

    async def send(self, item: SessionMessage, /) -> None: ...  # noqa: D102 - as the package declares them
    async def aclose(self) -> None: ...  # noqa: D102
    async def __aenter__(self) -> Self: ...
    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None: ...


Streams = tuple[Reading, Writing]


@dataclass
class Sending:
    """One call on its way over a connection; `sent` from the moment at which it is handed to the transport."""

    connection: str = ""
    request_id: str = ""
    sent: bool = False

    async def leaves(self, request_id: str) -> None:
        """Keep the id, then let it go; a second time is a fault of ours.

        Raises:
            StoreUnavailable: the id could not be kept, so it does not leave.
        """
        if self.sent:
            raise RuntimeError("a call is sent once")
        self.request_id = f"{self.connection}:{request_id}"
        await tell(self.request_id)
        self.sent = True


SENDING: Final[ContextVar[Sending | None]] = ContextVar("SENDING", default=None)
"""The call that this task is about to send."""


@asynccontextmanager
async def watched(transport: AbstractAsyncContextManager[Streams]) -> AsyncIterator[Streams]:
    """The same transport; a call is noted before it is written."""
    async with transport as (reading, writing):
        yield reading, _Watch(writing)


class _Watch:
    """Fits `Writing`."""

    def __init__(self, stream: Writing) -> None:
        self._stream = stream

    async def send(self, item: SessionMessage, /) -> None:
        sending = SENDING.get()
        if sending is not None and isinstance(item.message, JSONRPCRequest) and item.message.method == CALL:
            await sending.leaves(str(item.message.id))
        await self._stream.send(item)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._stream.__aexit__(kind, error, trace)
