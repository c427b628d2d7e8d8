"""The Streamable HTTP transport of the official package, with everything closed that could send a call twice."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import httpx2
from mcp.client.streamable_http import streamable_http_client

from adapters.mcp.client.watching import Streams

LARGEST_EVENT: Final = 4 * 1024 * 1024
"""Bytes of one event of a stream."""


class Redirected(httpx2.RequestError):
    """The server points elsewhere; the package would send the same body again there."""


@asynccontextmanager
async def http_server(url: str, token: str, deadline_seconds: float) -> AsyncIterator[Streams]:
    """Talk to one address, with this bearer token where there is one, through no proxy of the environment's."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with (
        httpx2.AsyncClient(
            headers=headers,
            timeout=deadline_seconds,
            trust_env=False,
            event_hooks={"response": [_stay]},
        ) as client,
        streamable_http_client(url, http_client=client, max_sse_event_size=LARGEST_EVENT) as streams,
    ):
        yield streams


async def _stay(response: httpx2.Response) -> None:
    if response.is_redirect:
        raise Redirected("a redirect, which is not followed", request=response.request)
