"""Streamable HTTP, behind a door that has looked at who calls and what the body says."""

import logging
from contextlib import AbstractAsyncContextManager
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import Receive, Scope, Send

# The package writes what it cannot read into its log, and that may be anybody's data. What fails here we log ourselves.
logging.getLogger("mcp").setLevel(logging.CRITICAL)


class Endpoint:
    """An ASGI application for one address. It keeps no sessions: any door answers any request of a host."""

    def __init__(self, server: Server[Any], largest_body: int) -> None:
        self._manager = StreamableHTTPSessionManager(server, stateless=True, max_request_body_size=largest_body)

    def running(self) -> AbstractAsyncContextManager[None]:
        """Enter it once, for as long as requests come."""
        return self._manager.run()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        await self._manager.handle_request(scope, receive, send)
