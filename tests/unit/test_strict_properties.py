"""Whatever the schema: a strict form takes all that the original takes, and what is undone is judged by the original.

Schemas are generated together with what fits them, each value both as the original has it and as a model must give it
where every field has to be given. That second form is written here, independently of the code that reads it back.
"""

import copy
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from adapters.envelopes.strict import Inexpressible, StrictForm, anthropic, openai
from adapters.outside_schema import OutsideSchema
from tests.unit.strict_subsets import anthropic_faults, openai_faults
from workflows.domain.errors import CallRefused

Json = dict[str, Any]
Pair = tuple[Any, Any]
"""A value that fits, and the same as every field of it must be given."""

Maker = Callable[[st.DrawFn, int], "Sample"]

EXAMPLES = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
ABSENT = object()


@dataclass(frozen=True)
class Sample:
    """A schema of one place with what fits it."""

    schema: Json
    pairs: st.SearchStrategy[Pair]
    defs: Json = field(default_factory=dict)
    nullable: bool = False
    kind: str = ""


def plain(schema: Json, values: st.SearchStrategy[Any], kind: str) -> Sample:
    return Sample(schema, values.map(lambda value: (value, value)), kind=kind)


TEXTS = st.text(alphabet="ab-é", min_size=1, max_size=4)
NUMBERS = st.integers(-3, 9)
SCALARS = [
    plain({"type": "string", "minLength": 1, "maxLength": 4}, TEXTS, "string"),
    plain({"type": "string", "pattern": "^[ab]{1,3}$"}, st.text(alphabet="ab", min_size=1, max_size=3), "string"),
    plain({"type": "string", "pattern": "b"}, st.sampled_from(["b", "abc"]), "string"),
    plain({"type": "string", "format": "uri"}, st.just("https://example.org/a"), "string"),
    plain({"type": "string", "format": "date", "default": "2026-01-31"}, st.just("2024-02-29"), "string"),
    plain({"type": "integer", "minimum": -3, "maximum": 9}, NUMBERS, "number"),
    plain({"type": "integer", "exclusiveMinimum": -1, "multipleOf": 2}, st.sampled_from([0, 2, 8]), "number"),
    plain({"type": "number", "multipleOf": Decimal("0.1")}, st.sampled_from([0, Decimal("0.3")]), "number"),
    plain({"type": "boolean"}, st.booleans(), "boolean"),
    plain({"enum": ["a", 1, True]}, st.sampled_from(["a", 1, True]), "mixed"),
    plain({"type": "string", "enum": ["a", "b", 3]}, st.sampled_from(["a", "b"]), "string"),
    plain({"const": "x"}, st.just("x"), "string"),
    plain({"type": "string", "not": {"const": "no"}}, TEXTS, "string"),
    plain({"allOf": [{"type": "string", "maxLength": 3}, {"maxLength": 2, "minLength": 1}]}, st.just("ab"), "string"),
]


@st.composite
def samples(draw: st.DrawFn, depth: int = 2) -> Sample:
    makers: list[Maker] = [scalar, scalar, nullable]
    if depth > 0:
        makers += [an_object, an_object, a_list, a_union, a_union, a_reference, a_merged_object, a_tree]
    return draw(st.sampled_from(makers))(draw, depth - 1)


def scalar(draw: st.DrawFn, _: int) -> Sample:
    return draw(st.sampled_from(SCALARS))


def nullable(draw: st.DrawFn, depth: int) -> Sample:
    inner = draw(samples(depth))
    assume(not inner.nullable)
    pairs = st.one_of(inner.pairs, st.just((None, None)))
    schema = {draw(st.sampled_from(["anyOf", "oneOf"])): [inner.schema, {"type": "null"}]}
    return Sample(schema, pairs, inner.defs, nullable=True, kind="null")


def an_object(draw: st.DrawFn, depth: int) -> Sample:
    names = draw(st.lists(st.sampled_from(["a", "b", "c", "d.e"]), unique=True, max_size=3))
    fields = {name: draw(samples(depth)) for name in names}
    required = chosen(draw, fields)
    closing: Json = draw(st.sampled_from([{}, {"additionalProperties": False}, {"unevaluatedProperties": False}]))
    schema: Json = {"type": "object", "properties": {name: each.schema for name, each in fields.items()}, **closing}
    return Sample(
        schema | ({"required": required} if required else {}),
        of_fields(fields, required),
        merged(*fields.values()),
        kind="object",
    )


def chosen(draw: st.DrawFn, fields: dict[str, Sample]) -> list[str]:
    """The required ones: any, but always those that may be null."""
    optional = [name for name, each in fields.items() if not each.nullable and draw(st.booleans())]
    return [name for name in fields if name not in optional]


def of_fields(fields: dict[str, Sample], required: list[str]) -> st.SearchStrategy[Pair]:
    absent = st.just((ABSENT, None))
    each = {n: s.pairs if n in required else st.one_of(absent, s.pairs) for n, s in fields.items()}
    return st.fixed_dictionaries(each).map(
        lambda found: (
            {name: value for name, (value, _) in found.items() if value is not ABSENT},
            {name: given for name, (_, given) in found.items()},
        )
    )


def merged(*inner: Sample) -> Json:
    return {name: schema for each in inner for name, schema in each.defs.items()}


def a_list(draw: st.DrawFn, depth: int) -> Sample:
    inner = draw(samples(depth))
    bounds = draw(st.sampled_from([{}, {"minItems": 1}, {"minItems": 2, "maxItems": 4}, {"maxItems": 3}]))
    pairs = st.lists(inner.pairs, min_size=bounds.get("minItems", 0), max_size=3).map(
        lambda found: ([value for value, _ in found], [given for _, given in found])
    )
    return Sample({"type": "array", "items": inner.schema, **bounds}, pairs, inner.defs, kind="list")


def a_union(draw: st.DrawFn, depth: int) -> Sample:
    return draw(st.sampled_from([of_types, of_tags, of_closed_objects]))(draw, depth)


def of_types(draw: st.DrawFn, depth: int) -> Sample:
    forms = [draw(samples(depth)) for _ in range(2)]
    assume(forms[0].kind != forms[1].kind and not any(form.kind in ("null", "mixed", "") for form in forms))
    return union(draw(st.sampled_from(["anyOf", "oneOf"])), forms)


def of_tags(draw: st.DrawFn, depth: int) -> Sample:
    forms = [tagged(an_object(draw, depth), tag) for tag in draw(st.sampled_from([["x", "y"], ["x", "y", "z"]]))]
    return union(draw(st.sampled_from(["anyOf", "oneOf"])), forms)


def tagged(form: Sample, tag: str) -> Sample:
    schema = copy.deepcopy(form.schema)
    schema["properties"]["kind"] = {"const": tag}
    schema["required"] = ["kind", *schema.get("required", [])]
    pairs = form.pairs.map(lambda pair: ({**pair[0], "kind": tag}, {**pair[1], "kind": tag}))
    return Sample(schema, pairs, form.defs, kind="object")


def of_closed_objects(draw: st.DrawFn, _: int) -> Sample:
    fields = {name: draw(st.sampled_from(SCALARS)) for name in ("a", "b", "c")}
    choices = draw(st.lists(st.frozensets(st.sampled_from("abc"), min_size=1), min_size=2, max_size=3, unique=True))
    return union("anyOf", [closed({name: fields[name] for name in sorted(names)}, draw) for names in choices])


def closed(fields: dict[str, Sample], draw: st.DrawFn) -> Sample:
    required = chosen(draw, fields)
    schema = {"type": "object", "properties": {n: s.schema for n, s in fields.items()}, "required": required}
    return Sample(schema | {"additionalProperties": False}, of_fields(fields, required), kind="object")


def union(keyword: str, forms: list[Sample]) -> Sample:
    return Sample(
        {keyword: [form.schema for form in forms]},
        st.one_of([form.pairs for form in forms]),
        merged(*forms),
        kind=forms[0].kind if len({form.kind for form in forms}) == 1 else "",
    )


def a_reference(draw: st.DrawFn, depth: int) -> Sample:
    inner = draw(samples(depth))
    name = f"D{zlib.crc32(repr(inner.schema).encode())}"
    siblings: Json = draw(st.sampled_from([{}, {"description": "words"}, {"maxLength": 40, "maxProperties": 9}]))
    schema = {"$ref": f"#/$defs/{name}", **siblings}
    return Sample(schema, inner.pairs, {**inner.defs, name: inner.schema}, inner.nullable, inner.kind)


def a_merged_object(draw: st.DrawFn, depth: int) -> Sample:
    one, two = ({name: draw(samples(depth)) for name in names} for names in ("ab", "cd"))
    fields = one | two
    assume(not any(each.nullable for each in fields.values()))
    required = chosen(draw, fields)
    parts = [{"properties": {name: each.schema for name, each in part.items()}} for part in (one, two)]
    schema = {"type": "object", "allOf": parts, "required": required}
    return Sample(schema, of_fields(fields, required), merged(*fields.values()), kind="object")


def a_tree(draw: st.DrawFn, _: int) -> Sample:
    tree = {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "kids": {"type": "array", "items": {"$ref": "#/$defs/tree"}},
            "twin": {"$ref": "#/$defs/tree"},
        },
        "required": ["name"],
        "additionalProperties": False,
    }
    leaves = TEXTS.map(lambda name: ({"name": name}, {"name": name, "kids": None, "twin": None}))
    return Sample({"$ref": "#/$defs/tree"}, st.recursive(leaves, grown, max_leaves=4), {"tree": tree}, kind="object")


def grown(inner: st.SearchStrategy[Pair]) -> st.SearchStrategy[Pair]:
    return st.lists(inner, max_size=2).map(
        lambda kids: (
            {"name": "n", "kids": [value for value, _ in kids]},
            {"name": "n", "kids": [given for _, given in kids], "twin": None},
        )
    )


@st.composite
def tools(draw: st.DrawFn) -> tuple[Json, list[Pair]]:
    """The schema of a tool, and a few arguments."""
    fields = {name: draw(samples()) for name in draw(st.lists(st.sampled_from("pqr"), unique=True, max_size=2))}
    required = chosen(draw, fields)
    schema: Json = {
        "type": "object",
        "properties": {name: each.schema for name, each in fields.items()},
        "required": required,
        "$defs": merged(*fields.values()),
    }
    return schema, draw(st.lists(of_fields(fields, required), min_size=1, max_size=3))


def fits(schema: Json, value: Any) -> bool:
    try:
        OutsideSchema(schema).validated(value)
    except CallRefused:
        return False
    return True


def exactly(value: Any) -> str:
    return repr(value)


@EXAMPLES
@given(tools())
def test_every_instance_has_a_form_that_the_strict_schema_takes_and_that_is_read_back(tool: Any) -> None:
    schema, pairs = tool
    form = openai.form(schema)
    assert isinstance(form, StrictForm), form
    assert openai_faults(form.schema) == []
    original, strict = OutsideSchema(schema), OutsideSchema(form.schema)
    for value, given_form in pairs:
        assert original.validated(value) is value
        assert Draft202012Validator(schema).is_valid(value)
        assert strict.validated(given_form) is given_form
        assert Draft202012Validator(form.schema).is_valid(given_form)
        before = copy.deepcopy(given_form)
        assert exactly(form.undo(given_form)) == exactly(value)
        assert given_form == before


@EXAMPLES
@given(tools())
def test_where_fields_may_be_left_out_the_strict_schema_takes_every_instance_as_it_is(tool: Any) -> None:
    schema, pairs = tool
    form = anthropic.form(schema)
    if isinstance(form, Inexpressible):
        assert form.reason == "it refers to itself" or "more than" in form.reason
        return
    assert anthropic_faults(form.schema) == []
    for value, _ in pairs:
        assert fits(form.schema, value)
        assert Draft202012Validator(form.schema).is_valid(value)
        assert form.undo(value) is value


VALUES = st.sampled_from([None, None, 0, "", "x", True, [], {}, {"a": None}, [None], Decimal("1.5")])


def places_in(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    for step, inner in (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    ):
        yield from places_in(inner, (*path, step))


def replaced(value: Any, path: tuple[Any, ...], by: Any) -> Any:
    if not path:
        return by
    changed = copy.copy(value)
    changed[path[0]] = replaced(value[path[0]], path[1:], by)
    return changed


def has_only_lost_nulls(before: Any, after: Any) -> bool:
    if isinstance(before, dict) and isinstance(after, dict):
        lost = before.keys() - after.keys()
        return (
            after.keys() <= before.keys()
            and all(before[name] is None for name in lost)
            and all(has_only_lost_nulls(before[name], after[name]) for name in after)
        )
    if isinstance(before, list) and isinstance(after, list):
        return len(before) == len(after) and all(map(has_only_lost_nulls, before, after))
    return exactly(before) == exactly(after)


def with_nulls_put_back(before: Any, after: Any) -> Iterator[Any]:
    """`after` with one of the nulls that it has lost."""
    for path in places_in(after):
        one, other = before, after
        for step in path:
            one, other = one[step], other[step]
        if isinstance(other, dict):
            yield from (replaced(after, path, {**other, name: None}) for name in one.keys() - other.keys())


@EXAMPLES
@given(tools(), st.data())
def test_nothing_but_nulls_that_the_original_refuses_is_ever_taken_out(tool: Any, data: st.DataObject) -> None:
    schema, pairs = tool
    form = openai.form(schema)
    assert isinstance(form, StrictForm)
    value = pairs[0][1]
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(list(places_in(value))))
        value = replaced(value, path, data.draw(VALUES))
    after = form.undo(value)
    assert has_only_lost_nulls(value, after)
    if fits(schema, value):
        assert exactly(after) == exactly(value)
    if fits(schema, after):
        assert not any(fits(schema, back) for back in with_nulls_put_back(value, after))
