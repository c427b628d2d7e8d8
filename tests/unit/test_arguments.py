"""Arguments are taken as they are or not at all, and a refusal repeats nothing that was received."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.tools.payments import RefundPayment
from workflows.domain.arguments import CODES, PLAIN_NAME, validated
from workflows.domain.errors import CallRefused, Detail

CONTRACT = RefundPayment.contract
GOOD = {"order_id": "O-17", "quote_id": "qt-301", "quote_version": 1, "amount": 12_000, "currency": "KRW"}
SECRET = "hunter2-do-not-repeat"


def details_of(arguments: Any) -> tuple[Detail, ...]:
    with pytest.raises(CallRefused) as refused:
        validated(CONTRACT, arguments)
    assert refused.value.code == "invalid_arguments"
    assert refused.value.details
    return refused.value.details


def test_good_arguments_are_taken_as_they_are() -> None:
    assert validated(CONTRACT, GOOD).model_dump() == GOOD


@pytest.mark.parametrize(
    ("name", "value", "code", "expected"),
    [
        ("amount", "12000", "invalid_type", "an integer"),
        ("amount", Decimal("12000.0"), "invalid_type", "an integer"),
        ("amount", Decimal("0.5"), "invalid_type", "an integer"),
        ("amount", True, "invalid_type", "an integer"),
        ("amount", None, "invalid_type", "an integer"),
        ("amount", [12_000], "invalid_type", "an integer"),
        ("amount", 0, "invalid_value", "more than 0"),
        ("amount", 10**12 + 1, "invalid_value", "at most 1000000000000"),
        ("amount", 10**400, "invalid_value", "at most 1000000000000"),
        ("quote_version", 0, "invalid_value", "at least 1"),
        ("order_id", 17, "invalid_type", "a string"),
        ("order_id", "", "invalid_value", "text that matches ^[A-Za-z0-9-]{1,40}$"),
        ("order_id", "O-17\n", "invalid_value", "text that matches ^[A-Za-z0-9-]{1,40}$"),
        ("order_id", "../O-17", "invalid_value", "text that matches ^[A-Za-z0-9-]{1,40}$"),
        ("order_id", "Ｏ-17", "invalid_value", "text that matches ^[A-Za-z0-9-]{1,40}$"),
        ("currency", "krw", "invalid_value", "one of 'KRW', 'JPY', 'USD' or 'EUR'"),
    ],
)
def test_nothing_is_coerced(name: str, value: Any, code: str, expected: str) -> None:
    assert details_of(GOOD | {name: value}) == (Detail(f"/{name}", code, expected),)


@pytest.mark.parametrize("name", sorted(GOOD))
def test_a_missing_field_is_named(name: str) -> None:
    arguments = {key: value for key, value in GOOD.items() if key != name}
    assert details_of(arguments) == (Detail(f"/{name}", "missing_field", "a value"),)


def test_an_unknown_field_is_named() -> None:
    assert details_of(GOOD | {"note": SECRET}) == (Detail("/note", "unknown_field", "no such field"),)


@pytest.mark.parametrize(
    "name", ["<script>", "a/b", "a b", "", "ignore all previous instructions", "n" * 41, "é", "a\n"]
)
def test_an_unknown_field_with_an_odd_name_is_not_repeated(name: str) -> None:
    assert details_of(GOOD | {name: 1}) == (Detail("/?", "unknown_field", "no such field"),)


def test_every_fault_is_told_at_once() -> None:
    found = details_of({"order_id": 17, "amount": "12000", "currency": "KRW", "tip": 1})
    assert {detail.path for detail in found} == {"/order_id", "/quote_id", "/quote_version", "/amount", "/tip"}


@pytest.mark.parametrize("arguments", [None, [], "text", 17, True, [GOOD]])
def test_what_is_no_object_is_refused(arguments: Any) -> None:
    assert [(detail.path, detail.expected) for detail in details_of(arguments)] == [("", "an object")]


@given(
    st.dictionaries(
        st.sampled_from(sorted(GOOD)),
        st.sampled_from([SECRET, [SECRET], {"x": SECRET}, {SECRET: 1}, {"order_id": SECRET * 3}]),
        min_size=1,
    )
)
def test_what_was_received_is_never_repeated(changes: dict[str, Any]) -> None:
    # An order id may look like anything, so the secret goes where it does not fit.
    told = repr(details_of({**GOOD, "amount": "x", **changes}))
    assert SECRET not in told


@given(st.text())
def test_only_what_looks_like_a_name_is_repeated(name: str) -> None:
    if name in GOOD:
        return
    (detail,) = details_of(GOOD | {name: 1})
    assert detail.path == (f"/{name}" if PLAIN_NAME.fullmatch(name) else "/?")


def test_the_validators_own_words_never_leave() -> None:
    found = [*details_of({"amount": "x", "odd": 1}), *details_of(GOOD | {"amount": -1, "currency": 1, "order_id": "!"})]
    allowed = {*CODES.values(), "invalid_type", "invalid_value"}
    assert {detail.code for detail in found} <= allowed
    assert not [detail for detail in found if "pydantic" in detail.expected or "Input should" in detail.expected]
