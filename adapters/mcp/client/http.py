"""The Streamable HTTP transport of the official package, with everything closed that could send a call twice."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import httpx2
from mcp.client.streamable_http import streamable_http_client

from adapters.mcp.client.exchange import LARGEST_ANSWER, Exchange
from adapters.mcp.client.watching import Streams

LARGEST_EVENT: Final = LARGEST_ANSWER
"""Bytes of one event of a stream."""


@asynccontextmanager
async def http_server(url: str, token: str, deadline_seconds: float) -> AsyncIterator[Streams]:
    """Talk to one address, with this bearer token where there is one, through no proxy of the environment's."""
    headers = {"Accept-Encoding": "identity", **({"Authorization": f"Bearer {token}"} if token else {})}
    async with (
        httpx2.AsyncClient(
            headers=headers,
            timeout=deadline_seconds,
            trust_env=False,
            transport=Exchange(httpx2.AsyncHTTPTransport(trust_env=False), deadline_seconds),
        ) as client,
        streamable_http_client(url, http_client=client, max_sse_event_size=LARGEST_EVENT) as streams,
    ):
        yield streams
