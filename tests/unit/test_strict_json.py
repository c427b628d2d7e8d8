"""Strict JSON: hostile texts are refused with a stable word, everything else comes back as it was."""

import datetime
import json
import math
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters import strict_json
from adapters.strict_json import EXPECTED, MAX_DEPTH, StrictJsonError, dump, exact, parse

BOMB = "[" * 100_000


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


HOSTILE: list[tuple[str, str | bytes]] = [
    ("duplicate_key", '{"amount":{"value":"50000"},"amount":{"value":"5000000"}}'),
    ("duplicate_key", '{"a":1,"\\u0061":2}'),
    ("duplicate_key", '[{"x":{"":0,"":0}}]'),
    ("duplicate_key", '{"😀":1,"\\ud83d\\ude00":2}'),
    ("non_finite_number", "NaN"),
    ("non_finite_number", '{"limit":Infinity}'),
    ("non_finite_number", "[-Infinity]"),
    ("number_overflow", "1e400"),
    ("number_overflow", "-1e400"),
    ("number_overflow", "1e-400"),
    ("number_overflow", "0e999999999"),
    ("number_overflow", "1e99999999999999999999999999"),
    ("number_overflow", "1.8e308"),
    ("number_overflow", "9" * 1_001),
    ("number_overflow", "-" + "9" * 1_001),
    ("number_overflow", "9" * 500_000),
    ("number_overflow", "0." + "1" * 1_000),
    ("lone_surrogate", '"\\ud83d"'),
    ("lone_surrogate", '"\\udc00 \\ud83d"'),
    ("lone_surrogate", '"\\uD83D\\u0041"'),
    ("lone_surrogate", '{"\\udfff":1}'),
    ("lone_surrogate", '"\ud83d"'),
    ("lone_surrogate", '"\ud83d\ude00"'),
    ("lone_surrogate", '{"\ude00":1}'),
    ("too_deep", BOMB),
    ("too_deep", '{"a":' * 100_000),
    ("too_deep", nested(MAX_DEPTH + 1)),
    ("too_deep", '["]",' * 100_000),
    ("too_deep", '"[' * 300_000),
    ("too_deep", '"[[" ' + nested(MAX_DEPTH + 1)),
    ("too_large", " " * 20_000_000),
    ("too_large", b" " * 20_000_000),
    ("too_large", '"' + "서" * 400_000 + '"'),
    ("not_utf8", b'"\xff"'),
    ("not_utf8", b'"\xed\xa0\xbd"'),
    ("not_utf8", b'"\xc0\x80"'),
    ("not_utf8", '{"a":1}'.encode("utf-16")),
    ("not_json", ""),
    ("not_json", " "),
    ("not_json", b""),
    ("not_json", "\ufeff{}"),
    ("not_json", b"\xef\xbb\xbf{}"),
    ("not_json", '{"a":1}{"b":2}'),
    ("not_json", '{"a":1} x'),
    ("not_json", "{'a':1}"),
    ("not_json", '{"a":1,}'),
    ("not_json", "[1,]"),
    ("not_json", "{a:1}"),
    ("not_json", '{"a":'),
    ("not_json", "[1 2]"),
    ("not_json", "01"),
    ("not_json", "-"),
    ("not_json", "+1"),
    ("not_json", "1."),
    ("not_json", ".5"),
    ("not_json", "1e"),
    ("not_json", "0x1F"),
    ("not_json", "1_000"),
    ("not_json", "\u0661"),
    ("not_json", "\u00a0 1"),
    ("not_json", "\x0b1"),
    ("not_json", "1 // one"),
    ("not_json", "/* one */ 1"),
    ("not_json", "True"),
    ("not_json", "nan"),
    ("not_json", '"a\tb"'),
    ("not_json", '"a\x00b"'),
    ("not_json", '"\\x41"'),
    ("not_json", '"\\u12"'),
    ("not_json", '"\\u+123"'),
    ("not_json", '"' + '\\"' * 500_000),
    ("not_json", '"' + "[" * 500_000),
]

SOUND: list[tuple[str, Any]] = [
    ("null", None),
    (" \t\r\n true \n", True),
    ("-0", 0),
    ("9007199254740993", 9007199254740993),
    ("9" * 1_000, 10**1_000 - 1),
    ("-" + "9" * 1_000, 1 - 10**1_000),
    ("1.10", Decimal("1.10")),
    ("1E+2", Decimal("1E+2")),
    ("1.7976931348623157e308", Decimal("1.7976931348623157e308")),
    ("5e-324", Decimal("5e-324")),
    ('"\\ud83d\\ude00\\u0001\\/"', "😀\x01/"),
    ('"\\\\ud83d"', "\\ud83d"),
    ('{"":{"":1}}', {"": {"": 1}}),
    ('"' + "[" * 1_000 + '"', "[" * 1_000),
    ('["\\"[[", ' + ",".join(["[]"] * 1_000) + "]", ['"[[', *[[]] * 1_000]),
]

UNWRITABLE: list[tuple[str, Any]] = [
    ("non_finite_number", math.nan),
    ("non_finite_number", [-math.inf]),
    ("non_finite_number", Decimal("NaN")),
    ("non_finite_number", Decimal("sNaN")),
    ("non_finite_number", {"a": Decimal("-Infinity")}),
    ("number_overflow", 10**1_000),
    ("number_overflow", -(10**5_000)),
    ("number_overflow", Decimal("1E+400")),
    ("lone_surrogate", "\ud83d"),
    ("lone_surrogate", {"\udc00": 1}),
    ("not_json", {1: "one"}),
    ("not_json", {None: 1}),
    ("not_json", {"1": 1, 1: 1}),
    ("not_json", b"bytes"),
    ("not_json", {"when": datetime.date(2026, 1, 1)}),
    ("not_json", {1, 2}),
    ("not_json", object()),
    ("not_json", 1j),
]

numbers = (
    st.integers()
    | st.integers(-(10**999), 10**999)
    | st.decimals(
        allow_nan=False, allow_infinity=False, min_value=Decimal("-1e300"), max_value=Decimal("1e300")
    ).filter(lambda number: number.adjusted() in strict_json.EXPONENTS and number.as_tuple().exponent != 0)
)
characters = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))
values = st.recursive(
    st.none() | st.booleans() | numbers | characters,
    lambda children: st.lists(children, max_size=5) | st.dictionaries(characters, children, max_size=5),
    max_leaves=20,
)


def code_of(data: str | bytes) -> str:
    with pytest.raises(StrictJsonError) as refused:
        parse(data)
    return refused.value.code


def same(left: Any, right: Any) -> bool:
    """Equal in type, sign and written digits, not in value alone: 1 is not 1.0 and not True."""
    if isinstance(left, dict) and isinstance(right, dict):
        return list(left) == list(right) and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return type(left) is type(right) and str(left) == str(right)


@pytest.mark.parametrize(("code", "text"), HOSTILE, ids=[f"{n}-{code}" for n, (code, _) in enumerate(HOSTILE)])
def test_a_hostile_text_is_refused_with_its_word(code: str, text: str | bytes) -> None:
    assert code_of(text) == code


@pytest.mark.parametrize(("text", "value"), SOUND, ids=range(len(SOUND)))
def test_a_sound_text_is_read_exactly(text: str, value: Any) -> None:
    assert same(parse(text), value)
    assert same(parse(text.encode()), value)


def test_the_deepest_allowed_text_is_read() -> None:
    twice = f"[{nested(MAX_DEPTH - 1)},{nested(MAX_DEPTH - 1)}]"
    assert dump(parse(twice)) == twice


def test_what_was_read_at_the_deepest_can_be_written_inside_an_envelope() -> None:
    written = dump({"status": "succeeded", "data": {"items": [parse(nested(MAX_DEPTH))]}})
    assert written == f'{{"status":"succeeded","data":{{"items":[{nested(MAX_DEPTH)}]}}}}'


def test_the_limit_of_bytes_is_the_callers() -> None:
    assert parse('"서"', limit=5) == "서"
    with pytest.raises(StrictJsonError):
        parse('"서"', limit=4)


@pytest.mark.parametrize(("code", "value"), UNWRITABLE, ids=[f"{n}-{code}" for n, (code, _) in enumerate(UNWRITABLE)])
def test_a_value_without_a_strict_form_is_not_written(code: str, value: Any) -> None:
    with pytest.raises(StrictJsonError) as refused:
        dump(value)
    assert refused.value.code == code


def test_a_cycle_and_a_bottomless_value_are_too_deep_to_write() -> None:
    cycle: list[Any] = []
    cycle += [cycle, cycle, cycle]
    bottomless: Any = {}
    for _ in range(100_000):
        bottomless = {"a": bottomless}
    for value in (cycle, bottomless):
        with pytest.raises(StrictJsonError) as refused:
            dump(value)
        assert refused.value.code == "too_deep"


def test_what_is_written_is_compact_and_keeps_its_characters() -> None:
    written = dump({"b": [1, Decimal("10.10"), True, None, (2,)], "a": "서울 \u2028 😀 \x7f"})
    assert written == '{"b":[1,10.10,true,null,[2]],"a":"서울 \u2028 😀 \x7f"}'


def test_a_value_that_arrived_parsed_is_held_to_the_same_rules() -> None:
    assert same(exact({"float": 0.1, "whole": 1e22}), {"float": Decimal("0.1"), "whole": Decimal("1E+22")})
    for value in (math.nan, "\ud83d", {1: 1}, json.loads(nested(MAX_DEPTH + 1))):
        with pytest.raises(StrictJsonError):
            exact(value)


@pytest.mark.parametrize("code", EXPECTED)
def test_every_error_says_what_was_expected(code: str) -> None:
    detail = StrictJsonError(code).detail("/arguments")
    assert (detail.path, detail.code) == ("/arguments", code)
    assert detail.expected


def test_an_error_repeats_nothing_that_it_was_given() -> None:
    with pytest.raises(StrictJsonError) as refused:
        parse('{"password":"hunter2",}')
    assert "hunter2" not in repr(refused.value)
    assert refused.value.__cause__ is None
    assert refused.value.__suppress_context__


@given(values)
def test_writing_and_reading_is_the_identity(value: Any) -> None:
    assert same(parse(dump(value)), value)


@given(st.integers(-(10**300), 10**300).map(Decimal))
def test_a_decimal_without_a_fraction_comes_back_as_an_equal_integer(number: Decimal) -> None:
    assert same(parse(dump(number)), int(number))


@given(values)
def test_any_other_writer_of_strict_json_is_read_the_same(value: Any) -> None:
    plain = parse(dump(value))
    escaped = json.dumps(plain, default=str, indent=2)
    assert parse(escaped) == json.loads(escaped)


@given(st.text() | st.text(st.sampled_from('{}[]",:\\ud8e+-.019 aNItrfsn')))
def test_no_text_gets_anything_but_a_value_or_our_error(text: str) -> None:
    try:
        value = parse(text)
    except StrictJsonError as error:
        error.detail()
    else:
        assert json.loads(text, parse_float=Decimal) == value


@given(st.binary())
def test_no_bytes_get_anything_but_a_value_or_our_error(data: bytes) -> None:
    try:
        value = parse(data)
    except StrictJsonError as error:
        error.detail()
    else:
        assert json.loads(data.decode(), parse_float=Decimal) == value


@pytest.mark.parametrize("text", [r'"a\u0000b"', r'{"a\u0000": 1}', r'[{"a": "\u0000"}]'])
def test_the_nul_character_is_refused_because_no_database_keeps_it(text: str) -> None:
    with pytest.raises(StrictJsonError) as refused:
        parse(text)
    assert refused.value.code == "nul_character"


def test_an_escaped_backslash_before_u0000_is_no_nul_character() -> None:
    assert parse(r'"\\u0000"') == r"\u0000"
