"""Arguments that were given under a strict form mean under the original what the model meant."""

import copy
from decimal import Decimal
from typing import Any

import pytest

from adapters.envelopes.strict import undoing
from adapters.envelopes.strict.undoing import undone
from adapters.outside_schema import keywords
from workflows.domain.errors import InvalidConfiguration

Json = dict[str, Any]

TEXT: Json = {"type": "string"}
WHOLE: Json = {"type": "integer"}
TEXT_OR_NULL: Json = {"type": ["string", "null"]}
WHOLE_OR_NULL: Json = {"type": ["integer", "null"]}


def an_object(required: str = "", /, **properties: Any) -> Json:
    return {"type": "object", "properties": properties, "required": required.split()}


def closed(required: str = "", /, **properties: Any) -> Json:
    return {**an_object(required, **properties), "additionalProperties": False}


def read(schema: Json, given: Any) -> Any:
    """The value of a required field of this schema, undone; what was given must not change."""
    whole = {**an_object("x", x=schema), "$defs": schema.pop("$defs", {})}
    arguments = {"x": given}
    before = copy.deepcopy(arguments)
    found = undone(whole, arguments)
    assert arguments == before
    assert found.keys() == {"x"}
    return found["x"]


@pytest.mark.parametrize(
    ("schema", "stays"),
    [
        (TEXT, False),
        ({"enum": ["a", "b"]}, False),
        ({"anyOf": [TEXT, WHOLE]}, False),
        ({"type": ["string", "null"], "not": {"type": "null"}}, False),
        ({"oneOf": [TEXT_OR_NULL, {"type": "null"}]}, False),
        ({"$ref": "#/$defs/text"}, False),
        ({"allOf": [TEXT_OR_NULL, TEXT]}, False),
        (TEXT_OR_NULL, True),
        ({"enum": ["a", None]}, True),
        ({"const": None}, True),
        ({"anyOf": [TEXT, {"type": "null"}]}, True),
        ({"$ref": "#/$defs/text_or_null"}, True),
        ({}, True),
    ],
    ids=str,
)
def test_a_null_of_an_optional_field_stays_only_where_the_original_takes_it(schema: Json, stays: bool) -> None:
    definitions = {"text": TEXT, "text_or_null": TEXT_OR_NULL}
    given = {"id": "1", "note": None}
    whole = {**an_object("id", id=TEXT, note=schema), "$defs": definitions}
    assert undone(whole, given) == (given if stays else {"id": "1"})
    assert undone({**whole, "required": ["id", "note"]}, given) == given


def test_nothing_else_is_changed() -> None:
    schema = an_object(n=WHOLE, s={**TEXT, "default": "x"}, d={"type": "number"}, f={"type": "boolean"})
    given = {"n": "1", "s": "", "d": Decimal("1.0"), "f": 0, "unknown": None, "N": None}
    assert repr(undone(schema, given)) == repr(given)
    assert undone(schema, {}) == {}


@pytest.mark.parametrize("given", [None, "text", 1, [], [{"n": None}], True])
def test_what_is_no_object_stays_as_it_is(given: Any) -> None:
    assert undone(an_object(n=WHOLE), given) == given


def test_nulls_are_taken_out_at_every_depth() -> None:
    line = an_object("sku", sku=TEXT, note=TEXT, tag=TEXT_OR_NULL)
    schema = {**an_object("lines", lines={"type": "array", "items": {"$ref": "#/$defs/line"}}), "$defs": {"line": line}}
    given = [[{"sku": "a", "note": None, "tag": None}], {"lines": [{"sku": None, "note": None, "tag": "t"}, None]}]
    assert read({"type": "array", "items": {"type": "array", "items": line}}, [given[0]]) == [
        [{"sku": "a", "tag": None}]
    ]
    assert undone(schema, given[1]) == {"lines": [{"sku": None, "tag": "t"}, None]}


def test_a_recursive_schema_is_followed_as_deep_as_the_arguments_are() -> None:
    tree = an_object("name", name=TEXT, note=TEXT, kids={"type": "array", "items": {"$ref": "#/$defs/tree"}})
    given: Json = {"name": "leaf", "note": None, "kids": None}
    meant: Json = {"name": "leaf"}
    for _ in range(30):
        given, meant = {"name": "n", "note": None, "kids": [given]}, {"name": "n", "kids": [meant]}
    assert read({"$ref": "#/$defs/tree", "$defs": {"tree": tree}}, given) == meant


def test_what_stands_beside_a_reference_counts_too() -> None:
    amount = an_object("value", value=WHOLE, note=TEXT, memo=TEXT_OR_NULL)
    beside = {"$ref": "#/$defs/amount", "properties": {"memo": TEXT, "more": WHOLE}, "required": ["note"]}
    given = {"value": 1, "note": None, "memo": None, "more": None}
    assert read({**beside, "$defs": {"amount": amount}}, given) == {"value": 1, "note": None}


def test_a_field_that_can_never_be_there_is_left_to_be_refused() -> None:
    assert read(an_object(a=TEXT, no=False), {"a": None, "no": None}) == {"no": None}
    shut_out = {**closed(a=TEXT), "allOf": [an_object(b=TEXT)]}
    assert read(shut_out, {"a": None, "b": None}) == {"b": None}


def test_items_that_differ_by_place_and_undeclared_fields_stay_as_they_are() -> None:
    given = [{"n": None}]
    assert read({"type": "array", "prefixItems": [an_object(n=WHOLE)]}, given) == given
    assert read({**an_object(), "patternProperties": {"^n": WHOLE}}, {"n": None}) == {"n": None}


# -- choices

BY_TAG = [
    closed("kind", kind={"const": "a"}, n=WHOLE),
    closed("kind", kind={"const": "b"}, n=WHOLE_OR_NULL),
]


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
@pytest.mark.parametrize(
    ("forms", "given", "meant"),
    [
        (BY_TAG, {"kind": "a", "n": None}, {"kind": "a"}),
        (BY_TAG, {"kind": "b", "n": None}, {"kind": "b", "n": None}),
        (BY_TAG, {"kind": "c", "n": None}, {"kind": "c", "n": None}),
        ([an_object(n=WHOLE), {"type": "null"}], {"n": None}, {}),
        ([an_object(n=WHOLE), TEXT], {"n": None}, {}),
        ([{"type": "array", "items": an_object(n=WHOLE)}, closed("m", m=WHOLE)], [{"n": None}], [{}]),
        ([closed("a", a=TEXT, n=WHOLE), closed("b", b=TEXT, n=WHOLE)], {"b": "x", "n": None}, {"b": "x"}),
        ([closed("a", a=TEXT, n=WHOLE), closed("a", a=TEXT, m=WHOLE)], {"a": "x", "m": None}, {"a": "x"}),
        ([closed(n=WHOLE, m=WHOLE), closed(n=WHOLE)], {"n": None}, {}),
        ([closed(n=WHOLE), closed(n=WHOLE_OR_NULL)], {"n": None}, {"n": None}),
        (
            [an_object("a", a=TEXT, n=WHOLE), an_object("a", a=WHOLE, n=WHOLE_OR_NULL)],
            {"a": 1, "n": None},
            {"a": 1, "n": None},
        ),
        (
            [an_object("a", a=TEXT, n=WHOLE), an_object("a", a=WHOLE, n=WHOLE_OR_NULL)],
            {"a": "1", "n": None},
            {"a": "1"},
        ),
        (
            [an_object("a", a=TEXT, n=WHOLE), an_object("a", a=WHOLE, n=WHOLE)],
            {"a": True, "n": None},
            {"a": True, "n": None},
        ),
        (
            [an_object(n=WHOLE, m=TEXT), an_object("a", a=WHOLE)],
            {"n": None, "m": "x", "z": None},
            {"m": "x", "z": None},
        ),
        ([an_object(n=WHOLE_OR_NULL), an_object(n=WHOLE, p=TEXT)], {"n": None, "p": "x"}, {"p": "x"}),
        (
            [{**closed(n=WHOLE), "patternProperties": {"^x": WHOLE}}, closed("q", q=TEXT)],
            {"x1": 1, "n": None},
            {"x1": 1},
        ),
        (
            [an_object("t", t={"enum": [1.5]}, n=WHOLE), an_object("t", t={"const": 2})],
            {"t": Decimal("1.5"), "n": None},
            {"t": Decimal("1.5")},
        ),
        ([{"anyOf": BY_TAG}, closed("other", other=TEXT)], {"kind": "a", "n": None}, {"kind": "a"}),
        (
            [closed("t", t={"const": True}, n=WHOLE), closed("t", t={"const": 1}, n=WHOLE_OR_NULL)],
            {"t": 1, "n": None},
            {"t": 1, "n": None},
        ),
        ([closed("p", p=closed(n=WHOLE)), closed("p", p=closed(m=WHOLE))], {"p": {"m": None}}, {"p": {}}),
    ],
    ids=str,
)
def test_of_several_forms_the_one_that_the_original_takes_is_meant(
    keyword: str, forms: list[Json], given: Any, meant: Any
) -> None:
    assert read({keyword: copy.deepcopy(forms)}, given) == meant


def test_a_fault_elsewhere_does_not_hide_which_form_is_meant() -> None:
    forms = [an_object("kind", kind={"const": kind}, n=WHOLE, m=WHOLE) for kind in ("a", "b")]
    assert read({"oneOf": forms}, {"kind": "a", "n": None, "m": "x"}) == {"kind": "a", "m": "x"}


def test_a_tag_that_was_left_out_rules_nothing_out() -> None:
    forms = [closed(kind={"const": "a"}, n=WHOLE), closed("z", z=TEXT)]
    assert read({"anyOf": forms}, {"kind": None, "n": 1}) == {"n": 1}


def test_what_stands_beside_a_choice_is_read_with_each_form() -> None:
    schema = {
        **an_object(id=TEXT),
        "anyOf": [an_object("k", k={"const": kind}, **{kind: WHOLE}) for kind in ("a", "b")],
    }
    assert read(schema, {"id": None, "k": "b", "b": None}) == {"k": "b"}


def test_conditions_do_not_hide_which_fields_were_left_out() -> None:
    schema = {**an_object(a=TEXT, b=TEXT, c=TEXT), "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
    assert read(schema, {"a": "x", "b": None, "c": None}) == {"a": "x"}
    assert read(schema, {"a": None, "b": None, "c": None}) == {}
    assert read({**an_object(a=TEXT), "anyOf": [closed()]}, {"a": None}) == {}


def test_two_choices_at_one_place_are_both_read() -> None:
    first, second = ({"anyOf": [an_object(name, **{name: WHOLE}) for name in pair]} for pair in ("ab", "cd"))
    schema = {"type": "object", "allOf": [first, second]}
    assert read(schema, {"a": 1, "c": 1}) == {"a": 1, "c": 1}


# -- bounds of the work


def test_forms_that_take_too_long_to_tell_apart_leave_the_arguments_as_they_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    forms = [
        an_object("a", a=TEXT, n=WHOLE),
        an_object("a", a={"type": ["string", "integer"]}, n=WHOLE, m=WHOLE_OR_NULL),
    ]
    items = {"type": "array", "items": {"anyOf": forms}}
    given = [{"a": "x", "n": None}] * 100
    assert read(copy.deepcopy(items), given) == [{"a": "x"}] * 100
    given = [{"a": "x", "n": None} for _ in range(100)]
    assert read(copy.deepcopy(items), given) == [{"a": "x"}] * 100
    monkeypatch.setattr(keywords, "MOST_STEPS", 1_000)
    assert read(items, given) == given


def test_too_many_looks_leave_the_arguments_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    items = {"type": "array", "items": an_object(n=WHOLE)}
    monkeypatch.setattr(undoing, "MOST_VISITS", 4)
    assert read(items, [{"n": None}, {"n": None}]) == [{}, {}]
    assert read(items, [{"n": None}, {"n": None}, {"n": None}]) == [{"n": None}] * 3


def test_each_place_is_looked_at_once_however_many_forms_share_it(monkeypatch: pytest.MonkeyPatch) -> None:
    forms = [{**an_object(kid={"$ref": "#/$defs/node"}, n=WHOLE), "maxProperties": most} for most in (2, 3, 4)]
    given: Json = {"n": None}
    for _ in range(5):
        given = {"kid": given, "n": None}
    monkeypatch.setattr(undoing, "MOST_VISITS", 40)
    meant = read({"$ref": "#/$defs/node", "$defs": {"node": {"anyOf": forms}}}, given)
    assert "None" not in repr(meant)


def test_arguments_nested_without_end_stay_as_they_are() -> None:
    given: Any = []
    for _ in range(5_000):
        given = [given]
    schema = {
        **an_object(x={"$ref": "#/$defs/lists"}),
        "$defs": {"lists": {"type": "array", "items": {"$ref": "#/$defs/lists"}}},
    }
    arguments = {"x": given}
    assert undone(schema, arguments) is arguments


def test_a_schema_that_cannot_be_read_is_a_fault_of_the_configuration() -> None:
    with pytest.raises(InvalidConfiguration):
        undone({"type": "array"}, {})
