"""Amounts: exact to the minor unit of their currency, or refused by name."""

import pytest
from pydantic import ValidationError

from adapters.tools.amounts import AmountGiven
from workflows.domain.errors import CallRefused
from workflows.domain.impact import Money


@pytest.mark.parametrize(
    ("value", "currency", "minor_units"),
    [
        ("50000", "KRW", 50_000),
        ("1000", "JPY", 1_000),
        ("18.605", "KWD", 18_605),
        ("18.60", "KWD", 18_600),
        ("0.1", "BHD", 100),
        ("25.5", "USD", 2_550),
        ("0", "EUR", 0),
    ],
)
def test_an_amount_becomes_minor_units_without_rounding(value: str, currency: str, minor_units: int) -> None:
    assert AmountGiven(value=value, currency=currency).money("/amount") == Money(minor_units, currency)


@pytest.mark.parametrize(
    ("value", "currency", "code"),
    [
        ("50000.00", "KRW", "amount_scale"),
        ("50000.5", "KRW", "amount_scale"),
        ("10.005", "USD", "amount_scale"),
        ("1.2345", "KWD", "amount_scale"),
        ("10", "XXX", "unknown_currency"),
        ("10", "ZZZ", "unknown_currency"),
    ],
)
def test_a_scale_or_currency_that_does_not_exist_is_refused_by_name(value: str, currency: str, code: str) -> None:
    with pytest.raises(CallRefused) as refused:
        AmountGiven(value=value, currency=currency).money("/amount")
    assert refused.value.code == code
    assert value not in str([detail.expected for detail in refused.value.details])


@pytest.mark.parametrize(
    "value", ["1e3", " 5", "+5", "5.", "NaN", "-0", "-1", "５０", "1,000", "5\n", "", ".5", "05", 5, 5.0, True, None]
)
def test_anything_but_plain_digits_as_text_does_not_fit_the_schema(value: object) -> None:
    with pytest.raises(ValidationError):
        AmountGiven.model_validate({"value": value, "currency": "USD"})


@pytest.mark.parametrize("currency", ["krw", "KR", "KRWX", "ＫＲＷ", "KRW\n", 410, None])
def test_a_currency_is_three_capitals(currency: object) -> None:
    with pytest.raises(ValidationError):
        AmountGiven.model_validate({"value": "5", "currency": currency})
