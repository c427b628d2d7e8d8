"""The description of all routes, as `/openapi.json` serves it: whatever a route can answer stands in it."""

from collections.abc import Iterable, Mapping
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import models_json_schema

from adapters.http.problems import MEDIA_TYPE

Responses = dict[int | str, dict[str, Any]]

REF = "#/components/schemas/{model}"

ALWAYS = (401, 403, 422, 500, 503)
"""Statuses of refusals that any route can answer."""

REFUSALS = {
    400: "The body is not strict JSON.",
    401: "No acceptable token.",
    403: "This caller may not.",
    404: "There is no such object for this caller.",
    409: "What is stored has moved on; the problem says where to.",
    413: "The body is too large.",
    422: "The request does not have the expected shape, or what it says cannot be taken.",
    500: "A surprise.",
    503: "A service or the store that is needed does not answer; the same request may be sent again.",
}


class Fault(BaseModel):
    """One place in the request that is at fault, never what was received there."""

    path: str = Field(description="JSON Pointer.")
    code: str
    expected: str = ""


class ProblemDocument(BaseModel):
    """RFC 9457 problem details. `code` is stable; the words may change."""

    model_config = ConfigDict(extra="allow", title="Problem")

    type: str = Field(pattern="^urn:onceward:problem:")
    title: str
    status: int
    code: str
    detail: str | None = None
    kind: str | None = Field(None, description="not_started, unconfirmed or refused.")
    next_action: str | None = Field(None, description="What the caller may do next.")
    errors: list[Fault] | None = None


def documented(model: type[BaseModel] | None, *statuses: int) -> Responses:
    """The answers of a route: `model` when it succeeds, problem documents of these statuses and of those of all."""
    refusals: Responses = {status: _refusal(status) for status in sorted({*statuses, *ALWAYS})}
    return refusals if model is None else {200: {"model": model}, **refusals}


def body_of(model: type[BaseModel]) -> dict[str, Any]:
    """What a route that reads its body itself, strictly, takes."""
    schema = {"$ref": REF.format(model=model.__name__)}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


def describe(app: FastAPI, bodies: Iterable[type[BaseModel]]) -> None:
    """Have `app` describe itself, with these models as the bodies of its routes."""
    named = _schemas(bodies)

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            made = get_openapi(title=app.title, version=app.version, routes=app.routes)
            made["components"]["schemas"] |= named
            app.openapi_schema = made
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]


def _schemas(bodies: Iterable[type[BaseModel]]) -> Mapping[str, Any]:
    wanted = [(model, "validation") for model in (*bodies, ProblemDocument)]
    _, found = models_json_schema(wanted, ref_template=REF)  # type: ignore[arg-type]
    return dict(found["$defs"])


def _refusal(status: int) -> dict[str, Any]:
    schema = {"$ref": REF.format(model=ProblemDocument.__name__)}
    return {"description": REFUSALS[status], "content": {MEDIA_TYPE: {"schema": schema}}}
