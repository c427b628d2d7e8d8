"""Settings: a process that is set up badly says which setting and what it should be, and never what it was."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from adapters.http.back_office.session_store import BELIEVED_FOR
from adapters.tools.payments import PaymentsSettings
from worker.settings import (
    ApiSettings,
    MigrateSettings,
    RelaySettings,
    Settings,
    WorkerSettings,
    read,
    read_for_tools,
)
from workflows.domain.errors import InvalidConfiguration

SECRET = "hunter2-do-not-repeat"
DSN = f"postgresql://onceward_worker:{SECRET}@127.0.0.1/onceward"
TEMPORAL = {"POSTGRES_DSN": DSN, "TEMPORAL_ADDRESS": "127.0.0.1:7233"}
PAYMENTS = {"PAYMENTS_URL": "http://127.0.0.1:8090", "PAYMENTS_API_KEY": SECRET}
API = TEMPORAL | {
    "PUBLIC_URL": "http://127.0.0.1:8080",
    "ISSUER": "https://sign-in.example.test",
    "SESSION_SECRET": SECRET * 2,
}
COMPLETE: list[tuple[type[Settings], dict[str, str]]] = [
    (WorkerSettings, TEMPORAL),
    (ApiSettings, API),
    (RelaySettings, TEMPORAL),
    (MigrateSettings, {"POSTGRES_DSN": DSN}),
]


@contextmanager
def environment(monkeypatch: pytest.MonkeyPatch, values: dict[str, str]) -> Iterator[None]:
    with monkeypatch.context() as patched:
        for name, value in values.items():
            patched.setenv(f"ONCEWARD_{name}", value)
        yield


def sentence(monkeypatch: pytest.MonkeyPatch, kind: type[Settings], values: dict[str, str]) -> str:
    with environment(monkeypatch, values), pytest.raises(InvalidConfiguration) as refused:
        read(kind)
    return str(refused.value)


@pytest.mark.parametrize(("kind", "values"), COMPLETE)
def test_a_complete_environment_is_read(
    monkeypatch: pytest.MonkeyPatch, kind: type[Settings], values: dict[str, str]
) -> None:
    with environment(monkeypatch, values):
        assert read(kind).postgres_dsn.get_secret_value() == DSN


@pytest.mark.parametrize(
    ("kind", "values", "name"), [(kind, values, name) for kind, values in COMPLETE for name in values]
)
def test_a_missing_setting_is_named_with_what_it_should_be(
    monkeypatch: pytest.MonkeyPatch, kind: type[Settings], values: dict[str, str], name: str
) -> None:
    told = sentence(monkeypatch, kind, {key: value for key, value in values.items() if key != name})
    assert f"ONCEWARD_{name} (expected " in told
    assert SECRET not in told
    assert told.count("ONCEWARD_") == 1


@pytest.mark.parametrize(
    ("kind", "values", "name", "unfit"),
    [
        (WorkerSettings, TEMPORAL, "POLICY_UNASKED_UP_TO", f'{{"KRW": "{SECRET}"}}'),
        (WorkerSettings, TEMPORAL, "POLICY_UNASKED_UP_TO", f'["{SECRET}"]'),
        (WorkerSettings, TEMPORAL, "POLICY_UNASKED_UP_TO", SECRET),
        (WorkerSettings, TEMPORAL, "LOG_FORMAT", SECRET),
        (WorkerSettings, TEMPORAL, "WORKER_DEPLOYMENT", f"a.{SECRET}"),
        (WorkerSettings, TEMPORAL, "WORKER_BUILD", f"a b {SECRET}"),
        *((kind, values, "POSTGRES_DSN", f"nonsense-{SECRET}") for kind, values in COMPLETE),
        (MigrateSettings, {}, "POSTGRES_DSN", f"mysql://root:{SECRET}@127.0.0.1/onceward"),
        (MigrateSettings, {}, "POSTGRES_DSN", f"postgresql://root:{SECRET}@127.0.0.1"),
        (MigrateSettings, {}, "POSTGRES_DSN", f"postgresql://root:{SECRET}@127.0.0.1:port/onceward"),
        (RelaySettings, TEMPORAL, "READY_FILE", f"/no/such/folder/{SECRET}"),
        (ApiSettings, API, "SESSION_SECRET", "short"),
        (ApiSettings, API, "API_PORT", SECRET),
        (ApiSettings, API, "API_PORT", "65536"),
        (ApiSettings, API, "PUBLIC_URL", SECRET),
        (ApiSettings, API, "ISSUER", ""),
        (ApiSettings, API, "ISSUER", f"http://{SECRET}.example.test"),
        (ApiSettings, API, "ISSUER", "http://127.0.0.1:8400"),
        (ApiSettings, API, "ISSUER", "https://localhost:8400"),
        (ApiSettings, API, "ISSUER", "https://issuer.localhost"),
        (ApiSettings, API, "ISSUER", "http://[::1]:8400"),
        (ApiSettings, API | {"DEVELOPMENT": "true"}, "ISSUER", "http://sign-in.example.test"),
        (ApiSettings, API, "PUBLIC_URL", f"http://{SECRET}.example.test"),
        (ApiSettings, API, "TRUSTED_PROXIES", f"10.0.0.0/8, {SECRET}"),
        (ApiSettings, API, "PUBLIC_URL", "https://"),
        (ApiSettings, API, "PUBLIC_URL", f"https://office.example.test/{SECRET}"),
        (ApiSettings, API, "PUBLIC_URL", f"https://{SECRET}:x@office.example.test"),
        (ApiSettings, API, "PUBLIC_URL", "https://[::1"),
        (ApiSettings, API, "PUBLIC_URL", "https://office.example.test:65536"),
        (ApiSettings, API, "PUBLIC_URL", "https://office.example.test?"),
        (ApiSettings, API, "PUBLIC_URL", "https://office.example.test "),
        (ApiSettings, API, "PUBLIC_URL", "https://büro.example.test"),
        (RelaySettings, TEMPORAL, "PUBLIC_URL", f"https://office.example.test/{SECRET}"),
        (RelaySettings, TEMPORAL, "PUBLIC_URL", "https://"),
        (ApiSettings, API, "ISSUER", "https://"),
        (ApiSettings, API, "ISSUER", f"https://sign-in.example.test/?{SECRET}"),
        (ApiSettings, API, "ISSUER", f"https://{SECRET}@sign-in.example.test"),
        (ApiSettings, API, "ISSUER", "https://sign-in.example.test/a realm"),
        (ApiSettings, API, "ISSUER", "https://[::1"),
        (ApiSettings, API, "ISSUER", "https://[::ffff:127.0.0.1]"),
        (ApiSettings, API, "CONSOLE_URL", "javascript:alert(1)"),
        (ApiSettings, API, "CONSOLE_URL", SECRET),
        (ApiSettings, API, "AUDIENCE", " "),
        (ApiSettings, API, "AUDIENCE", f"{SECRET}\n"),
        (ApiSettings, API, "BACK_OFFICE_CLIENT_ID", f"{SECRET} "),
        (ApiSettings, API, "BACK_OFFICE_AUDIENCE", f"{SECRET} x"),
        (
            ApiSettings,
            API | {"DEVELOPMENT": "true", "PUBLIC_URL": "https://office.example.test"},
            "ISSUER",
            "http://localhost:8400",
        ),
        (ApiSettings, API, "SESSIONS_PER_PERSON", "9" * 30),
        (ApiSettings, API, "SESSION_IDLE_MINUTES", "61"),
        (ApiSettings, API, "SIGN_INS_PER_MINUTE", "9" * 400),
        (ApiSettings, API, "TRUSTED_PROXIES", "*"),
        (ApiSettings, API, "TRUSTED_PROXIES", "10.0.0.0/8, 0.0.0.0/0"),
        (ApiSettings, API, "TRUSTED_PROXIES", "::/0"),
        (ApiSettings, API, "WORDS_PER_MINUTE", "0"),
        (ApiSettings, API | {"AUDIENCE": SECRET}, "BACK_OFFICE_CLIENT_ID", SECRET),
    ],
)
def test_an_unfit_setting_is_named_and_its_value_is_not(
    monkeypatch: pytest.MonkeyPatch, kind: type[Settings], values: dict[str, str], name: str, unfit: str
) -> None:
    told = sentence(monkeypatch, kind, values | {name: unfit})
    assert f"ONCEWARD_{name}" in told
    assert SECRET not in told
    assert "short" not in told
    assert "Traceback" not in told


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("https://Office.Example.test/", "https://office.example.test"),
        ("https://office.example.test:443", "https://office.example.test"),
        ("https://office.example.test:8443", "https://office.example.test:8443"),
        ("HTTP://LOCALHOST:80", "http://localhost"),
        ("https://[2001:DB8::1]:443", "https://[2001:db8::1]"),
    ],
)
def test_our_own_address_is_kept_as_browsers_write_it(
    monkeypatch: pytest.MonkeyPatch, given: str, written: str
) -> None:
    with environment(monkeypatch, API | {"PUBLIC_URL": given}):
        assert read(ApiSettings).public_url == written


def test_a_session_rests_no_longer_than_the_issuers_word_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    longest = int(BELIEVED_FOR.total_seconds() // 60)
    with environment(monkeypatch, API | {"SESSION_IDLE_MINUTES": str(longest)}):
        assert read(ApiSettings).session_idle_minutes == longest
    assert "SESSION_IDLE_MINUTES" in sentence(
        monkeypatch, ApiSettings, API | {"SESSION_IDLE_MINUTES": str(longest + 1)}
    )


def test_the_development_issuer_is_believed_in_development_only(monkeypatch: pytest.MonkeyPatch) -> None:
    with environment(monkeypatch, API | {"ISSUER": "http://127.0.0.1:8400", "DEVELOPMENT": "true"}):
        assert read(ApiSettings).development
    with environment(monkeypatch, API):
        assert not read(ApiSettings).development


def test_agents_tokens_and_sign_ins_are_for_different_audiences_by_default_too(monkeypatch: pytest.MonkeyPatch) -> None:
    told = sentence(monkeypatch, ApiSettings, API | {"AUDIENCE": "onceward-back-office"})
    assert "ONCEWARD_BACK_OFFICE_CLIENT_ID" in told


def test_every_fault_is_named_at_once_on_a_line_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    told = sentence(monkeypatch, WorkerSettings, {})
    for name in TEMPORAL:
        assert f"\n  ONCEWARD_{name} (expected " in told


def test_a_secret_is_not_shown_when_settings_are(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind, values in COMPLETE:
        with environment(monkeypatch, values):
            assert SECRET not in repr(read(kind))


def test_no_process_reads_the_settings_of_a_family_of_tools_but_the_worker_when_it_connects_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for kind, _ in COMPLETE:
        assert not [name for name in kind.model_fields if name.startswith("payments")]
    with environment(monkeypatch, PAYMENTS):
        settings = read_for_tools("payments", PaymentsSettings)
    assert SECRET not in repr(settings)


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ({}, "URL"),
        ({}, "API_KEY"),
        (PAYMENTS | {"PAYMENTS_URL": f"ftp://{SECRET}"}, "URL"),
        (PAYMENTS | {"PAYMENTS_TIMEOUT_SECONDS": SECRET}, "TIMEOUT_SECONDS"),
        (PAYMENTS | {"PAYMENTS_TIMEOUT_SECONDS": "0"}, "TIMEOUT_SECONDS"),
    ],
)
def test_an_unfit_setting_of_a_family_is_named_and_its_value_is_not(
    monkeypatch: pytest.MonkeyPatch, values: dict[str, str], name: str
) -> None:
    with environment(monkeypatch, values), pytest.raises(InvalidConfiguration) as refused:
        read_for_tools("payments", PaymentsSettings)
    assert f"ONCEWARD_PAYMENTS_{name} (expected " in str(refused.value)
    assert SECRET not in str(refused.value)


def test_the_modules_with_tools_are_words_separated_by_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    with environment(monkeypatch, TEMPORAL | {"TOOLS": "adapters.tools.payments, shop.tools"}):
        assert read(WorkerSettings).tools == ("adapters.tools.payments", "shop.tools")
    assert "ONCEWARD_TOOLS" in sentence(monkeypatch, WorkerSettings, TEMPORAL | {"TOOLS": " , "})


def test_every_setting_says_what_is_expected() -> None:
    for kind, _ in COMPLETE:
        assert [name for name, field in kind.model_fields.items() if not field.description] == []


def test_without_a_policy_nothing_leaves_unasked(monkeypatch: pytest.MonkeyPatch) -> None:
    with environment(monkeypatch, TEMPORAL):
        assert read(WorkerSettings).policy_unasked_up_to == {}
    with environment(monkeypatch, TEMPORAL | {"POLICY_UNASKED_UP_TO": '{"KRW": 1000}'}):
        assert read(WorkerSettings).policy_unasked_up_to == {"KRW": 1000}


@pytest.mark.parametrize("alone", ["WORKER_DEPLOYMENT", "WORKER_BUILD"])
def test_a_release_is_named_with_its_deployment_or_not_at_all(monkeypatch: pytest.MonkeyPatch, alone: str) -> None:
    told = sentence(monkeypatch, WorkerSettings, TEMPORAL | {alone: "onceward"})
    assert "ONCEWARD_WORKER_BUILD" in told
    assert "WORKER_DEPLOYMENT" in told


def test_a_worker_names_its_release_only_when_it_is_told_to(monkeypatch: pytest.MonkeyPatch) -> None:
    with environment(monkeypatch, TEMPORAL):
        assert (read(WorkerSettings).worker_deployment, read(WorkerSettings).worker_build) == ("", "")
    with environment(monkeypatch, TEMPORAL | {"WORKER_DEPLOYMENT": "onceward", "WORKER_BUILD": "2026.11-3"}):
        assert (read(WorkerSettings).worker_deployment, read(WorkerSettings).worker_build) == ("onceward", "2026.11-3")


@pytest.mark.parametrize("other", ["AUDIENCE", "BACK_OFFICE_CLIENT_ID"])
def test_the_back_offices_api_shares_its_audience_with_no_other_door(
    monkeypatch: pytest.MonkeyPatch, other: str
) -> None:
    told = sentence(monkeypatch, ApiSettings, API | {"BACK_OFFICE_AUDIENCE": "one", other: "one"})
    assert "ONCEWARD_BACK_OFFICE_AUDIENCE (expected " in told
