"""The HTTP side: one route for each provider's API, all following the same scripts."""

import json
from collections.abc import Mapping
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from examples.scripted_model.conversation import Reply
from examples.scripted_model.front import Asked, Front, Request
from examples.scripted_model.fronts import fronts
from examples.scripted_model.refusal import Kind, Refused
from examples.scripted_model.script import Script, next_reply


class Endpoint:
    """One API in front of the scripts."""

    def __init__(self, front: Front, scripts: Mapping[str, Script]) -> None:
        self._front, self._scripts = front, scripts

    async def create(self, http: HttpRequest) -> Response:
        """The model's next response."""
        try:
            asked = self._front.asked(Request(http.headers, http.path_params, _parsed(await http.body())))
            reply = next_reply(self._script(asked.model), asked.conversation)
            _require_offered(reply, asked)
            answer = self._front.answer(asked, reply)
        except Refused as refused:
            status, body = self._front.refusal(refused)
            return JSONResponse(body, status)
        if asked.stream:
            return Response("".join(self._front.events(answer)), media_type="text/event-stream")
        return JSONResponse(answer)

    def _script(self, model: str) -> Script:
        if model not in self._scripts:
            raise Refused(f"model: {model}", Kind.UNKNOWN_MODEL)
        return self._scripts[model]


def create_app(scripts: Mapping[str, Script]) -> Starlette:
    """The server as an ASGI application."""
    return Starlette(
        routes=[
            Route(path, Endpoint(front, scripts).create, methods=["POST"]) for front in fronts() for path in front.paths
        ]
    )


def _parsed(body: bytes) -> Mapping[str, Any]:
    try:
        parsed = json.loads(body)
    except ValueError:
        parsed = None
    if not isinstance(parsed, dict):
        raise Refused("The request body is not valid JSON")
    return parsed


def _require_offered(reply: Reply, asked: Asked) -> None:
    """A model calls what it was offered."""
    for call in reply.calls:
        if call.tool not in asked.offered:
            raise Refused(f"tools: the script needs {call.tool}")
