"""docker-compose.yml starts the processes that the tests start, with every setting that they need."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from adapters.tools.family import families
from worker.dev import temporal
from worker.dev.binaries import Binaries
from worker.dev.children import TABLE
from worker.dev.folder import StateFolder
from worker.dev.layout import Layout
from worker.settings import (
    ApiSettings,
    MigrateSettings,
    RelaySettings,
    Settings,
    WorkerSettings,
    read,
    read_for_tools,
)

FILE = Path(__file__).parents[2] / "docker-compose.yml"
COMPOSE: dict[str, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
JUDGE = Path(sys.executable).with_name("check-jsonschema")
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


def judged(file: Path) -> subprocess.CompletedProcess[str]:
    """By the Compose Specification's own schema."""
    asked = [str(JUDGE), "--builtin-schema", "vendor.compose-spec", str(file)]
    return subprocess.run(asked, capture_output=True, text=True, check=False)


def test_it_is_a_compose_file_by_the_specifications_own_schema() -> None:
    verdict = judged(FILE)
    assert verdict.returncode == 0, verdict.stdout


def test_the_schema_notices_a_word_that_compose_does_not_know(tmp_path: Path) -> None:
    misspelt = tmp_path / "docker-compose.yml"
    misspelt.write_text(FILE.read_text(encoding="utf-8").replace("depends_on:", "depend_on:", 1), encoding="utf-8")
    assert judged(misspelt).returncode == 1


def test_every_process_of_ours_is_a_module_that_can_be_run() -> None:
    commands = {name: service["command"] for name, service in COMPOSE["services"].items() if name in OURS}
    assert commands.keys() == OURS.keys()
    for name, (program, flag, module) in commands.items():
        assert (program, flag) == ("python", "-m"), name
        assert importlib.util.find_spec(module) is not None, name


def test_its_commands_are_those_of_the_stack_that_the_tests_run(tmp_path: Path) -> None:
    nowhere = Layout(StateFolder(tmp_path), {}, {}, Binaries.installed())
    ours = {child.name: list(child.command(nowhere))[1:] for child in TABLE if child.name in OURS}
    assert {name: COMPOSE["services"][name]["command"][1:] for name in OURS} == ours


def test_a_limit_that_compose_fills_in_is_the_default_of_the_process() -> None:
    limits: dict[str, tuple[str, type[Settings]]] = {
        "api": ("ONCEWARD_TURNS_AT_ONCE", ApiSettings),
        "relay": ("ONCEWARD_DRAINS", RelaySettings),
    }
    for service, (variable, settings) in limits.items():
        default = settings.model_fields[variable.removeprefix("ONCEWARD_").lower()].default
        assert filled_in(COMPOSE["services"][service]["environment"][variable]) == str(default)


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
