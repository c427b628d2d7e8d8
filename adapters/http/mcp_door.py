"""The agents' door for MCP hosts: who calls, from where and with what, before anybody of the protocol looks.

The same tokens, bodies and limits as `/v1/turns`. A host finds out where tokens come from by RFC 9728: each 401 names
the address of that page.
"""

from typing import Any, Final

from fastapi import FastAPI, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from adapters import strict_json
from adapters.addresses import origin_of
from adapters.http.bodies import whole_body
from adapters.http.doors import LONGEST_BODY
from adapters.http.identity import BearerIdentity, Unauthenticated, caller_of, require_current
from adapters.http.problems import Problem
from adapters.intake.arrival import ARRIVAL, Arrival

PATH: Final = "/mcp"
METADATA: Final = "/.well-known/oauth-protected-resource"

PARSE_ERROR, INVALID_REQUEST = -32700, -32600
"""JSON-RPC's own numbers."""


class McpDoor:
    """Stands before `protocol`, the ASGI application that speaks MCP. `public_url` is how this door is reached."""

    def __init__(self, protocol: ASGIApp, caller: BearerIdentity, *, public_url: str, issuer: str) -> None:
        self._protocol, self._caller = protocol, caller
        self._public_url, self._issuer = public_url.rstrip("/"), issuer
        self._origin = origin_of(public_url)

    def add_to(self, app: FastAPI) -> None:
        """Serve it, and the page that says whose tokens it takes."""
        app.router.routes.append(Route(PATH, self, include_in_schema=False))
        for path in (METADATA, f"{METADATA}{PATH}"):
            app.router.add_route(path, self.metadata, methods=["GET"], include_in_schema=False)

    async def metadata(self, _: Request) -> Response:
        """OAuth 2.0 Protected Resource Metadata (RFC 9728)."""
        return JSONResponse(
            {
                "resource": f"{self._public_url}{PATH}",
                "authorization_servers": [self._issuer],
                "bearer_methods_supported": ["header"],
                "resource_name": "Onceward",
            }
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a message through, with its `Arrival`.

        Raises:
            Problem: it came from a page of somebody else's, without a good token, or is too large.
        """
        request = Request(scope, receive)
        self._require_no_other_page(request)
        await self._identify(request)
        if request.method != "POST":
            # There is nothing to listen to, and no session to end.
            raise Problem(405, "method_not_allowed", "This address takes POST.", headers={"Allow": "POST"})
        raw = await whole_body(request, LONGEST_BODY)
        require_current(request)
        try:
            message = strict_json.parse(raw, limit=LONGEST_BODY)
        except strict_json.StrictJsonError as error:
            await _unread(PARSE_ERROR, "The body is not strict JSON.", error.code)(scope, receive, send)
            return
        if not _is_request(message):
            await _unread(INVALID_REQUEST, "The body must be one request or notification.")(scope, receive, send)
            return
        scope[ARRIVAL] = Arrival(caller_of(request), message)
        await self._protocol(scope, _again(raw, receive), send)

    def _require_no_other_page(self, request: Request) -> None:
        # A browser says whose page makes it send something, under whichever name of this machine that page is shown.
        for origin in request.headers.getlist("origin"):
            if origin != self._origin:
                raise Problem(403, "permission_denied", "Pages of other addresses may not call this one.")

    async def _identify(self, request: Request) -> None:
        try:
            await self._caller(request)
        except Unauthenticated as refused:
            where = f'resource_metadata="{self._public_url}{METADATA}{PATH}"'
            refused.headers["WWW-Authenticate"] += f", {where}"
            raise


def _is_request(message: Any) -> bool:
    """Whether it is a request or a notification in form; we ask hosts nothing, so none of them answers us."""
    return (
        isinstance(message, dict)
        and message.get("jsonrpc") == "2.0"
        and isinstance(message.get("method"), str)
        and isinstance(message.get("id", 0), str | int)
        and not isinstance(message.get("id"), bool)
        and isinstance(message.get("params", {}), dict)
    )


def _unread(number: int, message: str, code: str = "") -> Response:
    error: dict[str, Any] = {"code": number, "message": message} | ({"data": {"code": code}} if code else {})
    return JSONResponse({"jsonrpc": "2.0", "id": None, "error": error}, 400)


def _again(raw: bytes, receive: Receive) -> Receive:
    """The body once more, for whoever reads it next, and then whatever comes."""
    told = False

    async def once_more() -> Message:
        nonlocal told
        if told:
            return await receive()
        told = True
        return {"type": "http.request", "body": raw, "more_body": False}

    return once_more
