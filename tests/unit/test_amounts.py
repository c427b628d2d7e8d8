"""Amounts: exact to the minor unit of their currency, or refused by name."""

from collections.abc import Callable

import pytest
from pydantic import ValidationError

from adapters.tools.amounts import AmountGiven
from adapters.tools.ledger import CreditAccount
from adapters.tools.ledger_batch import CreditAccounts
from workflows.domain.arguments import validated
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


def act_of_one(value: str, currency: str = "USD") -> object:
    given = {"account_id": "CA-17", "amount": {"value": value, "currency": currency}, "reason": "goodwill"}
    return CreditAccount.contract.act(validated(CreditAccount.contract, given))


def act_of_many(value: str, reason: str = "goodwill") -> object:
    given = [{"account_id": name, "amount": {"value": value, "currency": "USD"}} for name in ("CA-17", "CA-18")]
    return CreditAccounts.contract.act(validated(CreditAccounts.contract, {"credits": given, "reason": reason}))


@pytest.mark.parametrize("act", [act_of_one, act_of_many])
def test_one_amount_in_another_spelling_is_the_same_act(act: Callable[[str], object]) -> None:
    """Otherwise a second try under the limit would be a second credit that nobody is asked about."""
    assert act("25.5") == act("25.50")
    assert act("25") == act("25.00") == act("25.0")
    assert act("25.5") != act("25.05")


def test_amounts_of_no_currency_and_of_too_many_digits_are_what_was_written() -> None:
    assert act_of_one("25.505") != act_of_one("25.50")
    assert act_of_one("25.5", "XXX") != act_of_one("25.50", "XXX")
    assert act_of_one("12000", "KRW") != act_of_one("12000", "JPY")


def test_the_same_credits_for_another_reason_are_the_same_act() -> None:
    assert act_of_many("25.50", "late_delivery") == act_of_many("25.50", "goodwill")
