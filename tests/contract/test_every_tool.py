"""What holds for every shipped tool, derived from its contract alone: a new tool is tested by being listed."""

import html
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from starlette.requests import Request

from adapters.envelopes import SURFACES
from adapters.envelopes.envelope import ToolDefinition
from adapters.http.back_office import changes, notices
from adapters.http.back_office.figures import amount
from adapters.http.back_office.languages import ENGLISH
from adapters.http.back_office.pages import Pages
from adapters.http.back_office.session import Session
from tests.support.contracts import CONTRACTS, FAMILIES, Json, Path, fields, good, impact, with_value, without
from tests.unit.back_office_sheets import REQUESTER, approval_sheet
from tests.unit.memory_back_office import NOON, StandingClock
from worker import tool_pages
from workflows.domain.arguments import validated
from workflows.domain.contract import Contract
from workflows.domain.errors import ERRORS, CallRefused, Detail, declare
from workflows.domain.impact import Impact
from workflows.domain.lint import found_in

SECRET = "hunter2-do-not-repeat"

WRONG: dict[str, tuple[Any, ...]] = {
    "string": (17, 1.5, True, None, [SECRET], {"x": SECRET}),
    "integer": (SECRET, "17", 1.5, True, None, [SECRET], {"x": SECRET}),
    "boolean": (SECRET, 0, 1, "true", None, [SECRET]),
    "object": (SECRET, 17, True, None, [SECRET]),
    "array": (SECRET, 17, True, None, {"x": SECRET}),
}
"""Values of other types than the schema's, by its type."""


def refusal_of(contract: Contract, arguments: Any) -> tuple[Detail, ...]:
    with pytest.raises(CallRefused) as refused:
        validated(contract, arguments)
    assert refused.value.code == "invalid_arguments"
    assert SECRET not in repr(refused.value.details)
    return refused.value.details


def offered(contract: Contract, surface: str) -> Json:
    """The schema inside the definition that a model of that surface is shown."""
    definition = SURFACES[surface].render(ToolDefinition(contract.name, contract.description, contract.schema))
    assert contract.description in json.dumps(definition, ensure_ascii=False)
    (schema,) = _schemas(definition)
    return schema


def _schemas(definition: Any) -> Iterator[Json]:
    """Wherever a surface keeps it: the outermost object that has properties."""
    if isinstance(definition, dict):
        if "properties" in definition:
            yield definition
        else:
            for value in definition.values():
                yield from _schemas(value)


FIELDS = [(name, path) for name, contract in CONTRACTS.items() for path in fields(contract)]
OBJECTS = [
    (name, path)
    for name, contract in CONTRACTS.items()
    for path, schema in [((), contract.schema), *fields(contract).items()]
    if "properties" in schema
]


def ids(value: Any) -> str | None:
    return "/".join(value) or "root" if isinstance(value, tuple) else None


every_tool = pytest.mark.parametrize("name", CONTRACTS)
every_field = pytest.mark.parametrize(("name", "path"), FIELDS, ids=ids)
every_object = pytest.mark.parametrize(("name", "path"), OBJECTS, ids=ids)
every_surface = pytest.mark.parametrize("surface", SURFACES)


# -- the declaration


@every_tool
def test_the_linter_finds_nothing(name: str) -> None:
    assert found_in(CONTRACTS[name]) == []


def test_the_families_are_found_and_none_twice() -> None:
    assert len(CONTRACTS) == sum(len(family.contracts) for family in FAMILIES) > 0
    assert len({family.name for family in FAMILIES}) == len(FAMILIES)


@every_tool
def test_its_rules_stand_in_the_catalogue_with_one_meaning(name: str) -> None:
    rules = CONTRACTS[name].rules
    declare(rules)
    assert {code: ERRORS[code] for code in rules} == dict(rules)


@every_tool
def test_the_page_of_documentation_tells_its_arguments_and_rules(name: str) -> None:
    contract = CONTRACTS[name]
    page = tool_pages.page([contract], lambda _: ["support"])
    told = [contract.description, *map(".".join, fields(contract)), *contract.rules, contract.idempotency.value]
    assert [words for words in told if words not in page] == []


# -- what a model may hand in


@every_tool
def test_its_examples_together_are_a_good_call(name: str) -> None:
    arguments = good(CONTRACTS[name])
    assert validated(CONTRACTS[name], arguments).model_dump() == arguments


@every_surface
@every_tool
def test_its_examples_fit_what_a_surface_shows(name: str, surface: str) -> None:
    Draft202012Validator(offered(CONTRACTS[name], surface)).validate(good(CONTRACTS[name]))


@every_surface
@every_tool
def test_a_surface_shows_nothing_that_the_model_refuses(name: str, surface: str) -> None:
    contract = CONTRACTS[name]
    schema, arguments = offered(contract, surface), good(contract)
    judge = Draft202012Validator(schema)
    Draft202012Validator.check_schema(schema)
    unfit = [
        *(with_value(arguments, (field,), value) for field in arguments for value in values_around(contract, field)),
        *(without(arguments, (field,)) for field in arguments),
        {**arguments, "unknown_field": 1},
    ]
    assert [given for given in unfit if judge.is_valid(given) and not is_taken(contract, given)] == []


@every_tool
def test_its_patterns_mean_the_same_in_every_language(name: str) -> None:
    """JSON Schema's patterns are ECMAScript's, which knows no anchors but these two."""
    patterns = [schema["pattern"] for schema in fields(CONTRACTS[name]).values() if "pattern" in schema]
    assert [pattern for pattern in patterns if not re.fullmatch(r"\^[^\n]*\$", pattern)] == []
    assert [pattern for pattern in patterns if re.search(r"\\[AzZGhRXpP]|\(\?", pattern)] == []


def values_around(contract: Contract, field: str) -> list[Any]:
    """Wrong types, and values on both sides of whatever limits there are."""
    schema = fields(contract)[(field,)]
    limits = [schema[key] for key in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum") if key in schema]
    near = [number + step for number in limits for step in (-1, 0, 1)]
    return [*WRONG[schema.get("type", "string")], *near, "", " ", "x" * 500, "../x", -1, 0, 10**30]


def is_taken(contract: Contract, arguments: Any) -> bool:
    try:
        validated(contract, arguments)
    except CallRefused:
        return False
    return True


@every_field
def test_a_wrong_type_is_named_by_its_place_and_never_repeated(name: str, path: Path) -> None:
    contract = CONTRACTS[name]
    for value in WRONG[fields(contract)[path].get("type", "string")]:
        details = refusal_of(contract, with_value(good(contract), path, value))
        assert {detail.path for detail in details} == {"/" + "/".join(path)}
        assert {detail.code for detail in details} <= {"invalid_type", "invalid_value"}


def takes_any_text(contract: Contract, path: Path) -> bool:
    """Whether a field holds words that nothing but their length limits."""
    schema = fields(contract)[path]
    return schema.get("type") == "string" and not {"pattern", "enum", "const", "format"} & schema.keys()


@every_field
def test_text_that_does_not_fit_is_never_repeated(name: str, path: Path) -> None:
    contract = CONTRACTS[name]
    if takes_any_text(contract, path):
        # Free text fits whatever it says; that it is longer than allowed is what can be wrong with it.
        details = refusal_of(contract, with_value(good(contract), path, SECRET * 10_000))
    else:
        details = refusal_of(contract, with_value(good(contract), path, f" {SECRET}\n"))
    assert {detail.path for detail in details} == {"/" + "/".join(path)}


@every_object
def test_an_unknown_field_is_refused_at_every_depth(name: str, path: Path) -> None:
    contract = CONTRACTS[name]
    (detail,) = refusal_of(contract, with_value(good(contract), (*path, "unknown_field"), SECRET))
    assert detail == Detail("/" + "/".join((*path, "unknown_field")), "unknown_field", "no such field")


@every_field
def test_left_out_and_null_are_two_things(name: str, path: Path) -> None:
    contract = CONTRACTS[name]
    arguments = good(contract)
    left_out, null = without(arguments, path), with_value(arguments, path, None)
    if is_taken(contract, left_out) and is_taken(contract, null):
        meant = [contract.meant(validated(contract, each)) for each in (left_out, null)]
        assert meant[0] != meant[1]
    else:
        assert told(contract, left_out) != told(contract, null)


def told(contract: Contract, arguments: Json) -> Any:
    return None if is_taken(contract, arguments) else refusal_of(contract, arguments)


@every_tool
@pytest.mark.parametrize("arguments", [None, [], SECRET, 17, True])
def test_what_is_no_object_is_refused(name: str, arguments: Any) -> None:
    assert [detail.expected for detail in refusal_of(CONTRACTS[name], arguments)] == ["an object"]


# -- what it means


@every_tool
def test_its_resource_is_named_by_its_arguments(name: str) -> None:
    contract = CONTRACTS[name]
    kind, field = contract.resource
    named = contract.resource_of(validated(contract, good(contract)))
    if contract.batch is None:
        assert named == f"{kind}:{good(contract)[field]}"
    else:
        assert re.fullmatch(rf"{kind}:[0-9a-f]{{16}}", named)


@every_field
def test_every_argument_that_is_no_presentation_is_part_of_what_is_meant(name: str, path: Path) -> None:
    contract = CONTRACTS[name]
    meant = contract.meant(validated(contract, good(contract)))
    assert (path[0] in meant) == (path[0] not in contract.presentation)


@every_tool
def test_a_result_lets_out_its_own_fields_alone(name: str) -> None:
    model = CONTRACTS[name].result
    made = model.model_construct(None, **{SECRET: SECRET})
    assert SECRET not in repr(made.model_dump())
    assert model.model_config["extra"] == "ignore"


@pytest.mark.parametrize("name", [name for name, contract in CONTRACTS.items() if contract.approval])
def test_the_approval_page_shows_its_impact(name: str) -> None:
    contract = CONTRACTS[name]
    asked = impact(contract)
    page = html.unescape(approval_page(asked))
    assert asked.money is not None
    told = [
        contract.title,
        asked.resource.id,
        amount(asked.money, ENGLISH).figure,
        *(fact.value for fact in asked.facts),
    ]
    assert [words for words in told if words not in page] == []


def approval_page(asked: Impact) -> str:
    clock = StandingClock()
    sheet = approval_sheet(impact=asked)
    shown: Json = {
        "arguments": changes.of_arguments(sheet),
        "changed": (),
        "notice": None,
        "typed": "",
        "open": True,
        "own_vote": None,
        "bar": "",
        "longest_reason": 2000,
    }
    session = Session(REQUESTER, "csrf", NOON)
    request = Request({"type": "http", "method": "GET", "path": "/back-office/approvals/approval-1", "headers": []})
    answer = Pages(clock).answer(request, "approval.html", session, sheet=sheet, notices=notices, **shown)
    return bytes(answer.body).decode()
