"""RFC 9457 problem details: the one shape in which the HTTP doors say no.

    {"type": "urn:onceward:problem:not_found", "title": "…", "status": 404, "code": "not_found", "detail": "…"}

`code` is stable; `title` and `detail` are words of ours. Nothing that was received and nothing internal is repeated.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from workflows.domain.arguments import detail_of
from workflows.domain.errors import StoreUnavailable

MEDIA_TYPE = "application/problem+json"

Handler = Callable[[Request, Any], Awaitable[Response]]

ROUTING = {
    404: ("unknown_route", "There is nothing at this address."),
    405: ("method_not_allowed", "This address does not take that method."),
}
"""What the framework's own refusals are called here, by status."""

CODES = (
    "invalid_json",
    "invalid_request",
    "body_too_large",
    "too_many_requests",
    "http_error",
    *(code for code, _ in ROUTING.values()),
)
"""What is said of requests as such; all other codes of problems are the catalogue's or those of identities."""


class Problem(Exception):
    """An answer that is a refusal. `extra` members stand beside the standard ones."""

    def __init__(
        self,
        status: int,
        code: str,
        title: str,
        detail: str = "",
        *,
        headers: Mapping[str, str] | None = None,
        **extra: Any,
    ) -> None:
        super().__init__(code)
        self.status, self.code, self.title, self.detail = status, code, title, detail
        self.headers = dict(headers or {})
        self.extra = extra

    def body(self) -> dict[str, Any]:
        """The problem document."""
        document: dict[str, Any] = {
            "type": f"urn:onceward:problem:{self.code}",
            "title": self.title,
            "status": self.status,
            "code": self.code,
        }
        if self.detail:
            document["detail"] = self.detail
        return document | self.extra

    def response(self) -> Response:
        """The problem document as an HTTP answer."""
        return JSONResponse(self.body(), self.status, headers=self.headers, media_type=MEDIA_TYPE)


def answer_with_problems(app: FastAPI) -> None:
    """Make every refusal and every surprise of `app` a problem document."""
    handlers: dict[type[Exception], Handler] = {
        Problem: _on_problem,
        RequestValidationError: _on_invalid_request,
        HTTPException: _on_http_exception,
        StoreUnavailable: _on_outage,
        Exception: _on_surprise,
    }
    for error, handler in handlers.items():
        app.add_exception_handler(error, handler)


async def _on_problem(_: Request, error: Problem) -> Response:
    return error.response()


async def _on_invalid_request(_: Request, error: RequestValidationError) -> Response:
    faults = error.errors()
    if any(fault["type"] == "json_invalid" for fault in faults):
        return Problem(400, "invalid_json", "The body is not JSON.").response()
    return Problem(
        422,
        "invalid_request",
        "The request does not have the expected shape.",
        "Each entry of `errors` names a place and what is wrong there.",
        errors=[asdict(detail_of(fault)) for fault in faults],
    ).response()


async def _on_http_exception(_: Request, error: HTTPException) -> Response:
    code, title = ROUTING.get(error.status_code, ("http_error", HTTPStatus(error.status_code).phrase))
    return Problem(error.status_code, code, title, headers=error.headers).response()


async def _on_outage(_: Request, __: StoreUnavailable) -> Response:
    return Problem(
        503,
        "upstream_unavailable",
        "The store does not answer now.",
        "The same request may be sent again later; it finds what it has begun.",
        headers={"Retry-After": "5"},
    ).response()


async def _on_surprise(_: Request, __: Exception) -> Response:
    # The server's own log has the traceback: the framework raises the error again after this answer.
    return Problem(500, "internal_error", "Something unexpected happened here.").response()
