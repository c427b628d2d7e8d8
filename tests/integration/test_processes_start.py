"""Our processes where they cannot start: one sentence and exit code 2; and how they say that they can work."""

import asyncio
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import httpx2
import pytest
from starlette.requests import Request
from temporalio.client import Client

from adapters.postgres.engine import Database
from tests.integration.stack_probes import assert_one_sentence, listening
from tests.support.onceward import Onceward
from worker.dev.layout import ROOT
from worker.readiness import Readiness

PATIENCE_SECONDS = 60

NOBODY = "127.0.0.1:1"
"""Nothing listens there."""

ABSENT = f"postgresql://nobody:hunter2@{NOBODY}/onceward"

ASKED = Request({"type": "http"})

servers = pytest.mark.parametrize(
    ("module", "child"), [("worker", "worker"), ("worker.api", "api"), ("worker.relay", "relay")]
)


def run(*module: str, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", *module]
    return subprocess.run(
        command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False
    )


async def started(onceward: Onceward, module: str, child: str, ready: Path, **changed: str) -> str:
    """What a process says that ends at its start; its settings are the stack's own but for those that are changed."""
    environment = onceward.stack.environment(child) | {"ONCEWARD_API_PORT": "0", "ONCEWARD_READY_FILE": str(ready)}
    environment |= {f"ONCEWARD_{name}": value for name, value in changed.items()}
    ended = await asyncio.to_thread(run, module, environment=environment)
    assert ended.returncode == 2, ended.stderr
    assert not await asyncio.to_thread(ready.exists)
    said = ended.stderr.strip()
    assert_one_sentence(said)
    assert "hunter2" not in said
    return said


@servers
async def test_without_a_database_no_process_starts(
    onceward: Onceward, tmp_path: Path, module: str, child: str
) -> None:
    said = await started(onceward, module, child, tmp_path / "ready", POSTGRES_DSN=ABSENT)
    assert said == "The database at ONCEWARD_POSTGRES_DSN does not answer, or refuses this role."


@servers
async def test_without_temporal_no_process_starts(onceward: Onceward, tmp_path: Path, module: str, child: str) -> None:
    said = await started(onceward, module, child, tmp_path / "ready", TEMPORAL_ADDRESS=NOBODY)
    assert said == f"No Temporal frontend answers at ONCEWARD_TEMPORAL_ADDRESS ({NOBODY})."


@servers
async def test_in_a_namespace_that_does_not_exist_no_process_starts(
    onceward: Onceward, tmp_path: Path, module: str, child: str
) -> None:
    said = await started(onceward, module, child, tmp_path / "ready", TEMPORAL_NAMESPACE="atlantis")
    assert said == "Temporal has no namespace atlantis; ONCEWARD_TEMPORAL_NAMESPACE names it."


async def test_the_door_does_not_open_where_somebody_else_listens(onceward: Onceward, tmp_path: Path) -> None:
    with listening() as port:
        said = await started(onceward, "worker.api", "api", tmp_path / "ready", API_PORT=str(port))
    assert f"ONCEWARD_API_PORT (127.0.0.1:{port}): Address already in use" in said


async def test_the_ledger_does_not_take_any_word_for_its_database(onceward: Onceward, tmp_path: Path) -> None:
    said = await started(onceward, "worker", "worker", tmp_path / "ready", LEDGER_DSN="hunter2")
    assert "ONCEWARD_LEDGER_DSN (expected postgresql://" in said


def test_migrating_without_a_database_ends_in_one_sentence() -> None:
    ended = run("worker.migrate", environment={"ONCEWARD_POSTGRES_DSN": ABSENT})
    assert ended.returncode == 2
    assert_one_sentence(ended.stderr.strip())


@pytest.mark.parametrize("program", ["worker", "worker.api", "worker.relay", "worker.migrate", "examples.demo"])
def test_help_needs_no_settings(program: str) -> None:
    ended = run(program, "--help", environment={})
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.startswith(f"usage: python -m {program} ")


async def test_the_door_is_ready_when_database_and_temporal_answer(onceward: Onceward) -> None:
    answer = await onceward.door.get("/readyz")
    assert (answer.status_code, answer.text) == (200, "ok\n")


async def test_the_door_is_not_ready_without_its_database_or_temporal_and_says_which(onceward: Onceward) -> None:
    away = Database(ABSENT, application_name="tests")
    nowhere = await Client.connect(NOBODY, lazy=True)
    try:
        for readiness, word in (
            (Readiness(away, onceward.temporal), "database\n"),
            (Readiness(onceward.owner, nowhere), "temporal\n"),
            (Readiness(away, nowhere), "database, temporal\n"),
        ):
            answer = await readiness.answer(ASKED)
            assert (answer.status_code, bytes(answer.body).decode()) == (503, word)
    finally:
        await away.close()


async def test_the_address_in_the_banner_describes_the_api(onceward: Onceward) -> None:
    async with httpx2.AsyncClient(base_url=onceward.stack.links.door) as anybody:
        described = (await anybody.get("/openapi.json")).json()
    assert "/v1/turns" in described["paths"]
