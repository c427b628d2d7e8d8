from pathlib import Path

import pytest

from adapters.webhooks.receivers import keys_from
from tests.support.listener import SECRET
from worker.dev import credentials, ports
from worker.dev.binaries import Binaries
from worker.dev.child import Child
from worker.dev.children import TABLE
from worker.dev.environment import INHERITED, webhook_secret
from worker.dev.folder import StateFolder
from worker.dev.layout import Layout

# Which secrets each process is given; all others must not be in its environment in any form.
MAY_HOLD = {
    "postgres": set(),
    "temporal": set(),
    "migrate": {"onceward_owner"},
    "seed": {"onceward_owner"},
    "provider": {"payments_provider", "payments_api_key", "payments_admin_key"},
    "issuer": set(),
    "api": {"onceward_door", "session_secret"},
    "relay": {"onceward_relay"},
    "worker": {"onceward_worker", "payments_api_key"},
}


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    folder = StateFolder(tmp_path)
    nowhere = Binaries(postgres=tmp_path, temporal=tmp_path / "temporal")
    return Layout(
        folder, dict(zip(ports.NAMES, range(20_000, 20_100), strict=False)), credentials.keep(folder), nowhere
    )


def test_the_table_of_who_may_hold_what_is_complete() -> None:
    assert [child.name for child in TABLE] == list(MAY_HOLD)


@pytest.mark.parametrize("child", TABLE, ids=lambda child: child.name)
def test_a_child_holds_its_own_secrets_and_no_others(layout: Layout, child: Child) -> None:
    values = "\n".join(child.environment(layout).values())
    assert {name for name, secret in layout.credentials.items() if secret in values} == MAY_HOLD[child.name]


def test_a_child_inherits_nothing_but_the_names_on_the_list(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "secret of the person at the keyboard")
    monkeypatch.setenv("LANG", "C.UTF-8")
    for child in TABLE:
        inherited = {
            name for name in child.environment(layout) if not name.startswith(("ONCEWARD_", "PAYMENTS_", "PYTHON"))
        }
        assert "LANG" in inherited
        assert inherited <= set(INHERITED)


def test_a_further_copy_differs_in_its_port_only(layout: Layout) -> None:
    api = next(child for child in TABLE if child.name == "api")
    first, second = api.environment(layout), api.environment(layout.with_port("api", 29_999))
    assert {name for name in first if first[name] != second[name]} == {"ONCEWARD_API_PORT", "ONCEWARD_PUBLIC_URL"}


def test_the_callers_own_tools_are_known_to_all_and_their_settings_to_the_worker_alone(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ONCEWARD_TOOLS", "my.tickets")
    monkeypatch.setenv("ONCEWARD_TICKETS_TOKEN", "secret of the ticket service")
    monkeypatch.setenv("ONCEWARD_POSTGRES_DSN", "postgresql://elsewhere/onceward")
    given = {child.name: child.environment(layout) for child in TABLE}
    assert {given[name]["ONCEWARD_TOOLS"] for name in ("api", "worker", "relay")} == {"my.tickets"}
    assert [name for name, values in given.items() if "ONCEWARD_TICKETS_TOKEN" in values] == ["worker"]
    assert "elsewhere" not in given["worker"]["ONCEWARD_POSTGRES_DSN"]


def test_one_switch_of_the_caller_reaches_the_door_and_the_worker_alike(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ONCEWARD_PARALLEL", "false")
    given = {child.name: child.environment(layout) for child in TABLE}
    assert sorted(name for name, values in given.items() if values.get("ONCEWARD_PARALLEL") == "false") == [
        "api",
        "worker",
    ]


def test_only_the_relay_knows_who_is_told_and_signs_with_the_stacks_own_key(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ONCEWARD_WEBHOOK_URLS", "http://127.0.0.1:9100/")
    given = {child.name: child.environment(layout) for child in TABLE}
    assert [name for name, values in given.items() if any("WEBHOOK" in key for key in values)] == ["relay"]
    (key,) = keys_from(given["relay"]["ONCEWARD_WEBHOOK_SECRET"])
    assert key == webhook_secret(layout.credentials["webhook_key"])


def test_the_key_that_the_caller_has_set_signs_instead(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONCEWARD_WEBHOOK_URLS", "http://127.0.0.1:9100/")
    monkeypatch.setenv("ONCEWARD_WEBHOOK_SECRET", SECRET)
    given = {child.name: child.environment(layout) for child in TABLE}
    assert given["relay"]["ONCEWARD_WEBHOOK_SECRET"] == SECRET
    assert [name for name, values in given.items() if SECRET in values.values()] == ["relay"]


def test_where_nobody_is_told_there_is_no_key(layout: Layout) -> None:
    relay = next(child for child in TABLE if child.name == "relay")
    assert [name for name in relay.environment(layout) if "WEBHOOK" in name] == []
