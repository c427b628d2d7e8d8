"""Who is told, and how it is signed, is the operator's configuration; the relay refuses one that is not fit."""

import base64

import pytest

from adapters.webhooks.receivers import Receiver, receivers_from
from tests.support.listener import OLD_SECRET, SECRET
from worker.settings import RelaySettings, read
from workflows.domain.errors import InvalidConfiguration
from workflows.domain.notice import NoticeType

BARE = {"POSTGRES_DSN": "postgresql://relay:hunter2@127.0.0.1/onceward", "TEMPORAL_ADDRESS": "127.0.0.1:7233"}
COMPLETE = BARE | {
    "WEBHOOK_URLS": "https://chat.example.test/hunter2",
    "WEBHOOK_SECRET": SECRET,
    "PUBLIC_URL": "https://onceward.example.test",
}


def given(monkeypatch: pytest.MonkeyPatch, values: dict[str, str]) -> RelaySettings:
    for name, value in values.items():
        monkeypatch.setenv(f"ONCEWARD_{name}", value)
    return read(RelaySettings)


def key_of(length: int) -> str:
    return "whsec_" + base64.b64encode(b"k" * length).decode()


def test_without_receivers_nothing_else_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = given(monkeypatch, BARE | {"WEBHOOK_URLS": "", "WEBHOOK_SECRET": ""})
    assert (settings.webhook_urls, settings.webhook_keys) == ((), ())


def test_everything_is_told_to_those_who_are_named_unless_said_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = given(monkeypatch, COMPLETE)
    assert settings.webhook_urls == (Receiver("chat.example.test", "https://chat.example.test/hunter2"),)
    assert (settings.webhook_keys, settings.webhook_events) == ((SECRET,), tuple(NoticeType))


def test_a_few_kinds_of_events_can_be_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = given(monkeypatch, COMPLETE | {"WEBHOOK_EVENTS": "approval.asked, operation.manual_review"})
    assert chosen.webhook_events == (NoticeType.ASKED, NoticeType.MANUAL_REVIEW)


def test_two_keys_are_the_new_one_and_the_old_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert given(monkeypatch, COMPLETE | {"WEBHOOK_SECRET": f"{SECRET}, {OLD_SECRET}"}).webhook_keys == (
        SECRET,
        OLD_SECRET,
    )


def test_several_receivers_go_by_their_names_or_hosts() -> None:
    several = receivers_from(
        "chat=https://hooks.example.test/a, mail=https://hooks.example.test/b,https://ops.test:8443/"
    )
    assert [receiver.name for receiver in several] == ["chat", "mail", "ops.test"]


@pytest.mark.parametrize("url", ["http://127.0.0.1:9000/h", "http://localhost:9000", "http://[::1]:9000/h"])
def test_on_this_machine_it_may_be_unprotected(url: str) -> None:
    assert receivers_from(url)[0].url == url


@pytest.mark.parametrize(
    ("name", "unfit"),
    [
        ("WEBHOOK_URLS", "http://chat.example.test/hunter2"),
        ("WEBHOOK_URLS", "http://127.0.0.1.example.test/hunter2"),
        ("WEBHOOK_URLS", "http://169.254.169.254/hunter2"),
        ("WEBHOOK_URLS", "https://user:hunter2@chat.example.test/"),
        ("WEBHOOK_URLS", "https://chat.example.test/#hunter2"),
        ("WEBHOOK_URLS", "https://chat.example.test:0/hunter2"),
        ("WEBHOOK_URLS", "https://chat.example.test:port/hunter2"),
        ("WEBHOOK_URLS", "https:///hunter2"),
        ("WEBHOOK_URLS", "ftp://chat.example.test/hunter2"),
        ("WEBHOOK_URLS", "hunter2"),
        ("WEBHOOK_URLS", "Chat Room=https://chat.example.test/hunter2"),
        ("WEBHOOK_URLS", "https://chat.example.test/hunter2,https://chat.example.test/b"),
        ("WEBHOOK_URLS", "chat=https://a.test/hunter2,chat=https://b.test/"),
        ("WEBHOOK_SECRET", "hunter2"),
        ("WEBHOOK_SECRET", "whsec_hunter2"),
        ("WEBHOOK_SECRET", SECRET.removeprefix("whsec_")),
        ("WEBHOOK_SECRET", ""),
        ("WEBHOOK_SECRET", " , "),
        ("WEBHOOK_SECRET", f"{SECRET},{OLD_SECRET},{SECRET}"),
        ("WEBHOOK_SECRET", f"{SECRET},hunter2"),
        ("WEBHOOK_SECRET", key_of(23)),
        ("WEBHOOK_SECRET", key_of(65)),
        ("WEBHOOK_EVENTS", "hunter2"),
        ("WEBHOOK_EVENTS", "approval.asked,hunter2"),
        ("WEBHOOK_EVENTS", ""),
        ("WEBHOOK_TIMEOUT_SECONDS", "0"),
        ("WEBHOOK_TIMEOUT_SECONDS", "61"),
        ("WEBHOOK_TIMEOUT_SECONDS", "hunter2"),
        ("PUBLIC_URL", ""),
        ("PUBLIC_URL", "hunter2"),
    ],
)
def test_an_unfit_one_is_named_alone_and_its_value_is_not(
    monkeypatch: pytest.MonkeyPatch, name: str, unfit: str
) -> None:
    with pytest.raises(InvalidConfiguration) as refused:
        given(monkeypatch, COMPLETE | {name: unfit})
    told = str(refused.value)
    assert f"ONCEWARD_{name} (expected " in told
    assert told.count("ONCEWARD_") == 1
    assert not [secret for secret in ("hunter2", SECRET, key_of(23), key_of(65)) if secret in told]


@pytest.mark.parametrize("length", [24, 64])
def test_a_key_may_be_as_short_and_as_long_as_the_standard_has_it(monkeypatch: pytest.MonkeyPatch, length: int) -> None:
    assert given(monkeypatch, COMPLETE | {"WEBHOOK_SECRET": key_of(length)}).webhook_keys == (key_of(length),)


def test_neither_a_key_nor_an_address_is_shown_when_settings_are(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = repr(given(monkeypatch, COMPLETE))
    assert "chat.example.test" in shown
    assert not [secret for secret in ("hunter2", SECRET) if secret in shown]
