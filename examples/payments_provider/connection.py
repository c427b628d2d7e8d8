"""Cutting a connection for real, so that the caller sees what it would see if we had died."""

from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

EXTENSION = "payments_provider.connection"


class CuttableProtocol(H11Protocol):
    """Uvicorn's HTTP/1.1 with a handle to its own connection in the scope of every request."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        served = self.app

        async def with_connection(scope: Any, receive: Any, send: Any) -> None:
            await served({**scope, EXTENSION: self}, receive, send)

        self.app = with_connection

    def cut(self) -> None:
        """Closes the socket at once; nothing that was meant to be sent is sent."""
        self.transport.abort()


class Cut(Response):
    """Instead of an answer: the connection ends without a byte."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - nothing is sent
        """Cuts, then waits until the server has noticed."""
        connection: CuttableProtocol = scope[EXTENSION]
        connection.cut()
        while (await receive())["type"] != "http.disconnect":
            pass
