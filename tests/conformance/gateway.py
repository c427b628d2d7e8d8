"""A reverse proxy as companies have one: it adds a user's token, because the suite knows none.

Everything else of a request goes on as it came, where it comes from included: what is refused is refused by our door.
"""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import httpx2
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from tests.support.plain import PLAIN

OF_ONE_CONNECTION = frozenset({"host", "content-length", "connection", "transfer-encoding", "accept-encoding"})


class Gateway:
    """Stands before `door`; `token` is asked for each request."""

    def __init__(self, door: str, token: Callable[[], str], here: str) -> None:
        self._door, self._token, self._here = door, token, here
        self._web = httpx2.AsyncClient(base_url=door, timeout=60, verify=PLAIN)

    async def __call__(self, request: Request) -> Response:
        """Send the request on and stream what comes back."""
        headers = {name: value for name, value in request.headers.items() if name not in OF_ONE_CONNECTION}
        if headers.get("origin") in (self._here, self._here.replace("127.0.0.1", "localhost")):
            headers["origin"] = self._door
        headers["authorization"] = f"Bearer {self._token()}"
        sent = self._web.build_request(request.method, "/mcp", content=await request.body(), headers=headers)
        answer = await self._web.send(sent, stream=True)
        kept = {name: value for name, value in answer.headers.items() if name not in OF_ONE_CONNECTION}
        return StreamingResponse(_told(answer), answer.status_code, kept)


async def _told(answer: httpx2.Response) -> AsyncIterator[bytes]:
    try:
        async for chunk in answer.aiter_raw():
            yield chunk
    finally:
        await answer.aclose()


@asynccontextmanager
async def open_gateway(door: str, token: Callable[[], str]) -> AsyncIterator[str]:
    """The address at which the door is reached without a token."""
    listener = socket.create_server(("127.0.0.1", 0))
    here = f"http://127.0.0.1:{listener.getsockname()[1]}"
    methods = ["GET", "POST", "DELETE", "OPTIONS"]
    app = Starlette(routes=[Route("/mcp", Gateway(door, token, here).__call__, methods=methods)])
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    serving = asyncio.create_task(server.serve([listener]))
    try:
        yield f"{here}/mcp"
    finally:
        server.should_exit = True
        await serving
