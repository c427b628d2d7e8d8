"""Of schemas at random, most of which no provider could hold: where there is a strict form, nothing is lost in it."""

from collections.abc import Iterator
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from adapters.envelopes.strict import StrictForm, anthropic, openai
from adapters.outside_schema import OutsideSchema
from tests.unit.strict_subsets import anthropic_faults, openai_faults
from workflows.domain.errors import CallRefused, InvalidConfiguration

Json = dict[str, Any]

EXAMPLES = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
ABSENT = object()
NAMES = st.sampled_from(["a", "b", "k"])

LEAVES = st.sampled_from(
    [
        {"type": "string"},
        {"type": "string", "minLength": 1},
        {"type": "null"},
        {"type": ["string", "null"]},
        {"type": ["integer", "null"], "minimum": 1},
        {"enum": ["x", None]},
        {"const": "x"},
        {"const": "y"},
        {"type": "string", "enum": ["x", "y"]},
        {"type": "integer"},
        {"type": "number", "maximum": 1},
        {"$ref": "#/$defs/one"},
        {"$ref": "#/$defs/two", "description": "words"},
        {"type": "object", "properties": {"a": {"type": "string"}}},
        {"type": "object", "properties": {}, "additionalProperties": False},
        True,
    ]
)
CONDITIONS: st.SearchStrategy[Json] = st.sampled_from(
    [
        {"minProperties": 1},
        {"not": {"required": ["a", "b"]}},
        {"dependentRequired": {"a": ["b"]}},
        {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
        {"oneOf": [{"required": ["a"]}, {"properties": {"b": {"type": "string"}}, "required": ["b"]}]},
        {"if": {"properties": {"k": {"const": "x"}}}, "then": {"required": ["a"]}},
        {"if": {"required": ["a"]}, "then": {"properties": {"b": {"type": "string"}}}},
        {"dependentSchemas": {"a": {"properties": {"b": {"type": "integer"}}}}},
        {"unevaluatedProperties": False},
    ]
)
CLOSED = {"additionalProperties": False}
TOGETHER = st.sampled_from(["anyOf", "anyOf", "oneOf", "allOf"])
REFERENCES = st.sampled_from([{"$ref": "#/$defs/one"}, {"$ref": "#/$defs/two"}])


@st.composite
def objects(draw: st.DrawFn, inner: st.SearchStrategy[Any]) -> Json:
    fields = draw(st.dictionaries(NAMES, inner, min_size=1, max_size=3))
    required = [name for name in fields if draw(st.booleans())]
    more: Json | None = draw(st.sampled_from([{}, {}, CLOSED, CLOSED, CLOSED, None]))
    if draw(st.integers(0, 9)) == 0:
        fields["a"] = False
    whole: Json = {"type": "object", "properties": fields, "required": required}
    return whole | (draw(CONDITIONS) if more is None else more)


def containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    forms = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        objects(inner),
        objects(inner),
        st.builds(lambda items: {"type": "array", "items": items}, inner),
        st.builds(lambda keyword, each: {keyword: each}, TOGETHER, forms),
        st.builds(lambda keyword, each: {keyword: each}, TOGETHER, st.lists(objects(inner), min_size=2, max_size=3)),
        st.builds(lambda whole, keyword, each: whole | {keyword: each}, objects(inner), TOGETHER, forms),
        st.builds(lambda whole, reference: whole | reference, objects(inner), REFERENCES),
    )


SCHEMAS = st.recursive(LEAVES, containers, max_leaves=6)
TOOLS = st.builds(
    lambda whole, one, two: whole | {"$defs": {"one": one, "two": two}}, objects(SCHEMAS), SCHEMAS, objects(SCHEMAS)
)
SCALARS = st.sampled_from(["x", "y", "", 0, 1, None])


@st.composite
def likely(draw: st.DrawFn, schema: Any, root: Json, depth: int = 5) -> Any:
    """A value that the schema might take."""
    if not isinstance(schema, dict) or depth == 0:
        return draw(SCALARS)
    if "$ref" in schema and draw(st.booleans() if "type" in schema else st.just(True)):
        return draw(likely(root["$defs"][schema["$ref"].removeprefix("#/$defs/")], root, depth - 1))
    if "enum" in schema or "const" in schema:
        return draw(st.sampled_from(schema.get("enum", [schema.get("const")])))
    branches = [branch for keyword in ("anyOf", "oneOf", "allOf") for branch in schema.get(keyword, ())]
    taken = draw(likely(draw(st.sampled_from(branches)), root, depth - 1)) if branches else ABSENT
    kind = schema.get("type")
    if kind == "array":
        return draw(st.lists(likely(schema["items"], root, depth - 1), max_size=2))
    if kind != "object":
        return draw(SCALARS) if taken is ABSENT else taken
    names = [name for name in schema["properties"] if name in schema.get("required", ()) or draw(st.booleans())]
    own = {name: draw(likely(schema["properties"][name], root, depth - 1)) for name in names}
    return own | taken if isinstance(taken, dict) else own


@st.composite
def calls(draw: st.DrawFn) -> tuple[Json, list[Any]]:
    """A tool's schema with arguments that might fit it."""
    schema = draw(TOOLS)
    return schema, draw(st.lists(likely(schema, schema), min_size=4, max_size=4))


def held(schema: Json) -> OutsideSchema | None:
    try:
        return OutsideSchema(schema, allow_free_form=True)
    except InvalidConfiguration:
        return None


def fits(schema: OutsideSchema, value: Any) -> bool:
    try:
        schema.validated(value)
    except CallRefused:
        return False
    return True


def given_forms(schema: Json, root: Json, value: Any) -> Iterator[Any]:
    """Every way to give the value under a strict schema in which each field is given, null for what is not there."""
    if "$ref" in schema:
        target = root if schema["$ref"] == "#" else root["$defs"][schema["$ref"].removeprefix("#/$defs/")]
        yield from given_forms(target, root, value)
    elif "anyOf" in schema:
        for form in schema["anyOf"]:
            yield from given_forms(form, root, value)
    elif isinstance(value, dict) and schema.get("type") == "object" and value.keys() <= schema["properties"].keys():
        yield from given_objects(list(schema["properties"].items()), root, value)
    elif isinstance(value, list) and schema.get("type") == "array":
        yield from given_lists(schema["items"], root, value)
    elif Draft202012Validator(schema).is_valid(value):
        yield value


def given_objects(fields: list[tuple[str, Json]], root: Json, value: Json) -> Iterator[Json]:
    if not fields:
        yield {}
        return
    (name, schema), *others = fields
    for first in given_forms(schema, root, value.get(name)):
        for rest in given_objects(others, root, value):
            yield {name: first, **rest}


def given_lists(items: Json, root: Json, values: list[Any]) -> Iterator[list[Any]]:
    if not values:
        yield []
        return
    for first in given_forms(items, root, values[0]):
        for rest in given_lists(items, root, values[1:]):
            yield [first, *rest]


@EXAMPLES
@given(calls())
def test_a_strict_form_takes_whatever_the_original_takes(call: Any) -> None:
    schema, arguments = call
    original, form = held(schema), anthropic.form(schema)
    if original is None or not isinstance(form, StrictForm):
        return
    assert anthropic_faults(form.schema) == []
    strict = OutsideSchema(form.schema)
    assert [value for value in arguments if fits(original, value) and not fits(strict, value)] == []


@EXAMPLES
@given(calls())
def test_whatever_the_original_takes_can_be_given_where_every_field_must_be(call: Any) -> None:
    schema, arguments = call
    original, form = held(schema), openai.form(schema)
    if original is None or not isinstance(form, StrictForm):
        return
    assert openai_faults(form.schema) == []
    for value in arguments:
        if fits(original, value):
            assert form.undo(value) == value  # read as it is, and in no other way
            ways = given_forms(form.schema, form.schema, value)
            assert any(form.undo(each) == value for each in ways), value
