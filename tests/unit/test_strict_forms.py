"""What becomes of a schema in a strict subset, and which schemas have no strict form."""

from decimal import Decimal
from typing import Any

import pytest

from adapters.envelopes.strict import Inexpressible, StrictForm, anthropic, building, openai, overlap
from tests.unit.strict_subsets import anthropic_faults, openai_faults

Json = dict[str, Any]

TEXT: Json = {"type": "string"}
WHOLE: Json = {"type": "integer"}
NULL: Json = {"type": "null"}


def an_object(required: str = "", /, **properties: Any) -> Json:
    return {"type": "object", "properties": properties, "required": required.split()}


def closed(required: str = "", /, **properties: Any) -> Json:
    return {**an_object(required, **properties), "additionalProperties": False}


def formed(schema: Json, provider: Any = openai, **options: Any) -> StrictForm:
    form = provider.form(schema, **options)
    assert isinstance(form, StrictForm), form
    assert (openai_faults if provider is openai else anthropic_faults)(form.schema) == []
    return form


def field(schema: Json, provider: Any = openai, **definitions: Any) -> tuple[Json, tuple[str, ...]]:
    """What a required field of this schema becomes, and what is said."""
    form = formed({**an_object("x", x=schema), "$defs": definitions}, provider)
    return form.schema["properties"]["x"], form.said


def refusal(schema: Any, provider: Any = openai) -> Inexpressible:
    form = provider.form(schema)
    assert isinstance(form, Inexpressible), form
    return form


def refusal_of_field(schema: Json, provider: Any = openai, **definitions: Any) -> tuple[str, str]:
    found = refusal({**an_object("x", x=schema), "$defs": definitions}, provider)
    return found.reason, found.place


# -- fields that may be left out


def test_where_every_field_must_be_given_null_stands_for_one_that_is_left_out() -> None:
    form = formed(an_object("id", id=TEXT, note=TEXT, size={"enum": ["s", "l"], "description": "How large."}))
    assert form.schema == {
        "type": "object",
        "properties": {
            "id": TEXT,
            "note": {"anyOf": [TEXT, NULL]},
            "size": {"anyOf": [{"type": "string", "enum": ["s", "l"]}, NULL], "description": "How large."},
        },
        "required": ["id", "note", "size"],
        "additionalProperties": False,
    }
    assert form.said == ("Give null to leave out: note, size.",)


def test_where_fields_may_be_left_out_they_stay_optional() -> None:
    form = formed(an_object("id", id=TEXT, note=TEXT, tag={"type": ["string", "null"]}), anthropic)
    assert form.schema["required"] == ["id"]
    assert form.schema["properties"] == {"id": TEXT, "note": TEXT, "tag": {"anyOf": [TEXT, NULL]}}
    assert (form.said, form.optional, form.unions) == ((), 2, 1)


def test_a_null_that_is_a_value_of_its_own_and_absence_cannot_both_be_told() -> None:
    optional = an_object(tag={"type": ["string", "null"]})
    assert refusal(optional) == Inexpressible(
        "a field may be left out and may be null, and only one of them could be told", "/properties/tag"
    )
    assert formed({**optional, "required": ["tag"]}).schema["properties"]["tag"] == {"anyOf": [TEXT, NULL]}


@pytest.mark.parametrize(
    ("tag", "same"),
    [
        ({"type": ["string", "null"], "default": None}, True),
        ({"anyOf": [TEXT, NULL], "default": None}, True),
        ({"$ref": "#/$defs/tag", "default": None}, True),
        ({"type": ["string", "null"], "default": "x"}, False),
        ({"type": ["string", "null"]}, False),
        ({"anyOf": [{**TEXT, "default": None}, NULL]}, False),
    ],
    ids=str,
)
def test_that_a_default_of_null_is_absence_must_be_said_by_who_knows_the_tool(tag: Json, same: bool) -> None:
    schema = {**an_object(tag=tag), "$defs": {"tag": {"type": ["string", "null"]}}}
    assert isinstance(openai.form(schema), Inexpressible)
    assert isinstance(openai.form(schema, null_is_absence=True), StrictForm) is same


def test_a_field_whose_null_is_absence_takes_null_once() -> None:
    form = formed(an_object(tag={"type": ["string", "null"], "default": None}), null_is_absence=True)
    assert form.schema["properties"]["tag"] == {"anyOf": [TEXT, NULL]}
    assert form.said == ("tag: null when left out.",)
    assert form.undo({"tag": None}) == {"tag": None}


def test_null_is_offered_once_where_a_condition_shuts_it_out_of_the_original() -> None:
    form = formed(an_object(tag={"type": ["string", "null"], "not": NULL}))
    assert form.schema["properties"]["tag"] == {"anyOf": [TEXT, NULL]}
    assert form.undo({"tag": None}) == {}


# -- bounds of values


@pytest.mark.parametrize(
    ("schema", "kept", "said"),
    [
        ({**WHOLE, "minimum": 1, "maximum": 9}, {**WHOLE, "minimum": 1, "maximum": 9}, ""),
        (
            {**WHOLE, "exclusiveMinimum": 0, "exclusiveMaximum": 7},
            {**WHOLE, "exclusiveMinimum": 0, "exclusiveMaximum": 7},
            "",
        ),
        ({"type": "number", "multipleOf": 0.1}, {"type": "number", "multipleOf": Decimal("0.1")}, ""),
        ({**TEXT, "minLength": 1, "maxLength": 5}, TEXT, "at least 1 characters; at most 5 characters"),
        ({**TEXT, "pattern": "^a+$"}, {**TEXT, "pattern": "^a+$"}, ""),
        ({**TEXT, "pattern": "a"}, TEXT, "text that matches a"),
        ({**TEXT, "format": "date"}, {**TEXT, "format": "date"}, ""),
        ({**TEXT, "format": "uri"}, TEXT, "a URI with its scheme"),
        ({**TEXT, "format": "phone"}, TEXT, 'must also fit {"format":"phone"}'),
        ({**TEXT, "contentEncoding": "base64"}, TEXT, 'must also fit {"contentEncoding":"base64"}'),
        (
            {"type": "array", "items": TEXT, "minItems": 2, "maxItems": 3, "uniqueItems": True},
            {"type": "array", "items": TEXT, "minItems": 2, "maxItems": 3},
            "no item twice",
        ),
        (
            {"type": "array", "items": TEXT, "contains": {"const": "a"}},
            {"type": "array", "items": TEXT},
            'must also fit {"contains":{"const":"a"}}',
        ),
        ({**TEXT, "minLength": 0}, TEXT, ""),
        ({**TEXT, "default": "a", "examples": ["b", "c", "d"]}, TEXT, '"a" when left out; for example "b" or "c"'),
        ({**TEXT, "examples": ["long" * 30]}, TEXT, ""),
        ({**TEXT, "title": "T", "description": "D"}, {**TEXT, "title": "T", "description": "D"}, ""),
    ],
    ids=str,
)
def test_what_openai_holds_stays_and_the_rest_is_said(schema: Json, kept: Json, said: str) -> None:
    assert field(schema) == (kept, (f"x: {said}.",) if said else ())


@pytest.mark.parametrize(
    ("schema", "kept", "said"),
    [
        ({**WHOLE, "minimum": 1, "maximum": 9}, WHOLE, "at least 1; at most 9"),
        ({"type": "number", "exclusiveMinimum": 0.5}, {"type": "number"}, "more than 0.5"),
        ({**TEXT, "pattern": "^a+$", "minLength": 3}, TEXT, "at least 3 characters; text that matches ^a+$"),
        ({**TEXT, "format": "uri"}, {**TEXT, "format": "uri"}, ""),
        ({"type": "array", "items": TEXT, "minItems": 1}, {"type": "array", "items": TEXT, "minItems": 1}, ""),
        ({"type": "array", "items": TEXT, "minItems": 2}, {"type": "array", "items": TEXT}, "at least 2 items"),
        ({"type": "string", "enum": ["a", "b"]}, {"enum": ["a", "b"]}, ""),
    ],
    ids=str,
)
def test_what_anthropic_holds_stays_and_the_rest_is_said(schema: Json, kept: Json, said: str) -> None:
    assert field(schema, anthropic) == (kept, (f"x: {said}.",) if said else ())


@pytest.mark.parametrize(
    ("pattern", "is_kept"),
    [
        ("^[A-Z]{3}$", True),
        (r"^(0|[1-9][0-9]{0,14})(\.[0-9]{1,6})?$", True),
        (r"^(?:a|b)\d+\s[^\]|$]$", True),
        ("^a|b$", False),
        ("^a", False),
        ("a$", False),
        (r"^a\$", False),
        ("^a$b$", False),
        ("^(?<year>[0-9]+)$", False),
        (r"^\p{L}+$", False),
        (r"^\bcat$", False),
        (r"^\u00e9$", False),
        ("^a+?b$", False),
    ],
)
def test_a_pattern_stays_only_if_every_engine_reads_it_alike(pattern: str, is_kept: bool) -> None:
    kept, said = field({**TEXT, "pattern": pattern})
    assert ("pattern" in kept, said == ()) == (is_kept, is_kept)


def test_a_condition_too_long_to_tell_is_named() -> None:
    _, said = field({**TEXT, "not": {"enum": [f"word {number}" for number in range(100)]}})
    assert said == ("x: a further condition holds (not).",)


def test_what_is_said_follows_the_description() -> None:
    assert formed(an_object("x", x=TEXT)).described("Finds.") == "Finds."
    form = formed(an_object("x", x={**TEXT, "maxLength": 5}, y={**TEXT, "maxLength": 6}))
    assert form.described("Finds.") == (
        "Finds.\n\nGive null to leave out: y.\nx: at most 5 characters.\ny: at most 6 characters."
    )


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({**an_object(a=WHOLE), "minProperties": 1, "maxProperties": 2}, "at least 1 fields; at most 2 fields"),
        ({**an_object(a=WHOLE), "propertyNames": {"maxLength": 3}}, 'must also fit {"propertyNames":{"maxLength":3}}'),
        (
            {**an_object(a=WHOLE, b=WHOLE), "dependentRequired": {"a": ["b"]}},
            'must also fit {"dependentRequired":{"a":["b"]}}',
        ),
        (
            {**an_object(a=WHOLE, b=WHOLE), "if": {"required": ["a"]}, "then": {"properties": {"b": {"minimum": 1}}}},
            'must also fit {"if":{"required":["a"]},"then":{"properties":{"b":{"minimum":1}}}}',
        ),
        (
            {**an_object(a=WHOLE, b=WHOLE), "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
            'must also fit {"anyOf":[{"required":["a"]},{"required":["b"]}]}',
        ),
        (
            {**an_object(a=WHOLE), "not": {"properties": {"z": WHOLE}, "required": ["z"]}},
            'must also fit {"not":{"properties":{"z":{"type":"integer"}},"required":["z"]}}',
        ),
        (
            {**an_object(a=WHOLE), "dependentSchemas": {"a": {"minProperties": 1}}, "not": {"required": ["a"]}},
            'must also fit {"not":{"required":["a"]}}; must also fit {"dependentSchemas":{"a":{"minProperties":1}}}',
        ),
    ],
    ids=str,
)
def test_conditions_that_only_narrow_are_said_at_the_root_too(schema: Json, said: str) -> None:
    for provider in (openai, anthropic):
        assert f"The arguments: {said}." in formed(schema, provider).said
        assert f"x: {said}." in field(schema, provider)[1]


@pytest.mark.parametrize(
    "condition",
    [
        {"if": {"required": ["a"]}, "then": {"properties": {"c": WHOLE}}},
        {"if": {"properties": {"c": WHOLE}}, "then": True},
        {"if": True, "else": {"properties": {"c": WHOLE}}},
        {"dependentSchemas": {"a": {"properties": {"c": WHOLE}}}},
        {"if": True, "then": {"$ref": "#/$defs/more"}},
        {"if": True, "then": {"additionalProperties": TEXT}},
        {"if": True, "then": {"patternProperties": {"^x": TEXT}}},
        {"if": True, "then": {"properties": {"a": {"properties": {"deep": TEXT}}}}},
        {"if": True, "then": {"allOf": [{"properties": {"c": WHOLE}}]}},
        {"if": True, "then": {"if": True, "then": {"properties": {"c": WHOLE}}}},
        {"if": True, "then": {"dependentSchemas": {"a": {"properties": {"c": WHOLE}}}}},
    ],
    ids=str,
)
def test_a_condition_that_opens_fields_is_refused(condition: Json) -> None:
    schema = {**an_object(a=WHOLE), **condition, "$defs": {"more": an_object(c=WHOLE)}}
    assert refusal(schema) == refusal(schema, anthropic) == Inexpressible("a condition in it opens fields", "")


# -- what applies together


def test_a_reference_and_its_siblings_both_apply() -> None:
    amount = closed("value unit", value={**WHOLE, "maximum": 100}, unit={**TEXT, "maxLength": 3})
    amount["description"] = "An amount."
    given, said = field(
        {
            "$ref": "#/$defs/amount",
            "description": "How much.",
            "properties": {"value": {"minimum": 5, "maximum": 50}, "unit": {"maxLength": 9}},
        },
        amount=amount,
    )
    assert given == {
        **closed("value unit", value={**WHOLE, "minimum": 5, "maximum": 50}, unit=TEXT),
        "description": "How much.",
    }
    assert said == ("x.unit: at most 3 characters.",)


def test_the_narrowest_of_several_bounds_stays_whichever_side_it_stands_on() -> None:
    small, said = field({"$ref": "#/$defs/n", "maximum": 9, "minimum": 2}, n={**WHOLE, "maximum": 5, "minimum": 1})
    assert (small, said) == ({**WHOLE, "minimum": 2, "maximum": 5}, ())
    assert field({"$ref": "#/$defs/n", "allOf": [{"maximum": 5}]}, n=WHOLE)[0] == {**WHOLE, "maximum": 5}


def test_bounds_that_have_no_narrowest_are_all_told() -> None:
    given, said = field({"allOf": [{**TEXT, "pattern": "^a.*$"}, {"pattern": "^.*b$"}, {"pattern": "^a.*$"}]})
    assert (given, said) == ({**TEXT, "pattern": "^a.*$"}, ("x: text that matches ^.*b$.",))


@pytest.mark.parametrize(
    ("schema", "given"),
    [
        ({"allOf": [{"type": ["string", "integer"]}, {"type": ["integer", "null"]}]}, WHOLE),
        ({"allOf": [{"type": "number"}, {"type": "integer"}]}, WHOLE),
        ({"allOf": [{"type": "integer"}, {"type": ["number", "string"]}]}, WHOLE),
        ({"type": ["integer", "number"]}, {"type": "number"}),
        ({"allOf": [{"enum": ["a", "b", 1]}, {"type": "string"}, {"not": {"const": "b"}}]}, {**TEXT, "enum": ["a"]}),
        ({"allOf": [{"enum": ["a", "b"]}, {"enum": ["b", "c"]}]}, {**TEXT, "enum": ["b"]}),
        (
            {"enum": ["a", 1, 1.5, True, None]},
            {"type": ["string", "integer", "number", "boolean", "null"], "enum": ["a", 1, Decimal("1.5"), True, None]},
        ),
        ({"const": 1}, {**WHOLE, "enum": [1]}),
        (
            {"anyOf": [{"const": "a"}, {"const": "b"}], "type": "string"},
            {"anyOf": [{**TEXT, "enum": ["a"]}, {**TEXT, "enum": ["b"]}]},
        ),
        ({"anyOf": [TEXT, {"anyOf": [WHOLE, NULL]}, False]}, {"anyOf": [TEXT, WHOLE, NULL]}),
        ({"anyOf": [TEXT, False], "description": "D"}, {**TEXT, "description": "D"}),
        ({"oneOf": [{**TEXT, "description": "inner"}]}, {**TEXT, "description": "inner"}),
    ],
    ids=str,
)
def test_types_and_values_that_hold_together_are_met(schema: Json, given: Json) -> None:
    assert field(schema) == (given, ())


def test_very_many_values_are_taken_as_they_are() -> None:
    given, _ = field({"type": "integer", "enum": [*range(2_000), "a"]}, anthropic)
    assert len(given["enum"]) == 2_001
    given, _ = field({"type": "integer", "enum": [*range(1_999), "a"]}, anthropic)
    assert given["enum"] == [*range(1_999)]


def test_branches_of_all_of_may_each_name_fields() -> None:
    given, _ = field({"type": "object", "allOf": [an_object("a", a=TEXT), an_object(b=WHOLE, a={"maxLength": 4})]})
    assert given == closed("a b", a=TEXT, b={"anyOf": [WHOLE, NULL]})


def test_a_field_that_can_never_be_given_is_not_offered() -> None:
    given, _ = field(
        {
            **an_object("a", a=TEXT, no=False, never={"enum": ["a"], "type": "integer"}),
            "allOf": [closed(a=TEXT, no=TEXT)],
        }
    )
    assert given == closed("a", a=TEXT)
    assert refusal_of_field(an_object("no", no=False)) == ("it requires a field that cannot be given", "/properties/x")
    assert refusal_of_field({"enum": ["a"], "type": "integer"}) == ("it requires a field that cannot be given", "")
    assert refusal_of_field(an_object("other", a=TEXT))[0] == "it requires a field that cannot be given"
    assert (
        refusal_of_field({**closed("a", a=TEXT), "allOf": [closed(b=TEXT)]})[0]
        == "it requires a field that cannot be given"
    )


# -- references


def test_a_recursive_schema_stays_recursive_where_the_provider_takes_it() -> None:
    tree = closed("name", name=TEXT, kids={"type": "array", "items": {"$ref": "#/$defs/tree"}})
    schema = {**an_object("x", x={"$ref": "#/$defs/tree"}), "$defs": {"tree": tree}}
    kids = {"type": "array", "items": {"$ref": "#/$defs/tree"}}
    assert formed(schema).schema["$defs"] == {"tree": closed("name kids", name=TEXT, kids={"anyOf": [kids, NULL]})}
    assert refusal(schema, anthropic) == Inexpressible("it refers to itself", "/$defs/tree")


def test_a_schema_may_refer_to_its_root() -> None:
    form = formed(an_object("kids", kids={"type": "array", "items": {"$ref": "#"}}))
    assert form.schema["properties"]["kids"] == {"type": "array", "items": {"$ref": "#"}}
    assert form.undo({"kids": [{"kids": []}]}) == {"kids": [{"kids": []}]}


def test_a_recursive_place_without_a_name_gets_one() -> None:
    link = {"$ref": "#/$defs/tree", "description": "A child.", "maxProperties": 2}
    tree = an_object(name=TEXT, kid=link)
    form = formed({**an_object("x", x=link), "$defs": {"tree": tree}})
    kid = {"anyOf": [{"$ref": "#/$defs/x_kid"}, NULL]}
    assert form.schema["properties"]["x"]["properties"]["kid"] == kid
    assert form.schema["$defs"]["x_kid"]["properties"]["kid"] == kid
    assert form.schema["$defs"]["x_kid"]["description"] == "A child."
    assert form.said[1:] == ("x.kid: at most 2 fields.", "x: at most 2 fields.")
    assert form.undo({"x": {"name": None, "kid": {"name": "n", "kid": None}}}) == {"x": {"kid": {"name": "n"}}}


def test_definitions_keep_their_names_apart() -> None:
    schema = {
        **an_object("x y z", x={"$ref": "#/$defs/a~1b"}, y={"$ref": "#/$defs/a b"}, z={"$ref": "#/properties/x"}),
        "$defs": {"a/b": TEXT, "a b": WHOLE},
    }
    form = formed(schema)
    assert form.schema["$defs"] == {"a_1b": TEXT, "a_b": WHOLE}
    assert form.schema["properties"]["z"] == {"$ref": "#/$defs/a_1b"}
    twice = {
        **an_object("x y", x={"$ref": "#/$defs/a b"}, y={"$ref": "#/$defs/a_b"}),
        "$defs": {"a b": TEXT, "a_b": WHOLE},
    }
    assert formed(twice).schema["$defs"] == {"a_b": TEXT, "a_b_": WHOLE}


def test_what_is_said_of_a_definition_is_said_once_under_its_name() -> None:
    schema = {
        **an_object(
            "x", x={"$ref": "#/$defs/Name", "default": "a"}, y={"type": "array", "items": {"$ref": "#/$defs/Name"}}
        ),
        "$defs": {"Name": {**TEXT, "maxLength": 4}},
    }
    assert formed(schema).said == (
        "Give null to leave out: y.",
        'x: "a" when left out.',
        "Name: at most 4 characters.",
    )


# -- choices


def test_a_choice_of_tagged_forms_is_one_of_any() -> None:
    forms = [an_object("kind", kind={"const": kind}, left=WHOLE) for kind in ("a", "b")]
    for keyword in ("oneOf", "anyOf"):
        given, said = field({keyword: forms})
        assert given["anyOf"] == [
            closed("kind left", kind={**TEXT, "enum": [kind]}, left={"anyOf": [WHOLE, NULL]}) for kind in ("a", "b")
        ]
        assert said == ("Give null to leave out: x (form 1).left, x (form 2).left.",)


EXACTLY_ONE = "x: exactly one of these forms must fit."


@pytest.mark.parametrize(
    ("forms", "is_exclusive"),
    [
        ([TEXT, WHOLE, NULL], True),
        ([WHOLE, {"type": "number"}], False),
        ([{"const": "a"}, {"enum": ["b", "c"]}], True),
        ([{"const": "a"}, {"enum": ["a", "c"]}], False),
        ([{"const": 1}, TEXT], True),
        ([TEXT, {"const": "a"}], False),
        ([{**TEXT, "maxLength": 3}, TEXT], False),
        ([closed("k", k={"const": "a"}), closed("k", k={"const": "b"})], True),
        ([closed("k", k={"const": "a"}), closed("", k={"const": "b"})], True),
        ([closed("", k={"const": "a"}), closed("", k={"const": "b"})], False),
        ([closed("k", k=NULL), closed("", k={"const": "b"})], False),
        ([closed("", k={"const": "b"}), closed("k", k=NULL)], False),
        ([closed("k", k=TEXT), closed("k", k=WHOLE)], True),
        ([closed("k", k=closed("t", t={"const": 1})), closed("k", k=closed("t", t={"const": 2}))], True),
        ([closed("a", a=TEXT), closed("b", b=TEXT)], True),
        ([closed("a", a=TEXT), closed("a", a=TEXT, b=TEXT)], False),
        ([an_object("a", a=TEXT), an_object("b", b=TEXT)], False),
        ([closed("k", k={"anyOf": [{"const": 1}, {"const": 2}]}), closed("k", k={"const": 3})], True),
        ([closed("k", k={"anyOf": [{"const": 1}, {"const": 3}]}), closed("k", k={"const": 3})], False),
    ],
    ids=str,
)
def test_that_exactly_one_form_fits_is_said_where_it_is_not_certain(forms: list[Json], is_exclusive: bool) -> None:
    assert (EXACTLY_ONE not in field({"oneOf": forms}, anthropic)[1]) is is_exclusive


BOTH = "a value may fit two of its forms and have the fields of both"


@pytest.mark.parametrize(
    ("forms", "is_refused"),
    [
        ([an_object("a", a=TEXT), an_object("b", b=TEXT)], True),
        ([an_object("a", a=TEXT), closed("b", b=TEXT)], False),
        ([closed("a", a=TEXT), closed("", a=TEXT, b=TEXT)], False),
        ([closed(a=an_object(p=TEXT)), closed(a=an_object(q=TEXT))], True),
        ([closed(a=closed(p=TEXT)), closed(a=an_object(q=TEXT))], False),
        ([{"type": "array", "items": an_object(p=TEXT)}, {"type": "array", "items": an_object(q=TEXT)}], True),
        ([{"type": "array", "items": an_object(p=TEXT)}, {"type": "array", "items": closed(q=TEXT)}], False),
        ([an_object("k", k={"const": 1}, a=TEXT), an_object("k", k={"const": 2}, b=TEXT)], False),
        ([{"anyOf": [an_object(a=TEXT), NULL]}, an_object(b=TEXT)], True),
        ([{"anyOf": [closed(a=TEXT), NULL]}, an_object(b=TEXT)], False),
        ([TEXT, {**TEXT, "maxLength": 3}], False),
    ],
    ids=str,
)
def test_forms_whose_fields_may_come_together_are_refused(forms: list[Json], is_refused: bool) -> None:
    form = anthropic.form(an_object("x", x={"anyOf": forms}))
    assert (form == Inexpressible(BOTH, "/properties/x/anyOf/0")) is is_refused
    assert isinstance(anthropic.form(an_object("x", x={"oneOf": forms})), StrictForm)


ONE_NULL = "a null would mean one thing in one of its forms and another in another"
TEXT_OR_NULL: Json = {"type": ["string", "null"]}


@pytest.mark.parametrize(
    ("forms", "is_refused"),
    [
        ([closed("p", p=TEXT_OR_NULL), closed("", p=TEXT)], True),
        ([closed("", p=TEXT), closed("p", p=TEXT_OR_NULL)], True),
        ([closed("p", p=TEXT), closed("", p=TEXT)], False),
        ([closed("p", p=TEXT_OR_NULL), closed("p", p=TEXT)], False),
        ([closed("p k", p=TEXT_OR_NULL, k={"const": 1}), closed("k", p=TEXT, k={"const": 2})], False),
        ([closed("d", d=closed("p", p=TEXT_OR_NULL)), closed("d", d=closed("", p=TEXT))], True),
        (
            [{"type": "array", "items": closed("p", p=TEXT_OR_NULL)}, {"type": "array", "items": closed("", p=TEXT)}],
            True,
        ),
        ([{"anyOf": [closed("p", p=TEXT_OR_NULL), WHOLE]}, closed("", p=TEXT)], True),
    ],
    ids=str,
)
def test_forms_that_read_a_null_in_two_ways_are_refused(forms: list[Json], is_refused: bool) -> None:
    for keyword in ("anyOf", "oneOf"):
        form = openai.form(an_object("x", x={keyword: forms}))
        assert (isinstance(form, Inexpressible) and form.reason == ONE_NULL) is is_refused
        assert isinstance(anthropic.form(an_object("x", x={keyword: forms})), StrictForm)


def test_a_form_is_numbered_only_beside_another_one() -> None:
    for forms in ([an_object(left=WHOLE), NULL], [NULL, an_object(left=WHOLE)]):
        assert field({"anyOf": forms})[1] == ("Give null to leave out: x.left.",)


def test_recursive_forms_are_compared_once() -> None:
    forms = {name: closed("name", name=TEXT, kid={"$ref": f"#/$defs/{name}"}) for name in ("one", "two")}
    given, said = field({"anyOf": [{"$ref": "#/$defs/one"}, {"$ref": "#/$defs/two"}]}, **forms)
    assert given == {"anyOf": [{"$ref": "#/$defs/one"}, {"$ref": "#/$defs/two"}]}
    assert said == ("Give null to leave out: one.kid, two.kid.",)


def test_what_stands_beside_a_choice_holds_in_each_form() -> None:
    given, _ = field(
        {
            **an_object("id", id=TEXT),
            "oneOf": [an_object("kind", kind={"const": kind}) for kind in "ab"],
            "description": "D",
        }
    )
    assert given == {
        "anyOf": [closed("id kind", id=TEXT, kind={**TEXT, "enum": [kind]}) for kind in "ab"],
        "description": "D",
    }


# -- no strict form


FREE = "it has a free-form object, which may hold any field"


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"type": "object"}, FREE),
        ({"type": "object", "additionalProperties": True}, FREE),
        ({**an_object(a=TEXT), "additionalProperties": True}, FREE),
        ({"type": "object", "additionalProperties": TEXT}, FREE),
        ({"type": "object", "patternProperties": {"^x-": TEXT}}, "it names fields by patterns"),
        ({**closed(a=TEXT), "patternProperties": {"^x-": TEXT}}, "it names fields by patterns"),
        (
            {**an_object(a=TEXT), "allOf": [an_object(b=TEXT)], "unevaluatedProperties": False},
            "which fields it takes depends on forms that apply together",
        ),
        ({"type": "array"}, "it has a list whose items may be anything"),
        ({"type": "array", "items": True}, "it names no type"),
        ({"type": "array", "prefixItems": [TEXT], "items": TEXT}, "it has a list whose items differ by their place"),
        ({"type": "array", "items": TEXT, "unevaluatedItems": TEXT}, "it has a list whose items differ by their place"),
        ({}, "it names no type"),
        ({"minimum": 5}, "it names no type"),
        ({"properties": {"a": TEXT}}, "it names no type"),
        ({"enum": [{"a": 1}]}, "it lists whole objects or lists as its values"),
        ({"const": [1]}, "it lists whole objects or lists as its values"),
        ({"type": "array", "items": {"enum": ["a"], "type": "integer"}}, "nothing fits it"),
        ({"type": "array", "items": {"allOf": [TEXT, WHOLE]}}, "nothing fits it"),
        ({"anyOf": [False, {"allOf": [TEXT, WHOLE]}]}, "nothing fits it"),
        ({"anyOf": [{"const": number} for number in range(101)]}, "it is a choice of too many forms"),
    ],
    ids=str,
)
def test_what_cannot_be_held_without_a_change_is_refused_with_its_place(schema: Json, reason: str) -> None:
    for provider in (openai, anthropic):
        found, place = refusal_of_field(schema, provider)
        assert found == reason
        assert place.startswith("/properties/x")


def test_the_place_of_a_refusal_is_a_pointer_into_the_original() -> None:
    schema = {
        **an_object(**{"a/b~c": {"type": "array", "items": {"$ref": "#/$defs/deep"}}}),
        "$defs": {"deep": {"allOf": [an_object(y={"type": "object"})]}},
    }
    assert refusal(schema).place == "/$defs/deep/allOf/0/properties/y"
    free = an_object(**{"a/b~c": {"type": "object"}})
    assert refusal(free).place == "/properties/a~1b~0c"


def test_a_choice_at_the_root_is_refused() -> None:
    schema = {"type": "object", "oneOf": [closed("a", a=TEXT), closed("b", b=TEXT)]}
    assert refusal(schema) == refusal(schema, anthropic) == Inexpressible("its root is a choice", "")


@pytest.mark.parametrize(
    "schema",
    [
        True,
        {"type": "array", "items": TEXT},
        an_object(a={**TEXT, "nullable": True}),
        an_object(a={"$ref": "https://example.org/schema"}),
        an_object(a={"$ref": "#/$defs/none"}),
        an_object(a={**TEXT, "pattern": "(?=a)b"}),
        {
            **an_object(a={"$ref": "#/$defs/t", "maxLength": 3}),
            "$defs": {"t": TEXT},
            "$schema": "http://json-schema.org/draft-07/schema#",
        },
    ],
    ids=str,
)
def test_what_cannot_be_read_strictly_at_all_has_no_strict_form(schema: Any) -> None:
    assert refusal(schema).reason.startswith("A tool's schema cannot be held strictly: ")


def test_a_tool_without_arguments_has_a_strict_form() -> None:
    for provider in (openai, anthropic):
        assert formed(an_object(), provider).schema == closed()


# -- sizes


def deep(levels: int) -> Json:
    schema = an_object()
    for _ in range(levels - 1):
        schema = an_object("d", d=schema)
    return schema


def test_the_limits_are_those_that_openai_publishes() -> None:
    assert (openai.MOST_FIELDS, openai.MOST_LEVELS) == (5_000, 10)
    assert (openai.MOST_CHARACTERS, openai.MOST_VALUES) == (120_000, 1_000)


@pytest.mark.parametrize(
    ("limit", "fitting", "too_large", "what"),
    [
        ("MOST_LEVELS", deep(4), deep(5), "levels"),
        (
            "MOST_LEVELS",
            {**deep(4), "$defs": {"unused": deep(9)}},
            an_object("a", a={"anyOf": [NULL, deep(4)]}),
            "levels",
        ),
        (
            "MOST_VALUES",
            an_object("x", x={"enum": [1, 2, 3, 4]}),
            an_object("x", x={"enum": [1, 2, 3, 4, 5]}),
            "listed values",
        ),
        (
            "MOST_FIELDS",
            an_object(a=TEXT, b=TEXT, c=an_object(d=TEXT)),
            an_object(a=TEXT, b=TEXT, c=an_object(d=TEXT, e=TEXT)),
            "fields",
        ),
        (
            "MOST_CHARACTERS",
            an_object("x", x={"enum": ["abc", 12345]}),
            an_object("x", x={"enum": ["abcd", 12345]}),
            "characters of names and listed values",
        ),
        (
            "MOST_FIELDS",
            {**an_object(a={"$ref": "#/$defs/d"}), "$defs": {"d": an_object(a=TEXT, b=TEXT, c=TEXT)}},
            {**an_object(a={"$ref": "#/$defs/d"}), "$defs": {"d": an_object(a=TEXT, b=TEXT, c=TEXT, d=TEXT)}},
            "fields",
        ),
        ("MOST_CHARACTERS", an_object(abcd=TEXT), an_object(abcde=TEXT), "characters of names and listed values"),
        (
            "MOST_CHARACTERS",
            {**an_object(a={"$ref": "#/$defs/def"}), "$defs": {"def": TEXT}},
            {**an_object(a={"$ref": "#/$defs/defs"}), "$defs": {"defs": TEXT}},
            "characters of names and listed values",
        ),
    ],
    ids=str,
)
def test_a_form_beyond_openais_limits_is_refused(
    monkeypatch: pytest.MonkeyPatch, limit: str, fitting: Json, too_large: Json, what: str
) -> None:
    monkeypatch.setattr(openai, limit, 4)
    assert isinstance(openai.form(fitting), StrictForm)
    assert refusal(too_large) == Inexpressible(f"it has more than 4 {what}", "")


def test_levels_are_counted_through_references_and_circles_once() -> None:
    chain = {f"d{number}": an_object("d", d={"$ref": f"#/$defs/d{number + 1}"}) for number in range(9)}
    schema = {**an_object("d", d={"$ref": "#/$defs/d0"}), "$defs": {**chain, "d9": {"$ref": "#/$defs/d8"}}}
    assert isinstance(openai.form(schema), StrictForm)
    chain["d8"] = an_object("d", d=an_object("d", d=TEXT))
    assert refusal({**schema, "$defs": chain}).reason == "it has more than 10 levels"


def test_anthropics_limits_hold_for_one_tool_as_often_as_a_field_is_reached() -> None:
    def using(times: int, kind: Json) -> Json:
        refs = {f"f{number}": {"$ref": "#/$defs/k"} for number in range(times)}
        return {**an_object(" ".join(refs), **refs), "$defs": {"k": kind}}

    optional, union = an_object(a=TEXT, b=TEXT, c=TEXT, d=TEXT), an_object("a", a={"anyOf": [TEXT, NULL]})
    assert formed(using(6, optional), anthropic).optional == 24
    assert refusal(using(7, optional), anthropic).reason == "it has more than 24 fields that may be left out"
    assert formed(using(16, union), anthropic).unions == 16
    assert refusal(using(17, union), anthropic).reason == "it has more than 16 choices"
    assert formed(using(99, an_object("a", a=TEXT)), anthropic).optional == 0


@pytest.mark.parametrize("name", ["a b", "a/b", "é", "", "n" * 65])
def test_a_field_name_that_anthropic_refuses_is_refused_at_every_depth(name: str) -> None:
    assert refusal_of_field(an_object(**{name: TEXT}), anthropic)[0] == "a field has a name that the provider refuses"
    assert isinstance(openai.form(an_object(**{name: TEXT})), StrictForm)


def test_only_so_many_tools_are_strict_together() -> None:
    small, large = StrictForm({}, (), id, 1, 0), StrictForm({}, (), id, 20, 10)
    assert anthropic.within_limits([small] * 21) == [True] * 20 + [False]
    assert anthropic.within_limits([large, large, small, Inexpressible("")]) == [True, False, True, False]
    assert anthropic.within_limits([StrictForm({}, (), id, 0, 10)] * 2) == [True, False]
    assert anthropic.within_limits([StrictForm({}, (), id, 20, 0)] * 2) == [True, False]
    assert anthropic.within_limits([]) == []


def test_a_schema_that_grows_without_end_when_written_out_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "MOST_NODES", 500)
    twice = {
        f"d{n}": an_object(
            "a b", a={"$ref": f"#/$defs/d{n + 1}", "title": "A"}, b={"$ref": f"#/$defs/d{n + 1}", "title": "B"}
        )
        for n in range(30)
    }
    schema = {**an_object("x", x={"$ref": "#/$defs/d0"}), "$defs": {**twice, "d30": TEXT}}
    for provider in (openai, anthropic):
        assert refusal(schema, provider).reason == "it is too large when it is written out"


def test_a_schema_with_too_much_to_compare_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overlap, "MOST_LOOKS", 500)
    forms = [{"anyOf": [closed("k", k={"const": f"{a} {b}"}) for b in range(6)]} for a in range(8)]
    assert refusal_of_field({"oneOf": forms})[0] == "its choices are too many to be compared"
    twin = [{"anyOf": [closed("k", k=TEXT, **{f"k{a}{b}": TEXT}) for b in range(6)]} for a in range(8)]
    assert refusal_of_field({"oneOf": twin})[0] == "its choices are too many to be compared"


def test_a_long_chain_of_references_is_refused_and_not_followed_for_ever() -> None:
    chain = {f"d{number}": {"type": "array", "items": {"$ref": f"#/$defs/d{number + 1}"}} for number in range(300)}
    schema = {**an_object("x", x={"$ref": "#/$defs/d0"}), "$defs": {**chain, "d300": TEXT}}
    assert refusal(schema).reason == "it takes too much work to see what it means"


def test_neither_the_schema_nor_an_earlier_form_is_changed() -> None:
    schema = an_object("x", x={**TEXT, "maxLength": 5})
    before = repr(schema)
    first, second = formed(schema), formed(schema)
    first.schema["properties"]["x"]["type"] = "integer"
    assert repr(schema) == before
    assert second.schema["properties"]["x"] == TEXT
