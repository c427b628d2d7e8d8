"""`--help` of each process names the settings that it reads, whatever the environment holds."""

import pytest
from pydantic_settings import BaseSettings

from adapters.tools.payments import PaymentsSettings
from worker import api, mcp, migrate, relay, usage
from worker.mcp_stdio import McpSettings
from worker.settings import ApiSettings, MigrateSettings, RelaySettings, WorkerSettings


@pytest.mark.parametrize(
    ("program", "doc", "settings"),
    [
        ("worker", "The worker.", WorkerSettings),
        ("worker.api", api.__doc__, ApiSettings),
        ("worker.relay", relay.__doc__, RelaySettings),
        ("worker.migrate", migrate.__doc__, MigrateSettings),
        ("worker.mcp", mcp.__doc__, McpSettings),
    ],
)
def test_help_says_what_the_process_is_and_names_every_setting_with_its_expectation(
    program: str, doc: str | None, settings: type[BaseSettings], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        usage.parser(program, doc, settings).parse_args(["--help"])
    told = capsys.readouterr().out
    assert ended.value.code == 0
    assert doc is not None
    assert doc in told
    for name, field in settings.model_fields.items():
        assert f"ONCEWARD_{name.upper()}\n      {field.description} (" in told


def test_help_of_the_worker_names_the_settings_of_its_tools_too(monkeypatch: pytest.MonkeyPatch) -> None:
    told = usage.parser("worker", "", WorkerSettings, tools=True).format_help()
    for name in PaymentsSettings.model_fields:
        assert f"ONCEWARD_PAYMENTS_{name.upper()}\n" in told
    monkeypatch.setenv("ONCEWARD_TOOLS", "no.such.module")
    assert "ONCEWARD_POSTGRES_DSN" in usage.parser("worker", "", WorkerSettings, tools=True).format_help()


def test_help_says_what_is_required_and_what_holds_otherwise() -> None:
    told = usage.parser("worker.api", "", ApiSettings).format_help()
    assert "another word than AUDIENCE (default: onceward-back-office)" in told
    assert "and on this machine only if DEVELOPMENT is true (required)" in told
    assert "the port to listen on (default: 8080)" in told
    assert "for links (optional)" in told
