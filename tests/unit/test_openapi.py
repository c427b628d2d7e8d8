"""`/openapi.json` says what the routes do: all of them, who may, what they take and whatever they can answer."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi.routing import APIRoute
from jsonschema import Draft202012Validator

from adapters.envelopes import SURFACES
from adapters.envelopes.envelope import Search
from adapters.http.openapi import CODES
from tests.support.described import APP, DOCUMENT, OPERATIONS
from workflows.domain.approval import ApprovalState
from workflows.domain.errors import ERRORS
from workflows.domain.lifecycle import State

Json = dict[str, Any]

HTTP = Path(__file__).parents[2] / "adapters" / "http"


SCHEMAS: Json = DOCUMENT["components"]["schemas"]


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
    assert {"401", "403", "422", "429", "500", "503"} <= answers.keys()
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


def name_of(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def codes_in(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            # `__init__`: of a kind of problem, told by its base what it is.
            position = {"Problem": 1, "__init__": 1, "refused": 0, "Unauthenticated": 0}.get(name_of(node.func))
            given = [] if position is None else node.args[position : position + 1]
            yield from (each.value for each in given if isinstance(each, ast.Constant) and isinstance(each.value, str))


def test_every_code_that_a_door_can_answer_is_described() -> None:
    given = {code for path in HTTP.rglob("*.py") for code in codes_in(path)}
    assert {"not_found", "invalid_token", "body_too_large", "too_many_requests"} <= given
    assert given <= set(CODES)


def test_the_client_for_agents_knows_no_route_of_the_back_office() -> None:
    spoken = "".join(path.read_text() for path in (HTTP.parent / "client").glob("*.py"))
    assert "/v1/turns" in spoken
    assert [word for word in ("approval", "decision", "resolution", "stuck", "sheet") if f"/{word}" in spoken] == []


@pytest.mark.parametrize("path", ["/v1/approvals/", "/v1/turns/", "/openapi.json/", "/v2/turns"])
async def test_an_address_that_is_none_leads_nowhere(path: str) -> None:
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(APP), base_url="http://elsewhere.example") as anybody:
        answer = await anybody.get(path)
    assert (answer.status_code, answer.json()["code"]) == (404, "unknown_route")


@pytest.mark.parametrize("path", ["/", "/back-office"])
async def test_the_short_addresses_lead_to_the_pages(path: str) -> None:
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(APP), base_url="http://elsewhere.example") as anybody:
        answer = await anybody.get(path)
    assert (answer.status_code, answer.headers["location"]) == (307, "/back-office/")
