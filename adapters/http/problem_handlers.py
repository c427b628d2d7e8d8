"""Every refusal and every surprise of a door as a problem document (`adapters.http.problems`)."""

from collections.abc import Awaitable, Callable
from dataclasses import asdict
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from adapters.http.problems import ROUTING, Problem
from workflows.domain.arguments import detail_of
from workflows.domain.errors import ERRORS, Overloaded, StoreUnavailable

Handler = Callable[[Request, Any], Awaitable[Response]]


def answer_with_problems(app: FastAPI) -> None:
    """Make every refusal and every surprise of `app` a problem document."""
    handlers: dict[type[Exception], Handler] = {
        Problem: _on_problem,
        RequestValidationError: _on_invalid_request,
        HTTPException: _on_http_exception,
        StoreUnavailable: _on_outage,
        Overloaded: _on_overload,
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


async def _on_overload(_: Request, error: Overloaded) -> Response:
    entry = ERRORS[error.code]
    return Problem(
        503,
        error.code,
        entry.meaning,
        headers={"Retry-After": str(error.retry_after)},
        kind=entry.kind.value,
        next_action=entry.next_action.value,
    ).response()


async def _on_surprise(_: Request, __: Exception) -> Response:
    # The server's own log has the traceback: the framework raises the error again after this answer.
    return Problem(500, "internal_error", "Something unexpected happened here.").response()
