"""`/openapi.json` says what the routes do: all of them, who may, what they take and whatever they can answer."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import httpx2
import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute
from jsonschema import Draft202012Validator
from temporalio.client import Client

from adapters.envelopes import SURFACES
from adapters.envelopes.envelope import Search
from adapters.http.openapi import CODES
from adapters.postgres.engine import Database
from worker.api import Closing, application
from worker.settings import ApiSettings
from workflows.domain.approval import ApprovalState
from workflows.domain.errors import ERRORS
from workflows.domain.lifecycle import State

Json = dict[str, Any]

SETTINGS = {
    "postgres_dsn": "postgresql://nobody@127.0.0.1:1/onceward",
    "temporal_address": "127.0.0.1:1",
    "public_url": "http://127.0.0.1:8080",
    "issuer": "http://127.0.0.1:8400",
    "development": True,
    "session_secret": "a-secret-for-tests-of-forty-characters--",
}

HTTP = Path(__file__).parents[2] / "adapters" / "http"


class Nobody:
    """A Temporal that is never asked."""


def built() -> FastAPI:
    settings = ApiSettings.model_validate(SETTINGS)
    database = Database(settings.postgres_dsn.get_secret_value(), application_name="tests")
    return application(settings, database, cast(Client, Nobody()), httpx2.AsyncClient(), Closing())


APP = built()
DOCUMENT: Json = APP.openapi()
SCHEMAS: Json = DOCUMENT["components"]["schemas"]


def operations() -> Iterator[tuple[str, str, Json]]:
    for path, methods in DOCUMENT["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation


OPERATIONS = list(operations())
each_operation = pytest.mark.parametrize(
    "operation", [each[2] for each in OPERATIONS], ids=[f"{method} {path}" for method, path, _ in OPERATIONS]
)

DOORS = {
    ("POST", "/v1/turns"): "caller",
    ("GET", "/v1/operations/{operation_id}"): "caller",
    ("POST", "/v1/operations/{operation_id}/cancel"): "caller",
    ("GET", "/v1/tools"): "caller",
    ("GET", "/v1/approvals"): "person",
    ("GET", "/v1/approvals/{approval_id}"): "person",
    ("POST", "/v1/approvals/{approval_id}/decision"): "person",
    ("GET", "/v1/operations"): "person",
    ("GET", "/v1/operations/{operation_id}/sheet"): "person",
    ("POST", "/v1/operations/{operation_id}/resolution"): "person",
    ("GET", "/v1/stuck"): "person",
}


def test_every_route_is_described_and_says_whose_token_it_takes() -> None:
    described = {(method, path): operation["security"] for method, path, operation in OPERATIONS}
    assert described == {route: [{whose: []}] for route, whose in DOORS.items()}
    for scheme in DOCUMENT["components"]["securitySchemes"].values():
        assert (scheme["type"], scheme["scheme"], scheme["bearerFormat"]) == ("http", "bearer", "JWT")


def test_what_is_served_under_v1_is_what_is_described() -> None:
    served = {(method, route.path) for route in api_routes(APP.routes) for method in route.methods or ()}
    assert served == DOORS.keys()


def api_routes(routes: Any) -> Iterator[APIRoute]:
    for route in routes:
        if isinstance(route, APIRoute):
            yield route
        else:
            yield from api_routes(getattr(getattr(route, "original_router", None), "routes", ()))


@each_operation
def test_a_route_says_in_words_what_it_does(operation: Json) -> None:
    assert operation["description"].strip()
    assert operation["tags"] in (["agents"], ["back office"])


@each_operation
def test_a_route_describes_its_success_and_every_refusal(operation: Json) -> None:
    answers = operation["responses"]
    assert {"401", "403", "422", "500", "503"} <= answers.keys()
    assert ("requestBody" in operation) == ({"400", "413"} <= answers.keys())
    for status, answer in answers.items():
        if status == "204":
            assert "content" not in answer
        elif status == "200":
            assert set(answer["content"]) == {"application/json"}
            assert answer["content"]["application/json"]["schema"]["$ref"]
        else:
            assert set(answer["content"]) == {"application/problem+json"}


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from ([value["$ref"]] if isinstance(value.get("$ref"), str) else [])
        for each in value.values():
            yield from references(each)
    elif isinstance(value, list):
        for each in value:
            yield from references(each)


def test_every_schema_is_named_by_something_and_every_name_leads_to_a_schema() -> None:
    named = {reference.removeprefix("#/components/schemas/") for reference in references(DOCUMENT)}
    assert named == SCHEMAS.keys()


def whole(name: str) -> Json:
    """A schema that can be validated against alone."""
    return {"$ref": f"#/components/schemas/{name}", "components": DOCUMENT["components"]}


SHOWN = [
    (name, example)
    for name, schema in SCHEMAS.items()
    if "properties" in schema
    for example in schema.get("examples", ())
]


@pytest.mark.parametrize(("name", "example"), SHOWN, ids=[name for name, _ in SHOWN])
def test_an_example_is_what_its_schema_says(name: str, example: Json) -> None:
    Draft202012Validator(whole(name), format_checker=Draft202012Validator.FORMAT_CHECKER).validate(example)
    assert example.keys() <= SCHEMAS[name]["properties"].keys()


def content_of(operation: Json) -> Iterator[Json]:
    bodies = [operation["requestBody"]] if "requestBody" in operation else []
    for each in (*bodies, *operation["responses"].values()):
        yield from each.get("content", {}).values()


@each_operation
def test_every_body_and_every_answer_has_an_example(operation: Json) -> None:
    with_examples = {name for name, _ in SHOWN}
    assert [
        each for each in content_of(operation) if each["schema"]["$ref"].rpartition("/")[2] not in with_examples
    ] == []


def parameter(path: str, name: str) -> Json:
    (found,) = [each for each in DOCUMENT["paths"][path]["get"]["parameters"] if each["name"] == name]
    return dict(found["schema"])


def test_closed_sets_of_words_are_written_out() -> None:
    assert SCHEMAS["TurnBody"]["properties"]["surface"]["enum"] == sorted(SURFACES)
    assert parameter("/v1/tools", "surface")["enum"] == sorted(SURFACES)
    assert parameter("/v1/tools", "search")["enum"] == sorted(Search)
    assert SCHEMAS["State"]["enum"] == list(State)
    assert SCHEMAS["ApprovalState"]["enum"] == list(ApprovalState)
    assert SCHEMAS["ProblemDocument"]["properties"]["code"]["enum"] == CODES
    assert SCHEMAS["ErrorAnswer"]["properties"]["code"]["anyOf"][0]["enum"] == sorted(ERRORS)


def codes_in(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            position = {"Problem": 1, "refused": 0, "Unauthenticated": 0}.get(node.func.id)
            given = [] if position is None else node.args[position : position + 1]
            yield from (each.value for each in given if isinstance(each, ast.Constant) and isinstance(each.value, str))


def test_every_code_that_a_door_can_answer_is_described() -> None:
    given = {code for path in HTTP.rglob("*.py") for code in codes_in(path)}
    assert {"not_found", "invalid_token", "body_too_large", "upstream_unavailable"} <= given
    assert given <= set(CODES)


@pytest.mark.parametrize("route", [each for each in OPERATIONS if each[2]["security"] == [{"person": []}]], ids=str)
def test_the_client_for_agents_knows_no_route_of_the_back_office(route: tuple[str, str, Json]) -> None:
    client = HTTP.parent / "client"
    spoken = "".join(path.read_text() for path in client.glob("*.py"))
    assert not any(word in spoken for word in ("/approvals", "/decision", "/resolution", "/stuck", "/sheet"))
