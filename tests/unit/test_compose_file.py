"""docker-compose.yml starts the processes that the tests start, with every setting that they need."""

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from adapters.tools.family import families
from worker.dev import temporal
from worker.settings import (
    ApiSettings,
    MigrateSettings,
    RelaySettings,
    Settings,
    WorkerSettings,
    read,
    read_for_tools,
)

COMPOSE: dict[str, Any] = yaml.safe_load((Path(__file__).parents[2] / "docker-compose.yml").read_text(encoding="utf-8"))
OURS: dict[str, type[Settings]] = {
    "api": ApiSettings,
    "relay": RelaySettings,
    "worker": WorkerSettings,
    "migrate": MigrateSettings,
}


def filled_in(value: str) -> str:
    """As compose would fill a variable in: with its default, or with what somebody put into `.env`."""
    value = re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", value)
    return re.sub(r"\$\{(\w+):\?[^}]*\}", lambda found: "https://example.test/" + found[1].lower() * 2, value)


def test_every_process_of_ours_is_a_module_that_can_be_run() -> None:
    commands = {name: service["command"] for name, service in COMPOSE["services"].items() if name in OURS}
    assert commands.keys() == OURS.keys()
    for name, (program, flag, module) in commands.items():
        assert (program, flag) == ("python", "-m"), name
        assert importlib.util.find_spec(module) is not None, name


@pytest.mark.parametrize("name", OURS)
def test_a_process_gets_every_setting_that_it_needs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable, value in COMPOSE["services"][name]["environment"].items():
        monkeypatch.setenv(variable, filled_in(value))
    settings = read(OURS[name])
    if isinstance(settings, WorkerSettings):
        for family in families(settings.tools):
            read_for_tools(family.name, family.settings)


def test_only_the_worker_holds_the_credentials_of_a_downstream_service() -> None:
    holders = [name for name, service in COMPOSE["services"].items() if "PAYMENTS_API_KEY" in str(service)]
    assert holders == ["worker"]


@pytest.mark.parametrize("name", OURS)
def test_a_process_connects_as_its_own_role(name: str) -> None:
    role = {"api": "door", "migrate": "owner"}.get(name, name)
    assert f"//onceward_{role}:" in COMPOSE["services"][name]["environment"]["ONCEWARD_POSTGRES_DSN"]


def test_its_temporal_lets_tenants_take_turns_as_ours_does() -> None:
    server = COMPOSE["services"]["temporal"]
    (mounted,) = server["configs"]
    assert server["environment"]["DYNAMIC_CONFIG_FILE_PATH"] == mounted["target"]
    settings = yaml.safe_load(COMPOSE["configs"][mounted["source"]]["content"])
    assert settings["matching.enableFairness"] == [{"value": True}]
    assert "matching.enableFairness=true" in temporal.FAIR
