"""One exchange over HTTP, kept within bounds: what a server does to one call, it does to no other.

The official package trusts what is below it: an exception there ends the connection of all calls, an answer is read
whole however long it is, and a bare 404 is told as the protocol's own "no such method". Here each of these becomes an
answer of the one request that it belongs to.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Final

import httpx2
from mcp_types import CONNECTION_CLOSED, INTERNAL_ERROR

from adapters.mcp.client.watching import CALL

LARGEST_ANSWER: Final = 4 * 1024 * 1024
"""Bytes of an answer that is no stream."""

LARGEST_STREAM: Final = 16 * 1024 * 1024
"""Bytes of a stream: one answer of the largest size, and what may come before it."""

NOT_FOUND: Final = 404
"""The package takes it for the protocol's own "no such method", with which a server looks for another revision."""

BAD_GATEWAY: Final = 502

RESUMED: Final = "last-event-id"
"""The header of a request that asks for the rest of a stream."""


class Unusable(Exception):
    """The answer is one that is not taken."""


class Exchange(httpx2.AsyncBaseTransport):
    """Wraps the transport that does the work. An answer has `seconds` to come, a stream to begin."""

    def __init__(self, transport: httpx2.AsyncBaseTransport, seconds: float) -> None:
        self._transport, self._seconds = transport, seconds

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send once; whatever goes wrong is told as an error that proves nothing."""
        if request.method == "GET" and RESUMED not in request.headers:
            # The stream for what a server wants to say unasked: nobody here listens, and it has no end.
            return httpx2.Response(405, request=request)
        try:
            async with asyncio.timeout(self._seconds):
                return await self._answer(request)
        except (TimeoutError, httpx2.TransportError):
            return _error(CONNECTION_CLOSED)
        except Unusable:
            return _error(INTERNAL_ERROR)

    async def aclose(self) -> None:
        """Close the transport below."""
        await self._transport.aclose()

    async def _answer(self, request: httpx2.Request) -> httpx2.Response:
        response = await self._transport.handle_async_request(request)
        if _is_stream(response):
            return httpx2.Response(response.status_code, headers=response.headers, stream=_Bounded(response))
        try:
            body = await _read(response)
        finally:
            await response.aclose()
        # Whoever says "not found" may stand between us and the server; what the protocol says is in the body.
        unproven = response.status_code == NOT_FOUND and _is_call(request)
        status = BAD_GATEWAY if unproven else response.status_code
        return httpx2.Response(status, headers=_without_length(response.headers), content=body)


class _Bounded(httpx2.AsyncByteStream):
    """A stream, as far as it is worth reading."""

    def __init__(self, response: httpx2.Response) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async with aclosing(_bytes(self._response, LARGEST_STREAM)) as chunks:
            try:
                async for chunk in chunks:
                    yield chunk
            except Unusable:
                raise httpx2.SSEError("longer than any stream") from None

    async def aclose(self) -> None:
        await self._response.aclose()


async def _read(response: httpx2.Response) -> bytes:
    if response.is_redirect:
        # The package would send the same body again there.
        raise Unusable
    async with aclosing(_bytes(response, LARGEST_ANSWER)) as chunks:
        return b"".join([chunk async for chunk in chunks])


async def _bytes(response: httpx2.Response, most: int) -> AsyncGenerator[bytes]:
    """What came, as it came: we ask for nothing that is packed, which may grow without a bound."""
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise Unusable
    read = 0
    async for chunk in response.aiter_raw():
        read += len(chunk)
        if read > most:
            raise Unusable
        yield chunk


def _error(code: int) -> httpx2.Response:
    return httpx2.Response(
        BAD_GATEWAY, json={"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": "no usable answer"}}
    )


def _without_length(headers: httpx2.Headers) -> httpx2.Headers:
    left_out = ("content-length", "transfer-encoding")
    return httpx2.Headers([(name, value) for name, value in headers.multi_items() if name not in left_out])


def _is_stream(response: httpx2.Response) -> bool:
    return not response.is_redirect and response.headers.get("content-type", "").lower().startswith("text/event-stream")


def _is_call(request: httpx2.Request) -> bool:
    return request.method == "POST" and json.loads(request.content).get("method") == CALL
