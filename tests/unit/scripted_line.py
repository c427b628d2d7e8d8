"""The scripted model at the other end of a line, and the official packages on this one."""

from typing import Any

import httpx2
from anthropic import AsyncAnthropic
from google import genai
from google.genai import types
from openai import AsyncOpenAI

from examples.scripted_model.app import create_app
from examples.scripted_model.scripts import SCRIPTS

Json = dict[str, Any]

QUESTION = "What can be refunded of order O-17?"
ASKED: Json = {"order_id": "O-17"}
SCHEMA: Json = {"type": "object", "properties": {"order_id": {"type": "string"}}}
TOOL: Json = {"name": "get_order", "description": "", "parameters": SCHEMA}


def line_to_the_model() -> httpx2.AsyncClient:
    """A model of its own, which has kept nothing yet."""
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(create_app(SCRIPTS)), base_url="http://model")


def messages(line: httpx2.AsyncClient) -> AsyncAnthropic:
    return AsyncAnthropic(base_url="http://model", api_key="any", http_client=line)


def openai_at(line: httpx2.AsyncClient, key: str = "any") -> AsyncOpenAI:
    return AsyncOpenAI(base_url="http://model/v1", api_key=key, http_client=line)


def gemini(line: httpx2.AsyncClient, version: str | None = None) -> Any:
    options = types.HttpOptions(base_url="http://model", api_version=version, httpx_async_client=line)
    return genai.Client(api_key="any", http_options=options).aio
