"""Figures in Prometheus's text format, read by its own parser; and the token that a scraper needs."""

from collections.abc import Sequence

import pytest
from prometheus_client.exposition import generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families
from pydantic import SecretStr
from starlette.exceptions import HTTPException
from starlette.requests import Request

from adapters.postgres.audit_chain import Unsealed
from adapters.postgres.backlog import OPEN_STATES, Backlog, Open, Waiting
from adapters.postgres.engine import Database
from adapters.postgres.invariants import Measured
from adapters.postgres.totals import Totals
from worker.figures import Figures
from worker.kept import Aged
from worker.metrics import Metrics
from worker.settings import ApiSettings, read
from workflows.domain.errors import InvalidConfiguration
from workflows.domain.lifecycle import State

TOTALS = Totals(
    operations={("succeeded", "refund_payment"): 7, ("unconfirmed", "refund_payment"): 2},
    handler_calls={("refund_payment", "applied"): 8, ("refund_payment", None): 1},
    effects={"refund_payment": 7},
    refusals={"schema": 3},
    duplicate_deliveries=4,
    reuses=1,
)
BACKLOG = Backlog(
    states={**{state: Open() for state in OPEN_STATES}, State.UNCONFIRMED: Open(Waiting(2, 90.0), 2)},
    pending=Waiting(3, 60.0),
    due=Waiting(5, 2.5),
    set_aside=Waiting(1, 900.0),
)
MEASURED = (Measured("handler_calls_after_refusal", 2, ("op_1",)), Measured("ends_without_ground", 0))

UNSEALED = Unsealed(12, 45.5)

TOKEN = "a-token-for-scrapers"


def told(figures: Figures) -> dict[str, Metric]:
    return {family.name: family for family in text_string_to_metric_families(generate_latest(figures).decode())}


def value(families: dict[str, Metric], name: str, **labels: str) -> float:
    (sample,) = [
        sample
        for family in families.values()
        for sample in family.samples
        if sample.name == name and sample.labels == labels
    ]
    return float(sample.value)


@pytest.fixture
def families() -> dict[str, Metric]:
    return told(Figures(Aged(TOTALS, 1.0), Aged(BACKLOG, 2.0), Aged(MEASURED, 30.0), Aged(UNSEALED, 3.0)))


@pytest.mark.parametrize(
    ("name", "labels", "number"),
    [
        ("onceward_operations", {"state": "succeeded", "tool": "refund_payment"}, 7),
        ("onceward_handler_calls_total", {"tool": "refund_payment", "outcome": "applied"}, 8),
        ("onceward_handler_calls_unended", {"tool": "refund_payment"}, 1),
        ("onceward_effects_total", {"tool": "refund_payment"}, 7),
        ("onceward_refusals_total", {"layer": "schema"}, 3),
        ("onceward_duplicate_deliveries_total", {}, 4),
        ("onceward_reuses_total", {}, 1),
        ("onceward_open_operations", {"state": "unconfirmed"}, 2),
        ("onceward_open_operations", {"state": "manual_review"}, 0),
        ("onceward_open_operations_oldest_seconds", {"state": "unconfirmed"}, 90),
        ("onceward_approvals_pending", {}, 3),
        ("onceward_approvals_pending_oldest_seconds", {}, 60),
        ("onceward_approvals_overdue", {}, 0),
        ("onceward_outbox_due", {}, 5),
        ("onceward_outbox_lag_seconds", {}, 2.5),
        ("onceward_outbox_failing", {}, 0),
        ("onceward_outbox_set_aside", {}, 1),
        ("onceward_audit_unsealed", {}, 12),
        ("onceward_audit_unsealed_oldest_seconds", {}, 45.5),
        ("onceward_invariant_violations", {"invariant": "handler_calls_after_refusal"}, 2),
        ("onceward_invariant_violations", {"invariant": "ends_without_ground"}, 0),
        ("onceward_figures_age_seconds", {"figures": "invariants"}, 30),
    ],
)
def test_every_figure_is_told(families: dict[str, Metric], name: str, labels: dict[str, str], number: float) -> None:
    assert value(families, name, **labels) == number


def test_what_only_rises_is_a_counter_and_everything_says_what_it_means(families: dict[str, Metric]) -> None:
    rising = {name for name, family in families.items() if family.type == "counter"}
    assert rising == {
        f"onceward_{name}" for name in ("handler_calls", "effects", "refusals", "duplicate_deliveries", "reuses")
    }
    assert all(family.documentation for family in families.values())


def test_what_has_not_been_read_yet_is_absent_and_not_zero() -> None:
    families = told(Figures(None, Aged(BACKLOG, 0.0), None, None))
    assert "onceward_invariant_violations" not in families
    assert "onceward_operations" not in families
    assert "onceward_audit_unsealed" not in families
    assert "onceward_outbox_due" in families


def asking(*authorization: str) -> Request:
    headers = [(b"authorization", value.encode()) for value in authorization]
    return Request({"type": "http", "headers": headers})


@pytest.mark.parametrize(
    "authorization",
    [
        (),
        (TOKEN,),
        ("Bearer",),
        ("Bearer another",),
        (f"Basic {TOKEN}",),
        (f"Bearer {TOKEN}!",),
        (f"Bearer {TOKEN}",) * 2,
    ],
)
async def test_without_the_token_there_is_nothing(authorization: Sequence[str]) -> None:
    nobody_is_asked = Database("postgresql://nobody@127.0.0.1:1/onceward", application_name="tests")
    with pytest.raises(HTTPException) as refused:
        await Metrics(nobody_is_asked, SecretStr(TOKEN)).answer(asking(*authorization))
    assert refused.value.status_code == 404


@pytest.fixture
def complete(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name, word in {
        "POSTGRES_DSN": "postgresql://onceward_door@127.0.0.1/onceward",
        "TEMPORAL_ADDRESS": "127.0.0.1:7233",
        "PUBLIC_URL": "http://127.0.0.1:8080",
        "ISSUER": "https://sign-in.example.test",
        "SESSION_SECRET": "s" * 32,
    }.items():
        monkeypatch.setenv(f"ONCEWARD_{name}", word)
    return monkeypatch


def test_no_token_and_an_empty_one_are_the_same(complete: pytest.MonkeyPatch) -> None:
    assert read(ApiSettings).metrics_token is None
    complete.setenv("ONCEWARD_METRICS_TOKEN", "")
    assert read(ApiSettings).metrics_token is None


def test_a_token_is_read_and_never_shown(complete: pytest.MonkeyPatch) -> None:
    complete.setenv("ONCEWARD_METRICS_TOKEN", TOKEN)
    settings = read(ApiSettings)
    assert settings.metrics_token is not None
    assert settings.metrics_token.get_secret_value() == TOKEN
    assert TOKEN not in repr(settings)


def test_a_token_that_could_be_guessed_is_refused_without_being_repeated(complete: pytest.MonkeyPatch) -> None:
    complete.setenv("ONCEWARD_METRICS_TOKEN", "guess-me")
    with pytest.raises(InvalidConfiguration) as refused:
        read(ApiSettings)
    assert "ONCEWARD_METRICS_TOKEN (expected at least 16 characters" in str(refused.value)
    assert "guess-me" not in str(refused.value)
