"""The HTTP side: `POST /v1/messages` in the format of the Anthropic Messages API, its errors included."""

import json
import secrets
from collections.abc import Mapping
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from examples.scripted_model.script import Content, Script, next_content
from examples.scripted_model.transcript import Transcript, TranscriptRefused

STATUSES: Mapping[str, int] = {"invalid_request_error": 400, "authentication_error": 401, "not_found_error": 404}


class Refused(Exception):
    """An answer in the API's error shape; `kind` is one of `STATUSES`."""

    def __init__(self, kind: str, message: str) -> None:
        self.kind, self.message = kind, message

    def response(self) -> Response:
        """As the API sends it."""
        error = {"type": self.kind, "message": self.message}
        body = {"type": "error", "error": error, "request_id": f"req_{secrets.token_hex(12)}"}
        return JSONResponse(body, STATUSES[self.kind])


class Messages:
    """The one endpoint."""

    def __init__(self, scripts: Mapping[str, Script]) -> None:
        self._scripts = scripts

    async def create(self, request: Request) -> Response:
        """The model's next message."""
        try:
            _check_headers(request.headers)
            asked = _asked(await request.body())
            content = next_content(self._script(asked["model"]), Transcript(asked["messages"]))
            _check_offer(content, asked)
        except Refused as refused:
            return refused.response()
        except TranscriptRefused as refused:
            return Refused("invalid_request_error", str(refused)).response()
        return JSONResponse(_message(asked["model"], content))

    def _script(self, model: str) -> Script:
        if model not in self._scripts:
            raise Refused("not_found_error", f"model: {model}")
        return self._scripts[model]


def create_app(scripts: Mapping[str, Script]) -> Starlette:
    """The server as an ASGI application."""
    return Starlette(routes=[Route("/v1/messages", Messages(scripts).create, methods=["POST"])])


def _check_headers(headers: Mapping[str, str]) -> None:
    # Any credential will do, in either of the two ways in which the API takes one.
    if not headers.get("authorization") and not headers.get("x-api-key"):
        raise Refused("authentication_error", "Authorization or x-api-key header is required")
    if not headers.get("anthropic-version"):
        raise Refused("invalid_request_error", "anthropic-version: header is required")


def _asked(body: bytes) -> Mapping[str, Any]:
    try:
        asked = json.loads(body)
    except ValueError:
        asked = None
    if not isinstance(asked, dict):
        raise Refused("invalid_request_error", "The request body is not valid JSON")
    for name, kind in (("model", str), ("max_tokens", int), ("messages", list)):
        if not isinstance(asked.get(name), kind):
            raise Refused("invalid_request_error", f"{name}: Field required")
    if asked.get("stream"):
        raise Refused("invalid_request_error", "stream: this model answers in one piece")
    return asked


def _check_offer(content: Content, asked: Mapping[str, Any]) -> None:
    """A model calls what it was offered."""
    offered = {tool["name"] for tool in asked.get("tools", ())}
    for block in content:
        if block["type"] == "tool_use" and block["name"] not in offered:
            raise Refused("invalid_request_error", f"tools: the script needs {block['name']}")


def _message(model: str, content: Content) -> Mapping[str, Any]:
    calls = any(block["type"] == "tool_use" for block in content)
    return {
        "id": f"msg_{secrets.token_hex(12)}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": "tool_use" if calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
