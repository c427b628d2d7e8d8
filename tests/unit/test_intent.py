"""The intent hash: the same for one meaning, another for another, to the last digit."""

import dataclasses
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from workflows.domain.intent import LARGEST_EXACT_INTEGER, Intent, canonical_bytes, digest, idempotency_key

INTENT = Intent(
    tenant="tenant-a",
    subject="user-17",
    agent="support-agent",
    scopes=("read", "refund"),
    tool="refund_payment",
    tool_version="1",
    contract_hash="c" * 64,
    resource="order:O-17",
    arguments={"order_id": "O-17", "amount": 12_000, "currency": "KRW"},
    act={"order_id": "O-17"},
)

KEYS = st.text(min_size=1, max_size=8).filter(lambda key: not key.startswith("$"))
DECIMALS = st.decimals(allow_nan=False, allow_infinity=False, places=6, min_value=-(10**12), max_value=10**12)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | DECIMALS | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


def reversed_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: reversed_keys(value[key]) for key in reversed(list(value))}
    if isinstance(value, list):
        return [reversed_keys(item) for item in value]
    return value


@given(JSON)
def test_the_order_of_keys_means_nothing(value: Any) -> None:
    assert digest(value) == digest(reversed_keys(value))


@given(JSON, JSON)
def test_two_values_have_one_hash_only_if_they_are_one_value(one: Any, other: Any) -> None:
    assert (digest(one) == digest(other)) == (typed(one) == typed(other))


@given(st.lists(JSON, min_size=2, max_size=4))
def test_the_order_of_a_list_means_something(items: list[Any]) -> None:
    assume(typed(items) != typed(items[::-1]))
    assert digest(items) != digest(items[::-1])


@given(st.integers(), st.integers())
def test_every_digit_of_an_integer_counts(one: int, other: int) -> None:
    assume(one != other)
    assert digest({"amount": one}) != digest({"amount": other})


@pytest.mark.parametrize("number", [2**53 - 1, 2**53, 2**53 + 1, -(2**53) - 1, 10**30, 10**300])
def test_large_neighbours_differ(number: int) -> None:
    assert len({digest(number - 1), digest(number), digest(number + 1)}) == 3


@pytest.mark.parametrize("spelled", ["15", "15.0", "1.5e1", "0.15E+2", "15.000000000000000000000000000000000000"])
def test_one_number_has_one_hash_however_it_is_spelled(spelled: str) -> None:
    assert digest(Decimal(spelled)) == digest(15)


@pytest.mark.parametrize("spelled", ["0", "-0", "0.0", "-0.00", "0e10"])
def test_nothing_is_nothing(spelled: str) -> None:
    assert digest(Decimal(spelled)) == digest(0)


@pytest.mark.parametrize("spelled", ["0.1", "0.10", "1e-1", "0.100000"])
def test_a_fraction_is_compared_by_value(spelled: str) -> None:
    assert canonical_bytes(Decimal(spelled)) == b'{"$decimal":"0.1"}'


def test_every_digit_of_a_fraction_counts() -> None:
    assert digest(Decimal("0.1234567890123456789012345678901")) != digest(Decimal("0.1234567890123456789012345678902"))
    assert digest(Decimal("1.00000000000000000000000000000001")) != digest(1)


def test_an_integer_is_exact_up_to_where_a_double_is() -> None:
    assert canonical_bytes(LARGEST_EXACT_INTEGER) == b"9007199254740991"
    assert canonical_bytes(LARGEST_EXACT_INTEGER + 1) == b'{"$integer":"9007199254740992"}'


def test_a_number_is_not_the_text_that_looks_like_it() -> None:
    assert len({digest(value) for value in (1, "1", True, [1], {"a": 1}, None, "", [], {})}) == 9
    assert digest(2**60) != digest(str(2**60))


@pytest.mark.parametrize("key", ["$integer", "$decimal", "$", "$ref"])
@pytest.mark.parametrize("place", [lambda key: {key: "1"}, lambda key: [{"a": {key: "1"}}]], ids=["top", "inside"])
def test_a_key_that_looks_like_a_tag_is_refused(key: str, place: Any) -> None:
    with pytest.raises(TypeError, match="keys"):
        digest(place(key))


@pytest.mark.parametrize("key", [1, None, True, b"a"])
def test_a_key_that_is_no_string_is_refused(key: Any) -> None:
    with pytest.raises(TypeError, match="keys"):
        digest({key: 1})


@pytest.mark.parametrize("number", [1.5, 1.0, float("nan"), float("inf"), -0.0])
def test_a_float_is_refused(number: float) -> None:
    with pytest.raises(TypeError, match="float"):
        digest({"amount": number})


CHANGES: dict[str, Any] = {
    "tenant": "tenant-b",
    "subject": "user-18",
    "agent": "",
    "scopes": ("read",),
    "tool": "refund_payments",
    "tool_version": "2",
    "contract_hash": "d" * 64,
    "resource": "order:O-18",
    "arguments": {"order_id": "O-17", "amount": 12_001, "currency": "KRW"},
}


def test_the_act_is_the_same_however_it_is_proposed() -> None:
    other_way = replace(INTENT, arguments={"order_id": "O-17", "amount": 12_000, "quote": "q-2"}, agent="another-agent")
    assert other_way.hash() != INTENT.hash()
    assert other_way.act_hash() == INTENT.act_hash()


@pytest.mark.parametrize(
    "change",
    [
        {"tenant": "tenant-b"},
        {"subject": "user-18"},
        {"tool": "x"},
        {"resource": "order:O-18"},
        {"act": {"order_id": "O-18"}},
    ],
)
def test_another_user_object_or_act_is_another_act(change: dict[str, Any]) -> None:
    assert replace(INTENT, **change).act_hash() != INTENT.act_hash()


@pytest.mark.parametrize("field", [field.name for field in dataclasses.fields(Intent) if field.name != "act"])
def test_each_part_of_an_intent_changes_its_hash(field: str) -> None:
    assert dataclasses.replace(INTENT, **{field: CHANGES[field]}).hash() != INTENT.hash()


@given(st.lists(st.text(max_size=8), max_size=4))
def test_the_order_of_scopes_means_nothing(scopes: list[str]) -> None:
    one = dataclasses.replace(INTENT, scopes=tuple(scopes))
    assert one.hash() == dataclasses.replace(INTENT, scopes=tuple(reversed(scopes))).hash()


@given(st.text(max_size=6), st.text(max_size=6))
def test_the_parts_of_an_intent_do_not_run_into_each_other(one: str, other: str) -> None:
    straight = dataclasses.replace(INTENT, tenant=one, subject=other)
    crossed = dataclasses.replace(INTENT, tenant=other, subject=one)
    assert (straight.hash() == crossed.hash()) == (one == other)
    assert (
        dataclasses.replace(INTENT, tool=one + other, resource="").hash()
        != dataclasses.replace(INTENT, tool=one, resource=other + "x").hash()
    )


def test_what_was_left_out_is_not_null() -> None:
    with_null = dataclasses.replace(INTENT, arguments={**INTENT.arguments, "reason": None})
    assert with_null.hash() != INTENT.hash()


def test_a_hash_never_changes_from_release_to_release() -> None:
    assert INTENT.hash() == "175ea0414f8eabacbdec594bdc6164cfc422652c03fea96e44192f1d357e4dfc"


def test_the_key_to_the_downstream_is_the_operations_own_for_ever() -> None:
    key = idempotency_key("tenant-a", "refund_payment", "op_1")
    assert key == idempotency_key("tenant-a", "refund_payment", "op_1")
    others = [
        ("tenant-b", "refund_payment", "op_1"),
        ("tenant-a", "refund", "op_1"),
        ("tenant-a", "refund_payment", "op_2"),
    ]
    assert key not in {idempotency_key(*other) for other in others}
    assert key != idempotency_key("tenant-a", "refund_payment", "op_1", "item-1")


def typed(value: Any) -> Any:
    """Values as they compare here: numbers by value, but never a number with a truth value."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return (type(value).__name__, value)
    if isinstance(value, dict):
        return ("object", frozenset((key, typed(item)) for key, item in value.items()))
    if isinstance(value, list):
        return ("list", tuple(typed(item) for item in value))
    return ("number", value)
