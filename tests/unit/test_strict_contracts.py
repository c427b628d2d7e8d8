"""What becomes of the tools that are shipped, and what the providers' own packages say of strict schemas."""

import copy
import json
from decimal import Decimal
from typing import Any

import pytest
from anthropic.lib._parse._transform import transform_schema
from openai.lib._pydantic import _ensure_strict_json_schema
from pydantic import BaseModel, ConfigDict, Field

from adapters.envelopes.envelope import ToolDefinition
from adapters.envelopes.strict import StrictForm, anthropic, openai
from adapters.tools import ledger, payments
from tests.unit.strict_subsets import anthropic_faults, openai_faults
from workflows.domain.contract import Contract

Json = dict[str, Any]

SHIPPED = [*payments.FAMILY.contracts, *ledger.FAMILY.contracts]

SAID_TO_ANTHROPIC = {
    "get_order": {"order_id: text that matches ^[A-Za-z0-9-]{1,40}$"},
    "prepare_refund": {"order_id: text that matches", "amount: more than 0; at most 1000000000000"},
    "refund_payment": {
        "order_id: text that matches",
        "quote_id: text that matches ^[A-Za-z0-9-]{1,60}$",
        "quote_version: at least 1; at most 1000000",
        "amount: more than 0; at most 1000000000000",
    },
    "get_credit_balance": {"account_id: text that matches ^[A-Za-z0-9-]{1,40}$"},
    "credit_account": {
        "account_id: text that matches",
        "AmountGiven.value: text that",
        "AmountGiven.currency: text that",
    },
    "credit_accounts": {
        "credits: at most 10000 items",
        "CreditGiven.account_id: text that matches",
        "AmountGiven.value: text that",
        "AmountGiven.currency: text that",
    },
}


def formed(schema: Json, provider: Any) -> StrictForm:
    form = provider.form(schema)
    assert isinstance(form, StrictForm), form
    return form


def without(schema: Any, *keywords: str) -> Any:
    if isinstance(schema, dict):
        return {name: without(each, *keywords) for name, each in schema.items() if name not in keywords}
    return [without(each, *keywords) for each in schema] if isinstance(schema, list) else schema


@pytest.mark.parametrize("contract", SHIPPED, ids=lambda contract: contract.name)
def test_every_shipped_tool_is_strict_at_openai_with_all_of_its_bounds(contract: Contract) -> None:
    form = formed(contract.schema, openai)
    assert form.schema == without(contract.schema, "examples")
    assert all(": for example " in sentence for sentence in form.said)
    assert openai_faults(form.schema) == []


@pytest.mark.parametrize("contract", SHIPPED, ids=lambda contract: contract.name)
def test_every_shipped_tool_is_strict_at_anthropic_with_its_bounds_said(contract: Contract) -> None:
    form = formed(contract.schema, anthropic)
    assert form.schema == plain(contract.schema)
    expected = SAID_TO_ANTHROPIC[contract.name]
    bounding = [
        sentence
        for sentence in form.said
        if not sentence.partition(": ")[2].startswith("for example") or ";" in sentence
    ]
    assert len(bounding) == len(expected)
    for each in expected:
        place, _, words = each.partition(": ")
        assert any(sentence.startswith(f"{place}: ") and words in sentence for sentence in bounding), each
    assert anthropic_faults(form.schema) == []


def plain(schema: Json) -> Json:
    bounds = ("pattern", "minimum", "maximum", "exclusiveMinimum", "maxItems", "examples")
    found: Json = json.loads(json.dumps(without(schema, *bounds)), object_hook=_without_type_of_values)
    return found


def _without_type_of_values(schema: Json) -> Json:
    return {name: each for name, each in schema.items() if name != "type" or "enum" not in schema}


def test_the_shipped_tools_may_all_be_strict_together() -> None:
    forms = [anthropic.form(contract.schema) for contract in SHIPPED]
    assert anthropic.within_limits(forms) == [True] * len(SHIPPED)


@pytest.mark.parametrize("provider", [openai, anthropic], ids=["openai", "anthropic"])
def test_a_strict_form_fits_a_definition(provider: Any) -> None:
    for contract in SHIPPED:
        form = formed(contract.schema, provider)
        ToolDefinition(contract.name, form.described(contract.description), form.schema, strict=True)


# -- as pydantic writes schemas


class Point(BaseModel):
    model_config = ConfigDict(extra="forbid")

    x: int = Field(ge=0)
    y: int = 0


class Circle(Point):
    kind: str = Field(pattern="^circle$")
    center: Point | None = Field(description="Null where it is the origin.")


class Drawing(BaseModel):
    model_config = ConfigDict(extra="forbid")

    shapes: list[Circle | Point] = Field(min_length=1, max_length=5)
    main: Point = Field(description="The one that is seen first.")
    scale: Decimal | None = None
    name: str = "untitled"


def test_a_model_is_read_as_pydantic_writes_it() -> None:
    schema = Drawing.model_json_schema()
    assert not isinstance(openai.form(schema), StrictForm)  # its default of null says too little, its pattern too much
    del schema["properties"]["scale"]
    form = formed(schema, openai)
    given = {
        "shapes": [{"x": 1, "y": None, "kind": "circle", "center": None}, {"x": 2, "y": None}],
        "main": {"x": 0, "y": 5},
        "name": None,
    }
    meant = {"shapes": [{"x": 1, "kind": "circle", "center": None}, {"x": 2}], "main": {"x": 0, "y": 5}}
    assert form.undo(given) == meant
    Drawing.model_validate(meant)
    assert form.said == (
        "Give null to leave out: Circle.y, Point.y, main.y, name.",
        "Circle.y: 0 when left out.",
        "Point.y: 0 when left out.",
        "main.y: 0 when left out.",
        'name: "untitled" when left out.',
    )


# -- the providers' own rewriters have nothing left to do

OUTSIDE: list[Json] = [
    {
        "type": "object",
        "properties": {
            "amount": {"$ref": "#/$defs/Amount", "description": "How much."},
            "other": {"$ref": "#/$defs/Amount"},
            "note": {"type": "string", "minLength": 1, "format": "uri", "default": "x"},
            "tags": {"type": "array", "items": {"enum": ["a", 1, None]}, "minItems": 1, "uniqueItems": True},
            "mode": {
                "oneOf": [
                    {
                        "type": "object",
                        "properties": {"kind": {"const": "a"}, "n": {"type": "integer"}},
                        "required": ["kind"],
                    },
                    {"type": "object", "properties": {"kind": {"const": "b"}}, "required": ["kind"]},
                    {"type": ["string", "boolean", "null"], "maxLength": 3},
                ]
            },
            "merged": {"allOf": [{"$ref": "#/$defs/Amount"}, {"properties": {"value": {"maximum": 9}}}]},
            "many": {"type": "array", "items": {"type": "array", "items": {"$ref": "#/$defs/Amount"}}, "minItems": 2},
        },
        "required": ["amount", "mode"],
        "$defs": {
            "Amount": {
                "type": "object",
                "properties": {"value": {"type": "number", "multipleOf": 0.5}, "unit": {"type": "string"}},
                "required": ["value"],
            }
        },
    },
    {"type": "object", "properties": {}},
    without(Drawing.model_json_schema(), "scale"),
]
EVERY = [*OUTSIDE, *(contract.schema for contract in SHIPPED)]


def as_sent(form: StrictForm) -> Json:
    """As a client reads it from the wire: with floats."""
    sent: Json = json.loads(json.dumps(form.schema, default=float))
    return sent


@pytest.mark.parametrize("schema", EVERY, ids=lambda schema: schema.get("title", "outside"))
def test_openais_own_package_leaves_a_strict_form_as_it_is(schema: Json) -> None:
    schema = json.loads(json.dumps(schema).replace('["string", "boolean", "null"]', '["string", "boolean"]'))
    sent = as_sent(formed(schema, openai))
    mine = copy.deepcopy(sent)
    assert _ensure_strict_json_schema(mine, path=(), root=mine) == sent


@pytest.mark.parametrize("schema", EVERY, ids=lambda schema: schema.get("title", "outside"))
def test_anthropics_own_package_leaves_a_strict_form_as_it_is(schema: Json) -> None:
    sent = as_sent(formed(schema, anthropic))
    assert transform_schema(copy.deepcopy(sent)) == sent
