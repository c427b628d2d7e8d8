"""The description of all routes, as `/openapi.json` serves it: whatever a route can answer stands in it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from adapters.http.identity import MEANINGS
from adapters.http.problems import CODES as HTTP_CODES
from adapters.http.problems import MEDIA_TYPE
from workflows.domain.errors import ERRORS, OWN_CODES, Kind, NextAction

Responses = dict[int | str, dict[str, Any]]

REF = "#/components/schemas/{model}"

ABOUT = (
    "Two doors: `agents` hand in what a model proposes; people of the `back office` list, show, decide and resolve. "
    "Each takes tokens of an audience of its own. Refusals are problem documents (RFC 9457) with stable codes."
)

CONFLICT = 409

ALWAYS = (401, 403, 422, 429, 500, 503)
"""Statuses of refusals that any route can answer."""

REFUSALS = {
    400: "The body is not strict JSON.",
    401: "No acceptable token.",
    403: "This caller may not.",
    404: "There is no such object for this caller.",
    409: "What is stored has moved on; the problem says where to.",
    413: "The body is too large.",
    422: "The request does not have the expected shape, or what it says cannot be taken.",
    429: "This caller comes too often; `Retry-After` says when the next request may come.",
    500: "A surprise.",
    503: "A service or the store that is needed does not answer; the same request may be sent again.",
}


CODES = sorted({*OWN_CODES, *MEANINGS, *HTTP_CODES})
"""Codes of problems."""


class Fault(BaseModel):
    """One place that is at fault and what was expected there, never what was received."""

    path: str = Field(description="JSON Pointer.")
    code: str
    expected: str


_EXAMPLE: dict[str, Any] = {
    "type": "urn:onceward:problem:not_found",
    "title": ERRORS["not_found"].meaning,
    "status": 404,
    "code": "not_found",
    "kind": "not_started",
    "next_action": "ask_user",
}


class ProblemDocument(BaseModel):
    """RFC 9457 problem details. `code` is stable; the words may change."""

    model_config = ConfigDict(extra="allow", json_schema_extra={"examples": [_EXAMPLE]})

    type: str = Field(pattern="^urn:onceward:problem:")
    title: str
    status: int
    code: str = Field(json_schema_extra={"enum": [*CODES]})
    detail: str | None = None
    kind: Kind | None = None
    next_action: NextAction | None = Field(None, description="What the caller may do next.")
    errors: list[Fault] | None = None


def documented(
    model: type[BaseModel] | None, *statuses: int, conflict: type[ProblemDocument] = ProblemDocument
) -> Responses:
    """The answers of a route: `model` when it succeeds, problem documents of these statuses and of those of all.

    `conflict` is what a 409 tells. The models must be among those that `describe` is given.
    """
    told: Responses = {status: _refusal(status, ProblemDocument) for status in sorted({*statuses, *ALWAYS})}
    if CONFLICT in told:
        told[CONFLICT] = _refusal(CONFLICT, conflict)
    if model is not None:
        told[200] = _answer("As asked.", "application/json", model)
    return told


def body_of(model: type[BaseModel]) -> dict[str, Any]:
    """What a route that reads its body itself, strictly, takes."""
    schema = {"$ref": REF.format(model=model.__name__)}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


def describe(app: FastAPI, models: Iterable[type[BaseModel]], words: Mapping[str, Sequence[str]]) -> None:
    """Have `app` describe itself.

    `models` are all bodies and answers of its routes. `words` are the values of fields and parameters
    that only this deployment knows, by their names.
    """
    named = _schemas(models)

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            made = get_openapi(title=app.title, version=app.version, description=ABOUT, routes=app.routes)
            made["components"]["schemas"] |= named
            _tell(made, words)
            app.openapi_schema = made
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]


def _schemas(models: Iterable[type[BaseModel]]) -> dict[str, Any]:
    every: list[type[BaseModel]] = [*models, ProblemDocument]
    wanted: list[tuple[type[BaseModel], JsonSchemaMode]] = [(each, "validation") for each in every]
    _, found = models_json_schema(wanted, ref_template=REF)
    return dict(found["$defs"])


def _tell(document: Any, words: Mapping[str, Sequence[str]]) -> None:
    """Write the words wherever a field or a parameter has their name."""
    parameters = [
        parameter
        for path in document["paths"].values()
        for operation in path.values()
        for parameter in operation.get("parameters", ())
    ]
    fields = [
        field for schema in document["components"]["schemas"].values() for field in schema.get("properties", {}).items()
    ]
    for name, field in [*((each["name"], each["schema"]) for each in parameters), *fields]:
        if name in words:
            field["enum"] = list(words[name])


def _refusal(status: int, model: type[ProblemDocument]) -> dict[str, Any]:
    return _answer(REFUSALS[status], MEDIA_TYPE, model)


def _answer(meaning: str, media_type: str, model: type[BaseModel]) -> dict[str, Any]:
    # Named, not given: the framework would leave every null out of the examples.
    schema = {"$ref": REF.format(model=model.__name__)}
    return {"description": meaning, "content": {media_type: {"schema": schema}}}
