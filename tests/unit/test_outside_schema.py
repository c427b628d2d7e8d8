"""Schemas from outside are held strictly or not at all, and a refusal repeats nothing that was received."""

import copy
import time
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any, Final

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from adapters import strict_json
from adapters.outside_schema import MOST_DETAILS, OutsideSchema
from adapters.outside_schema.patterns import PatternRefused, pattern
from workflows.domain.errors import CallRefused, Detail, InvalidConfiguration

Json = dict[str, Any]

SECRET = "hunter2-do-not-repeat"
CODES = {"unknown_field", "missing_field", "invalid_type", "invalid_value"}
DRAFT_07 = "http://json-schema.org/draft-07/schema#"


def an_object(**properties: Any) -> Json:
    return {"type": "object", "properties": properties}


TREE: Json = an_object(name={"type": "string"}, kids={"type": "array", "items": {"$ref": "#/$defs/tree"}})
PAYMENT: Json = {
    **an_object(
        amount={"$ref": "#/$defs/amount", "maxProperties": 2},
        note={"type": "string", "minLength": 1},
        tag={"type": ["string", "null"]},
        count={"type": "integer", "minimum": 1, "maximum": 9},
        share={"type": "number", "multipleOf": 0.1},
        mode={
            "oneOf": [
                {**an_object(kind={"const": "a"}, left={"type": "integer"}), "required": ["kind"]},
                {**an_object(kind={"const": "b"}, right={"type": "string"}), "required": ["kind"]},
            ]
        },
        tree={"$ref": "#/$defs/tree"},
        labels={"type": "object", "additionalProperties": {"type": "string"}},
        flags={"type": "array", "items": {"type": "boolean"}, "uniqueItems": True},
    ),
    "required": ["amount"],
    "$defs": {
        "amount": {
            **an_object(value={"type": "string", "pattern": "^[0-9]+$"}, currency={"enum": ["KRW", "USD"]}),
            "required": ["value", "currency"],
        },
        "tree": TREE,
    },
}
AMOUNT = {"value": "12000", "currency": "KRW"}
FULL: Json = {
    "amount": AMOUNT,
    "note": "n",
    "tag": None,
    "count": 3,
    "share": Decimal("0.3"),
    "mode": {"kind": "a", "left": 1},
    "tree": {"name": "t", "kids": [{"name": "u", "kids": []}]},
    "labels": {"any": "thing"},
    "flags": [True, False],
}


def details_of(schema: Any, value: Any, **options: Any) -> tuple[Detail, ...]:
    with pytest.raises(CallRefused) as refused:
        OutsideSchema(schema, **options).validated(value)
    assert refused.value.code == "invalid_arguments"
    assert 0 < len(refused.value.details) <= MOST_DETAILS
    assert {detail.code for detail in refused.value.details} <= CODES
    return refused.value.details


def places(schema: Any, value: Any) -> list[tuple[str, str]]:
    return [(detail.path, detail.code) for detail in details_of(schema, value)]


def fits(schema: Any, value: Any) -> bool:
    try:
        return OutsideSchema(schema).validated(value) is value
    except CallRefused:
        return False


def field_fits(schema: Any, value: Any) -> bool:
    return fits(an_object(field=schema), {"field": value})


# -- taken as it is, or not at all


def test_what_fits_is_returned_itself_and_unchanged() -> None:
    before = copy.deepcopy(FULL)
    assert OutsideSchema(PAYMENT).validated(FULL) is FULL
    assert before == FULL


def test_no_default_is_filled_in() -> None:
    value: Json = {}
    assert OutsideSchema(an_object(n={"type": "integer", "default": 3})).validated(value) == {}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"count": "3"}, Detail("/count", "invalid_type", "an integer")),
        ({"count": True}, Detail("/count", "invalid_type", "an integer")),
        ({"count": Decimal("3.0")}, Detail("/count", "invalid_type", "an integer")),
        ({"count": 0}, Detail("/count", "invalid_value", "at least 1")),
        ({"count": 10**400}, Detail("/count", "invalid_value", "at most 9")),
        ({"share": True}, Detail("/share", "invalid_type", "a number")),
        ({"share": "0.3"}, Detail("/share", "invalid_type", "a number")),
        ({"share": Decimal("0.35")}, Detail("/share", "invalid_value", "a multiple of 0.1")),
        ({"share": Decimal("1e-300")}, Detail("/share", "invalid_value", "a multiple of 0.1")),
        ({"note": ""}, Detail("/note", "invalid_value", "at least 1 long")),
        ({"note": None}, Detail("/note", "invalid_type", "a string")),
        ({"tag": 1}, Detail("/tag", "invalid_type", "a string or null")),
        ({"amount": AMOUNT | {"value": 1}}, Detail("/amount/value", "invalid_type", "a string")),
        ({"amount": AMOUNT | {"value": "1\n"}}, Detail("/amount/value", "invalid_value", "text that matches ^[0-9]+$")),
        ({"amount": AMOUNT | {"value": "１"}}, Detail("/amount/value", "invalid_value", "text that matches ^[0-9]+$")),
        ({"amount": AMOUNT | {"currency": "krw"}}, Detail("/amount/currency", "invalid_value", 'one of "KRW", "USD"')),
        ({"amount": {"value": "1"}}, Detail("/amount/currency", "missing_field", "a value")),
        ({"amount": AMOUNT | {"unit": "thousand"}}, Detail("/amount/unit", "unknown_field", "no such field")),
        ({"hours": 1}, Detail("/hours", "unknown_field", "no such field")),
        ({"Note": "n"}, Detail("/Note", "unknown_field", "no such field")),
        ({"note\u200b": "n"}, Detail("/?", "unknown_field", "no such field")),
        ({"mode": {"kind": "a", "left": "1"}}, Detail("/mode/left", "invalid_type", "an integer")),
        ({"mode": {"kind": "a", "right": "x"}}, Detail("/mode/right", "unknown_field", "no such field")),
        ({"mode": {"kind": "c"}}, Detail("/mode", "invalid_value", "a value of exactly one of the declared forms")),
        (
            {"tree": {"kids": [{"kids": [{"nam": "x"}]}]}},
            Detail("/tree/kids/0/kids/0/nam", "unknown_field", "no such field"),
        ),
        ({"labels": {"a": 1}}, Detail("/labels/a", "invalid_type", "a string")),
        ({"flags": [True, True]}, Detail("/flags", "invalid_value", "each item once")),
        ({"flags": {}}, Detail("/flags", "invalid_type", "a list")),
    ],
    ids=str,
)
def test_each_fault_has_its_place_and_its_code(change: Json, expected: Detail) -> None:
    assert expected in details_of(PAYMENT, FULL | change)


def test_faults_of_several_kinds_are_told_at_once() -> None:
    found = places(PAYMENT, {"count": "x", "hours": 1, "note": ""})
    assert found == [
        ("/note", "invalid_value"),
        ("/count", "invalid_type"),
        ("/amount", "missing_field"),
        ("/hours", "unknown_field"),
    ]


@pytest.mark.parametrize("value", [None, [], "text", 17, True, [FULL]])
def test_what_is_no_object_is_refused(value: Any) -> None:
    assert details_of(PAYMENT, value) == (Detail("", "invalid_type", "an object"),)


def test_numbers_keep_every_digit() -> None:
    schema = an_object(n={"type": "integer", "maximum": 9007199254740993}, d={"type": "number", "maximum": 0.3})
    exact = {"n": 9007199254740993, "d": Decimal("0.3")}
    assert OutsideSchema(schema).validated(exact) == exact
    assert places(schema, {"n": 9007199254740994}) == [("/n", "invalid_value")]
    assert places(schema, {"d": Decimal("0.3000000000000000000000000001")}) == [("/d", "invalid_value")]


@pytest.mark.parametrize(
    ("declared", "given", "taken"),
    [
        (1, 1, True),
        (1, Decimal("1.0"), False),
        (1, True, False),
        (True, 1, False),
        (1.0, 1, True),
        (1.5, Decimal("1.50"), True),
        ([1], [True], False),
        ({"a": [1]}, {"a": [1]}, True),
        ({"a": 1}, {"a": Decimal("1.0")}, False),
        (None, False, False),
        ("1", 1, False),
    ],
    ids=str,
)
@pytest.mark.parametrize("keyword", ["enum", "const"])
def test_a_declared_value_is_met_exactly(keyword: str, declared: Any, given: Any, taken: bool) -> None:
    assert field_fits({keyword: [declared] if keyword == "enum" else declared}, given) is taken


@pytest.mark.parametrize("items", [[1, Decimal("1.0")], [{"a": 0}, {"a": Decimal("-0.0")}], [[10**30], [10**30]]])
def test_equal_numbers_are_no_two_items(items: list[Any]) -> None:
    schema = {"type": "array", "uniqueItems": True, "items": {"enum": [1, 1.0, {"a": 0.0}, [10**30]]}}
    assert not field_fits(schema, items)


def test_true_and_one_are_two_items() -> None:
    assert field_fits({"type": "array", "uniqueItems": True, "items": {"type": ["integer", "boolean"]}}, [1, True, 0])


# -- closed at every depth, without narrowing


def test_branches_of_all_of_may_each_name_some_fields() -> None:
    schema = an_object(
        a={
            "type": "object",
            "allOf": [
                an_object(x={"type": "integer"}, deep=an_object(p={"type": "integer"})),
                an_object(y={"type": "integer"}, deep=an_object(q={"type": "integer"})),
            ],
        }
    )
    assert fits(schema, {"a": {"x": 1, "y": 2, "deep": {"p": 1, "q": 2}}})
    assert places(schema, {"a": {"z": 1, "deep": {"r": 1}}}) == [
        ("/a/z", "unknown_field"),
        ("/a/deep/r", "unknown_field"),
    ]


def test_a_reference_and_its_siblings_both_apply() -> None:
    schema = {
        **an_object(amount={"$ref": "#/$defs/amount", "properties": {"note": {"type": "string"}}, "maxProperties": 2}),
        "$defs": {"amount": {**an_object(value={"type": "integer", "minimum": 5}), "required": ["value"]}},
    }
    assert fits(schema, {"amount": {"value": 5, "note": "n"}})
    assert places(schema, {"amount": {"value": 4}}) == [("/amount/value", "invalid_value")]
    assert places(schema, {"amount": {"note": 1}}) == [
        ("/amount/value", "missing_field"),
        ("/amount/note", "invalid_type"),
    ]
    assert places(schema, {"amount": {"value": 5, "tip": 1}}) == [("/amount/tip", "unknown_field")]


def test_one_of_stays_exclusive() -> None:
    schema = an_object(
        mode={
            "type": "object",
            "oneOf": [
                {"properties": {"a": {"type": "integer"}}, "required": ["a"]},
                {"properties": {"b": {"type": "integer"}}, "required": ["b"]},
            ],
        }
    )
    assert fits(schema, {"mode": {"a": 1}})
    assert ("/mode", "invalid_value") in places(schema, {"mode": {"a": 1, "b": 2}})


def test_only_the_branches_that_fit_say_which_fields_there_are() -> None:
    schema = an_object(
        mode={"anyOf": [an_object(a={"type": "integer"}), {**an_object(b={"type": "integer"}), "required": ["b"]}]}
    )
    assert fits(schema, {"mode": {"a": 1, "b": 2}})
    assert places(schema, {"mode": {"a": 1, "b": "x"}}) == [("/mode/b", "unknown_field")]


def test_conditions_choose_which_fields_there_are() -> None:
    schema = an_object(
        c={
            **an_object(kind={"type": "string"}),
            "if": {"properties": {"kind": {"const": "a"}}},
            "then": {"properties": {"x": {"type": "integer"}}},
            "else": {"properties": {"y": {"type": "integer"}}},
            "dependentSchemas": {"kind": {"properties": {"z": {"type": "integer"}}}},
        }
    )
    assert fits(schema, {"c": {"kind": "a", "x": 1, "z": 1}})
    assert places(schema, {"c": {"kind": "b", "x": 1}}) == [("/c/x", "unknown_field")]
    assert places(schema, {"c": {"kind": "a", "y": 1}}) == [("/c/y", "unknown_field")]


def test_what_the_schema_closes_itself_stays_closed() -> None:
    schema = an_object(
        outer={
            "type": "object",
            "allOf": [{**an_object(x={"type": "integer"}), "unevaluatedProperties": False}],
            "properties": {"y": {"type": "integer"}},
        },
        names={"type": "object", "patternProperties": {"^x-": {"type": "integer"}}, "propertyNames": {"maxLength": 4}},
        pair={"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "items": False},
        some={"type": "array", "contains": {"const": 1}, "items": {"type": "integer"}},
    )
    assert fits(schema, {"names": {"x-a": 1}, "pair": [1, "x"], "some": [2, 1]})
    assert places(schema, {"outer": {"x": 1, "y": 2}}) == [("/outer/y", "unknown_field")]
    assert places(schema, {"names": {"x-a": 1, "other": 1}})[0][1] == "unknown_field"
    assert ("/names/?", "invalid_type") in places(schema, {"names": {"x-a": "1"}})
    assert places(schema, {"pair": [1, "x", 2]})[0][1] == "invalid_value"
    assert places(schema, {"some": [2]}) == [("/some", "invalid_value")]


def test_a_tool_without_arguments_takes_none() -> None:
    assert fits(an_object(), {})
    assert places(an_object(), {"x": 1}) == [("/x", "unknown_field")]


# -- what takes nothing


@pytest.mark.parametrize(
    ("field", "given", "expected"),
    [
        (False, 1, [("", "unknown_field")]),
        ({"anyOf": [False]}, 1, [("", "invalid_value")]),
        ({"oneOf": [False, False]}, 1, [("", "invalid_value")]),
        (an_object() | {"anyOf": [False]}, "x", [("", "invalid_type"), ("", "invalid_value")]),
        ({"anyOf": [False, {"type": "string"}]}, 1, [("", "invalid_type")]),
        ({"anyOf": [False, {"type": "string", "minLength": 2}]}, "x", [("", "invalid_value")]),
        ({"anyOf": [{"$ref": "#/$defs/nothing"}, {"type": "string"}]}, 1, [("", "invalid_type")]),
        ({"oneOf": [{"allOf": [True, False]}, {"type": "string"}]}, 1, [("", "invalid_type")]),
        ({"anyOf": [{"oneOf": [False]}]}, 1, [("", "invalid_value")]),
        ({"type": "string", "allOf": [False]}, "x", [("", "unknown_field")]),
        ({"type": "string", "not": True}, "x", [("", "invalid_value")]),
        ({"type": "string", "if": True, "then": False}, "x", [("", "unknown_field")]),
        ({"type": "string", "if": False, "else": False}, "x", [("", "unknown_field")]),
        ({"$ref": "#/$defs/nothing"}, 1, [("", "unknown_field")]),
        ({"type": "array", "items": False}, [1], [("", "invalid_value"), ("/0", "unknown_field")]),
        ({"type": "array", "prefixItems": [False], "items": False}, [1], [("/0", "unknown_field")]),
        ({"type": "array", "items": {"type": "string"}, "contains": False}, ["x"], [("", "invalid_value")]),
        (an_object(b=False), {"b": 1}, [("/b", "unknown_field")]),
        ({"type": "object", "patternProperties": {"^b": False}}, {"b": 1}, [("/b", "unknown_field")]),
        (an_object() | {"additionalProperties": False}, {"b": 1}, [("/b", "unknown_field")]),
        (an_object() | {"unevaluatedProperties": False}, {"b": 1}, [("/b", "unknown_field")]),
        (an_object(b={"type": "string"}) | {"propertyNames": False}, {"b": "x"}, [("/b", "unknown_field")]),
        (an_object(b={"type": "string"}) | {"dependentSchemas": {"b": False}}, {"b": "x"}, [("", "unknown_field")]),
        ({"anyOf": [an_object(b=False), {"type": "integer"}]}, {"b": 1}, [("/b", "unknown_field")]),
    ],
    ids=str,
)
def test_where_the_schema_takes_nothing_the_fault_has_its_place(
    field: Any, given: Any, expected: list[tuple[str, str]]
) -> None:
    schema = an_object(field=field) | {"$defs": {"nothing": False}}
    assert places(schema, {"field": given}) == [(f"/field{path}", code) for path, code in expected]


# -- formats and patterns


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        (
            "date-time",
            [
                "2026-01-31T09:30:00Z",
                "2026-01-31T09:30:00.123456789+09:00",
                "2016-12-31T23:59:60Z",
                "2017-01-01T08:59:60+09:00",
            ],
            [
                "2026-01-31T09:30:00",
                "2026-02-30T09:30:00Z",
                "2026-01-31 09:30:00Z",
                "2026-01-31T24:00:00Z",
                "2026-01-31T09:30:60Z",
                "2026-01-31T09:30:00Z\n",
                "2026-01-31",
                "２026-01-31T09:30:00Z",
                "2026-01-31T09:30:00+24:00",
            ],
        ),
        ("date", ["2024-02-29"], ["2023-02-29", "2024-2-29", "2024-02-29\n", "20240229", "0000-01-01"]),
        ("time", ["09:30:00Z"], ["09:30:00", "9:30:00Z"]),
        ("email", ["a.b+c@example.org"], ["a@b@c", "a b@c.d", "@c.d", "a@", "a@-b.c", "a@b.c\n", "a" * 300 + "@b.c"]),
        (
            "uri",
            ["https://example.org/a?b=%20#c", "urn:x:y"],
            ["example.org", "/a/b", "https://e x", "https://e/%2", "http://é"],
        ),
        (
            "uuid",
            ["123e4567-e89b-12d3-a456-426614174000"],
            ["123e4567e89b12d3a456426614174000", "{123e4567-e89b-12d3-a456-426614174000}"],
        ),
        ("ipv4", ["192.0.2.1"], ["192.0.2", "192.0.2.01", "256.0.0.1", "192.0.2.1\n"]),
        ("ipv6", ["2001:db8::1"], ["2001:db8::1%eth0", "::1::", "192.0.2.1", "[::1]"]),
        ("hostname", ["a.example"], ["a_b.example", "-a", "a..b", "a" * 64]),
    ],
)
def test_formats_are_asserted(name: str, good: list[str], bad: list[str]) -> None:
    schema = {"type": "string", "format": name}
    assert [text for text in good if not field_fits(schema, text)] == []
    assert [text for text in bad if field_fits(schema, text)] == []


@pytest.mark.parametrize(
    ("source", "good", "bad"),
    [
        ("^A1$", ["A1"], ["A1\n", "\nA1", "xA1"]),
        (r"^\d+$", ["123"], ["１２３", "12a", ""]),
        (r"^\w+$", ["aZ_9"], ["é", "a-b"]),
        (r"^\S+$", ["é"], ["a\u00a0b", "\ufeff"]),
        (r"^.$", ["a", "é", "😀"], ["\n", "\u2028", "ab"]),
        (r"^[\d-x]$", ["5", "-", "x"], ["a"]),
        (r"^[^\d]$", ["a"], ["5"]),
        (r"^[a[&&b]$", ["a", "[", "&", "b"], ["c"]),
        (r"^[+-]?\d{1,3}(?:\.\d+)?$", ["-1.5", "+12"], ["1.", "1234"]),
        (r"^\/a\-b\.c$", ["/a-b.c"], ["/a-bxc"]),
        (r"^\u00e9\x41\ud83d\ude00\u{1f600}$", ["éA😀😀"], ["é"]),
        (r"^\p{L}+$", ["é"], ["1"]),
        ("^{{x}}$", ["{{x}}"], ["x"]),
        (r"b", ["abc"], ["ac"]),
        ("^(?<year>[0-9]{4})$", ["2026"], ["26"]),
        (r"\bcat\b", ["a cat."], ["concat"]),
        ("^(a|b)*?$", ["abba", ""], ["c"]),
    ],
)
def test_patterns_mean_what_they_say_elsewhere(source: str, good: list[str], bad: list[str]) -> None:
    assert [text for text in good if not pattern(source).fits(text)] == []
    assert [text for text in bad if pattern(source).fits(text)] == []


@pytest.mark.parametrize(
    "source",
    [
        "(?=a)b",
        "(?!a)b",
        "(?<=a)b",
        r"(a)\1",
        "(?i)a",
        "(?P<n>a)",
        "a++",
        "a**",
        "*a",
        "[]",
        "[]a]",
        "[z-a]",
        "(a",
        "a)",
        "[a",
        "\\",
        r"\q",
        r"\cA",
        r"\ud800",
        "a{3,1}",
        "(a{1,1000}){1,1000}",
        "a" * 3_000,
        r"\u{110000}",
        "(?#x)",
    ],
)
def test_patterns_that_cannot_be_held_are_refused(source: str) -> None:
    with pytest.raises(PatternRefused):
        pattern(source)
    with pytest.raises(InvalidConfiguration):
        OutsideSchema(an_object(field={"type": "string", "pattern": source}))


# -- what cannot be held is refused when it is loaded


@pytest.mark.parametrize(
    "schema",
    [
        None,
        True,
        [],
        "text",
        {},
        {"type": "array", "items": {"type": "integer"}},
        {"type": ["object", "null"], "properties": {}},
        {"type": "object"},
        {"type": "object", "additionalProperties": True},
        an_object() | {"additionalProperties": {}},
        an_object() | {"unevaluatedProperties": True},
        an_object(meta={"type": "object"}),
        an_object(meta={}),
        an_object(meta=True),
        an_object(meta={"description": "anything"}),
        an_object(meta={"type": ["string", "object"]}),
        an_object(meta={"minLength": 1}),
        an_object(list={"type": "array"}),
        an_object(list={"type": "array", "items": {}}),
        an_object(list={"type": "array", "prefixItems": [{"type": "integer"}]}),
        an_object(deep={"anyOf": [an_object(a={"type": "integer"}), {"type": "object"}]}),
        an_object(deep={"allOf": [an_object(a={"type": "object"})], "type": "object"}),
        an_object(deep={"$ref": "#/$defs/open"}) | {"$defs": {"open": {"type": "object"}}},
        an_object(deep={"$ref": "https://example.org/schema.json"}),
        an_object(deep={"$ref": "other.json#/x"}),
        an_object(deep={"$ref": "#/$defs/absent"}),
        an_object(deep={"$ref": "#/required"}) | {"required": ["deep"]},
        an_object(deep={"$dynamicRef": "#node"}),
        an_object(deep={"$id": "https://example.org/inner", "type": "string"}),
        an_object(deep={"$schema": DRAFT_07, "type": "string"}),
        an_object(a={"$ref": "#/$defs/a"})
        | {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"allOf": [{"$ref": "#/$defs/a"}]}}},
        an_object(a={"type": "string", "nullable": True}),
        an_object(a={"type": "text"}),
        an_object(a={"type": "string", "minLength": -1}),
        an_object(a={"type": "string", "minLength": "1"}),
        an_object(a={"type": "string", "format": "regex"}),
        an_object(a={"type": "string", "default": float("nan")}),
        an_object(a={"type": "number", "exclusiveMinimum": True}),
        an_object() | {"$schema": "https://example.org/own-dialect"},
        an_object() | {"$schema": "http://json-schema.org/draft-04/schema#"},
        an_object() | {"$schema": 7},
        an_object() | {"dependencies": {"a": ["b"]}},
        an_object(a={"$ref": "#/definitions/a", "maxLength": 3})
        | {"$schema": DRAFT_07, "definitions": {"a": {"type": "string"}}},
        an_object(a={"type": "array", "items": [{"type": "string"}]}) | {"$schema": DRAFT_07},
        an_object(a={"type": "string", "description": "x" * 300_000}),
    ],
    ids=lambda schema: str(schema)[:80],
)
def test_a_schema_that_cannot_be_held_is_refused_at_load(schema: Any) -> None:
    with pytest.raises(InvalidConfiguration) as refused:
        OutsideSchema(schema)
    assert refused.value.code == "invalid_tool_schema"
    assert str(refused.value).startswith("A tool's schema cannot be held strictly: ")


def test_an_endlessly_deep_schema_is_refused_at_load() -> None:
    schema: Json = an_object()
    for _ in range(5_000):
        schema = an_object(a=schema)
    with pytest.raises(InvalidConfiguration):
        OutsideSchema(schema)


def chain(length: int, link: Callable[[Json], Json] = lambda following: following) -> Json:
    """Definitions each of which refers to the next."""
    links = {f"d{place}": link({"$ref": f"#/$defs/d{place + 1}"}) for place in range(length)}
    return an_object(a={"$ref": "#/$defs/d0"}) | {"$defs": links | {f"d{length}": {"type": "string"}}}


LINKS: Final[dict[str, Callable[[Json], Json]]] = {
    "$ref": lambda following: following,
    "allOf": lambda following: {"allOf": [following, following]},
    "anyOf": lambda following: {"anyOf": [following, following]},
    "oneOf": lambda following: {"oneOf": [{"type": "integer"}, following]},
    "not": lambda following: {"type": "string", "not": following},
    "then": lambda following: {"type": "string", "if": True, "then": following},
    "dependentSchemas": lambda following: {"type": "string", "dependentSchemas": {"a": following}},
}


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("keyword", LINKS)
def test_a_long_chain_of_references_is_refused_at_load(keyword: str, backwards: bool) -> None:
    schema = chain(1_000, LINKS[keyword])
    if backwards:
        schema["$defs"] = dict(reversed(schema["$defs"].items()))
    with pytest.raises(InvalidConfiguration) as refused:
        OutsideSchema(schema)
    assert (refused.value.code, "too long" in str(refused.value)) == ("invalid_tool_schema", True)


def test_the_longest_chain_is_refused_like_any_other() -> None:
    with pytest.raises(InvalidConfiguration, match="too long"):
        OutsideSchema(chain(5_000))


def test_a_chain_that_goes_into_the_value_may_be_long() -> None:
    schema = chain(1_000, lambda following: an_object(a=following))
    assert fits(schema, {"a": {"a": {"a": {}}}})
    assert places(schema, {"a": {"a": {"b": {}}}}) == [("/a/a/b", "unknown_field")]


def test_what_is_named_twice_at_each_step_of_a_chain_is_read_once() -> None:
    began = time.monotonic()
    for keyword in ("allOf", "anyOf"):
        OutsideSchema(chain(30, LINKS[keyword]))
        with pytest.raises(InvalidConfiguration):
            OutsideSchema(chain(30, LINKS[keyword]) | {"$defs": chain(30, LINKS[keyword])["$defs"] | {"d30": {}}})
    assert time.monotonic() - began < 10


@pytest.mark.parametrize("keyword", ["items", "not", "properties", "allOf", "anyOf", "if"])
def test_nesting_to_the_depth_of_strict_json_is_no_accident(keyword: str) -> None:
    for depth in range(20, 70):
        inner: Any = {"type": "string"}
        for _ in range(depth):
            inner = {
                keyword: [inner]
                if keyword in ("allOf", "anyOf")
                else {"a": inner}
                if keyword == "properties"
                else inner
            }
        try:
            OutsideSchema(an_object(a=inner), allow_free_form=True).validated({"a": "x"})
        except (InvalidConfiguration, CallRefused):
            continue


@pytest.mark.parametrize(
    "schema",
    [
        an_object() | {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "https://example.org/tool"},
        an_object(a={"$ref": "#/definitions/a", "description": "d"})
        | {"$schema": DRAFT_07, "definitions": {"a": {"type": "string"}}},
        an_object(a={"type": "integer", "format": "int64"}),
        an_object(a={"type": "string", "x-order": 3, "examples": ["x"]}),
        an_object(a={"$ref": "#named"}) | {"$defs": {"a": {"$anchor": "named", "type": "string"}}},
        an_object(a={"type": "object", "properties": {"b": {"type": "string"}}, "anyOf": [{"required": ["b"]}]}),
        an_object(a={"type": "array", "prefixItems": [{"type": "string"}], "maxItems": 1}),
        an_object(a={"type": "object", "maxProperties": 3, "additionalProperties": {"type": "integer"}}),
    ],
    ids=lambda schema: str(schema)[:80],
)
def test_a_schema_that_can_be_held_is_taken(schema: Any) -> None:
    assert fits(schema, {})


def test_free_form_is_taken_when_it_is_allowed_and_named_fields_stay_closed() -> None:
    schema = an_object(meta={"type": "object"}, list={"type": "array"}, known=an_object(a={"type": "integer"}))
    value = {"meta": {"any": [{"thing": 1}]}, "list": [{"x": {}}], "known": {"a": 1}}
    assert OutsideSchema(schema, allow_free_form=True).validated(value) is value
    found = details_of(schema, {"meta": {}, "known": {"b": 1}, "other": 1}, allow_free_form=True)
    assert [(each.path, each.code) for each in found] == [("/known/b", "unknown_field"), ("/other", "unknown_field")]


# -- bounded


def doubling(depth: int) -> Json:
    """Each level has two forms that are both tried to the bottom."""
    forms = [an_object(next={"$ref": "#/$defs/level"}, kind={"const": kind}) | {"required": ["kind"]} for kind in "ab"]
    return an_object(top={"$ref": "#/$defs/level"}) | {"$defs": {"level": {"oneOf": forms}}}


def test_a_value_that_asks_for_endless_work_is_refused_soon() -> None:
    value: Json = {"kind": "b"}
    for _ in range(55):
        value = {"next": value, "kind": "b"}
    began = time.monotonic()
    assert places(doubling(55), {"top": value}) == [("", "invalid_value")]
    assert time.monotonic() - began < 20


def test_a_text_cannot_hold_the_engine_of_patterns() -> None:
    began = time.monotonic()
    assert not field_fits({"type": "string", "pattern": "^(a+)+$"}, "a" * 200_000 + "!")
    assert time.monotonic() - began < 10


def test_numbers_of_one_remainder_cannot_hold_a_set() -> None:
    items = [number * (2**61 - 1) for number in range(1, 20_000)]
    began = time.monotonic()
    assert field_fits({"type": "array", "uniqueItems": True, "items": {"type": "integer"}}, items)
    assert time.monotonic() - began < 20


@pytest.mark.parametrize(
    "value",
    [
        {"note": float("nan")},
        {"note": "\ud800"},
        {1: 2},
        {"note": b"x"},
        {"count": 10**5_000},
        {"note": "x" * 2_000_000},
    ],
    ids=["nan", "surrogate", "key", "bytes", "digits", "size"],
)
def test_what_is_no_strict_json_is_refused(value: Any) -> None:
    assert places(PAYMENT, value) == [("", "invalid_value")]


def test_endless_nesting_is_refused() -> None:
    value: Any = {}
    for _ in range(100_000):
        value = {"kids": [value]}
    assert places(PAYMENT, {"tree": value}) == [("", "invalid_value")]
    value.clear()


def test_a_hundred_thousand_faults_are_told_in_ten() -> None:
    assert len(details_of(PAYMENT, {f"field_{number}": number for number in range(50_000)})) == MOST_DETAILS


# -- properties


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.decimals(allow_nan=False, allow_infinity=False, places=3)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)

trees = st.recursive(
    st.fixed_dictionaries({}, optional={"name": st.text()}),
    lambda inner: st.fixed_dictionaries({}, optional={"name": st.text(), "kids": st.lists(inner, max_size=3)}),
    max_leaves=12,
)
amounts = st.fixed_dictionaries(
    {"value": st.from_regex(r"[0-9]{1,30}", fullmatch=True), "currency": st.sampled_from(["KRW", "USD"])}
)
payments = st.fixed_dictionaries(
    {"amount": amounts},
    optional={
        "note": st.text(min_size=1),
        "tag": st.none() | st.text(),
        "count": st.integers(1, 9),
        "share": st.integers(-(10**30), 10**30).map(lambda tenths: Decimal(tenths).scaleb(-1)),
        "mode": st.fixed_dictionaries({"kind": st.just("a")}, optional={"left": st.integers()})
        | st.fixed_dictionaries({"kind": st.just("b")}, optional={"right": st.text()}),
        "tree": trees,
        "labels": st.dictionaries(st.text(), st.text(), max_size=3),
        "flags": st.lists(st.booleans(), unique=True),
    },
)
HELD = OutsideSchema(PAYMENT)


def readable(value: Any) -> Any:
    """As it comes over the wire."""
    try:
        return strict_json.exact(value)
    except strict_json.StrictJsonError:
        assume(False)


def objects_in(value: Any, inside: str = "") -> Iterator[Json]:
    """Every object of a payment whose fields are named by its schema."""
    if isinstance(value, dict):
        if inside != "labels":
            yield value
        for name, item in value.items():
            yield from objects_in(item, name)
    elif isinstance(value, list):
        for item in value:
            yield from objects_in(item)


@given(payments)
def test_nothing_that_is_valid_is_narrowed_on_its_way_over_the_wire(payment: Json) -> None:
    value = readable(payment)
    before = strict_json.dump(value)
    assert HELD.validated(value) is value
    assert strict_json.dump(value) == before


@given(payments, st.data())
def test_one_unknown_field_anywhere_is_refused(payment: Json, data: st.DataObject) -> None:
    value = readable(payment)
    target = data.draw(st.sampled_from(list(objects_in(value))))
    name = data.draw(
        st.sampled_from(["Note", "note\u200b", "value ", "dry_run", "tenant", "approved", "idempotency_key"])
    )
    target[name] = SECRET
    with pytest.raises(CallRefused) as refused:
        HELD.validated(value)
    assert "unknown_field" in {detail.code for detail in refused.value.details}
    assert SECRET not in repr(refused.value.details)


@given(st.dictionaries(st.sampled_from(sorted(FULL)), json_values, max_size=5))
def test_nothing_becomes_valid_that_the_plain_validator_refuses(changes: Json) -> None:
    value = readable(FULL | changes)
    plain = Draft202012Validator(strict_json.exact(PAYMENT), format_checker=None)
    try:
        HELD.validated(value)
    except CallRefused:
        return
    assert plain.is_valid(value)


@given(json_values)
def test_whatever_comes_is_taken_or_refused_with_a_known_code(value: Any) -> None:
    try:
        assert HELD.validated(value) is value
    except CallRefused as refused:
        assert {detail.code for detail in refused.details} <= CODES  # noqa: PT017


NAMED: Final = ("properties", "patternProperties", "dependentSchemas")
FORMS: Final = ("anyOf", "oneOf", "allOf", "prefixItems")
ALONE: Final = (
    "not", "if", "then", "else", "items", "contains", "additionalProperties", "unevaluatedProperties",
    "unevaluatedItems", "propertyNames",
)  # fmt: skip
LEAVES: Final = st.sampled_from(
    [
        *(True, False, False, False, {"$ref": "#/$defs/no"}, {"not": True}, {"enum": []}, {"const": "x"}),
        *({"type": "string"}, {"type": "integer"}, {"type": ["object", "array"]}, {"required": ["a"]}),
    ]
)


def keyworded(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Json]:
    """Schemas of a few keywords over others, true and false among them."""
    by_name = st.dictionaries(st.sampled_from(["a", "b"]), inner, min_size=1)
    kinds = [(FORMS, st.lists(inner, min_size=1, max_size=3)), (NAMED, by_name), (ALONE, inner)]
    return st.lists(
        st.one_of([st.tuples(st.sampled_from(keywords), value) for keywords, value in kinds]), min_size=1, max_size=4
    ).map(dict)


@settings(max_examples=300, deadline=None)
@given(
    keyworded(LEAVES | keyworded(LEAVES)),
    st.sampled_from(["x", 1, None, [], ["x"], [[], "x"], {}, {"a": "x"}, {"a": {"b": 1}, "b": ["x"]}]),
)
def test_whatever_a_schema_shuts_out_is_refused_with_a_detail(field: Any, given: Any) -> None:
    schema, value = an_object(field=field) | {"$defs": {"no": False}}, {"field": given}
    if not Draft202012Validator(schema).is_valid(value):
        assert details_of(schema, value, allow_free_form=True)
        return
    try:
        assert OutsideSchema(schema, allow_free_form=True).validated(value) is value
    except CallRefused as refused:
        assert {detail.code for detail in refused.details} <= CODES  # noqa: PT017


@given(
    st.dictionaries(
        st.sampled_from([*sorted(FULL), SECRET]),
        st.sampled_from([SECRET, [SECRET], {SECRET: 1}, {"kind": SECRET}, {"amount": SECRET * 3}, [[SECRET]]]),
        min_size=1,
    )
)
def test_what_was_received_is_never_repeated(changes: Json) -> None:
    assert SECRET not in repr(details_of(PAYMENT, FULL | {"count": "x"} | changes))
