"""The payments provider's rules that need no books: quotes, payments, keys, settings."""

from datetime import UTC, datetime, timedelta

import pytest

from examples.payments_provider.keys import request_hash
from examples.payments_provider.orders import Payment
from examples.payments_provider.quotes import Quote, state_of
from examples.payments_provider.refunds import RefundRequest, require_open, require_same_terms, require_unchanged
from examples.payments_provider.refusals import Refusal
from examples.payments_provider.settings import InvalidSetting, Settings

NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
LATER = NOW + timedelta(seconds=1)

PAYMENT = Payment(payment_id="pay-17", amount=12_000, refunded=0, version=1)
QUOTE = Quote(
    quote_id="qt-301",
    version=1,
    order_id="O-17",
    payment_id="pay-17",
    payment_version=1,
    merchant="tenant-a",
    amount=12_000,
    currency="KRW",
    refundable=12_000,
    expires_at=LATER,
    state="open",
)
ASKED = RefundRequest(quote_id="qt-301", quote_version=1, amount=12_000, currency="KRW", client_reference="op-1")


@pytest.mark.parametrize(
    ("consumed_at", "expires_at", "state"),
    [(None, LATER, "open"), (None, NOW, "expired"), (NOW, LATER, "consumed"), (NOW, NOW, "consumed")],
)
def test_a_quote_is_open_until_it_is_used_or_its_time_is_up(
    consumed_at: datetime | None, expires_at: datetime, state: str
) -> None:
    assert state_of(consumed_at, expires_at, NOW) == state


@pytest.mark.parametrize(
    ("refunded", "refundable", "status"),
    [(0, 12_000, "captured"), (5_000, 7_000, "partially_refunded"), (12_000, 0, "refunded")],
)
def test_a_payment_says_how_much_of_it_is_left(refunded: int, refundable: int, status: str) -> None:
    payment = PAYMENT.model_copy(update={"refunded": refunded})
    assert (payment.refundable, payment.status) == (refundable, status)


@pytest.mark.parametrize(("state", "code"), [("consumed", "quote_consumed"), ("expired", "quote_expired")])
def test_a_quote_that_is_not_open_is_refused(state: str, code: str) -> None:
    with pytest.raises(Refusal) as refused:
        require_open(QUOTE.model_copy(update={"state": state}))
    assert refused.value.code == code


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"quote_version": 2}, "quote_version_mismatch"),
        ({"currency": "USD"}, "currency_mismatch"),
        ({"amount": 11_999}, "amount_mismatch"),
    ],
)
def test_other_terms_than_the_quote_has_are_refused(change: dict[str, object], code: str) -> None:
    with pytest.raises(Refusal) as refused:
        require_same_terms(QUOTE, ASKED.model_copy(update=change))
    assert refused.value.code == code


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"payment_id": "pay-101"}, "payment_changed"),
        ({"version": 2}, "payment_changed"),
        ({"refunded": 1}, "amount_exceeds_refundable"),
    ],
)
def test_another_payment_than_the_quoted_one_is_refused(change: dict[str, object], code: str) -> None:
    with pytest.raises(Refusal) as refused:
        require_unchanged(QUOTE, PAYMENT.model_copy(update=change))
    assert refused.value.code == code


def test_two_bodies_that_mean_the_same_hash_the_same_and_any_other_does_not() -> None:
    spaced = RefundRequest.model_validate_json(
        '{ "client_reference": "op-1", "currency": "KRW", "amount": 12000, "quote_version": 1, "quote_id": "qt-301" }'
    )
    assert request_hash(spaced) == request_hash(ASKED)
    assert request_hash(ASKED.model_copy(update={"reason": "broken"})) != request_hash(ASKED)


GOOD = {
    "DSN": "postgresql://user:pw@db.example:5432/payments",
    "PORT": "8090",
    "API_KEY": "api-secret",
    "ADMIN_KEY": "admin-secret",
}


def read_settings(monkeypatch: pytest.MonkeyPatch, **changes: str | None) -> Settings:
    for name, value in (GOOD | changes).items():
        if value is None:
            monkeypatch.delenv(f"PAYMENTS_PROVIDER_{name}", raising=False)
        else:
            monkeypatch.setenv(f"PAYMENTS_PROVIDER_{name}", value)
    return Settings.from_environment()


def test_good_settings_are_read_and_the_dsn_gets_its_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = read_settings(monkeypatch, QUOTE_SECONDS="60")
    assert settings.quote_seconds == 60
    assert settings.database_url.drivername == "postgresql+psycopg"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DSN", None),
        ("DSN", "mysql://user:hunter2@h/payments"),
        ("DSN", "postgresql://user:hunter2@h"),
        ("DSN", "hunter2"),
        ("PORT", "0"),
        ("PORT", "http"),
        ("API_KEY", ""),
        ("ADMIN_KEY", None),
        ("QUOTE_SECONDS", "-1"),
        ("KEY_LIFETIME_SECONDS", "nan"),
        ("QUOTE_SINGLE_USE", "perhaps"),
    ],
)
def test_a_bad_setting_is_named_in_one_sentence_without_its_value(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str | None
) -> None:
    with pytest.raises(InvalidSetting) as invalid:
        read_settings(monkeypatch, **{name: value})
    sentence = str(invalid.value)
    assert sentence.startswith(f"PAYMENTS_PROVIDER_{name} ")
    assert sentence.count("\n") == 0
    assert "hunter2" not in sentence
