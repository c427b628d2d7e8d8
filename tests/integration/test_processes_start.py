"""Our processes where they cannot start: one sentence and exit code 2; and how they say that they can work."""

import asyncio
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import httpx2
import pytest
from google.protobuf.duration_pb2 import Duration
from starlette.requests import Request
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest
from temporalio.api.workflowservice.v1 import RegisterNamespaceRequest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from adapters.postgres.engine import Database
from tests.integration.stack_probes import assert_one_sentence, listening
from tests.support.onceward import Onceward
from tests.support.proposals import fresh
from tests.support.waiting import until
from worker import search_attributes
from worker.dev.binaries import Binaries
from worker.dev.layout import ROOT
from worker.readiness import Readiness
from workflows.attributes import KINDS, WAITING_SINCE

PATIENCE_SECONDS = 60

NOBODY = "127.0.0.1:1"
"""Nothing listens there."""

ABSENT = f"postgresql://nobody:hunter2@{NOBODY}/onceward"

NEWEST = WAITING_SINCE.name

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


async def test_a_worker_whose_namespace_lacks_a_search_attribute_says_which_and_how_to_register_it(
    onceward: Onceward, tmp_path: Path
) -> None:
    namespace = await namespace_with(onceward, {name: kind for name, kind in KINDS.items() if name != NEWEST})
    said = await started(onceward, "worker", "worker", tmp_path / "ready", TEMPORAL_NAMESPACE=namespace)
    assert f"lacks {NEWEST}; register with" in said
    await asyncio.to_thread(follow_the_hint, onceward, said)
    await search_attributes.require(await Client.connect(address(onceward), namespace=namespace))


async def test_a_worker_whose_namespace_has_a_search_attribute_of_another_type_says_which(
    onceward: Onceward, tmp_path: Path
) -> None:
    namespace = await namespace_with(onceward, KINDS | {NEWEST: "Keyword"})
    said = await started(onceward, "worker", "worker", tmp_path / "ready", TEMPORAL_NAMESPACE=namespace)
    assert f"{NEWEST} is Keyword and must be Datetime" in said


def address(onceward: Onceward) -> str:
    return onceward.stack.environment("worker")["ONCEWARD_TEMPORAL_ADDRESS"]


async def namespace_with(onceward: Onceward, kinds: Mapping[str, str]) -> str:
    """A new namespace in which these search attributes are registered."""
    namespace, ours = fresh("namespace"), onceward.temporal
    await ours.workflow_service.register_namespace(
        RegisterNamespaceRequest(namespace=namespace, workflow_execution_retention_period=Duration(seconds=24 * 3600))
    )
    asked = AddSearchAttributesRequest(namespace=namespace)
    for name, kind in kinds.items():
        asked.search_attributes[name] = IndexedValueType.Value(f"INDEXED_VALUE_TYPE_{kind.upper()}")
    await until(lambda: added(ours, asked), bool)
    return namespace


async def added(client: Client, asked: AddSearchAttributesRequest) -> bool:
    """False as long as the server has not heard of the namespace in all of its parts."""
    try:
        await client.operator_service.add_search_attributes(asked)
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise
        return False
    return True


def follow_the_hint(onceward: Onceward, said: str) -> None:
    """Run the command that was named, as somebody would who reads it."""
    program, *words = said.split("`")[1].split()
    assert program == "temporal"
    tool = str(Binaries.installed().temporal_server)
    subprocess.run([tool, *words, "--address", address(onceward)], check=True, timeout=PATIENCE_SECONDS)


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


@pytest.mark.parametrize(
    "program", ["worker", "worker.api", "worker.relay", "worker.migrate", "worker.mcp", "examples.demo"]
)
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


async def test_the_relay_refuses_receivers_that_are_not_fit(onceward: Onceward, tmp_path: Path) -> None:
    said = await started(onceward, "worker.relay", "relay", tmp_path / "ready", WEBHOOK_URLS="http://chat.test/hunter2")
    assert "ONCEWARD_WEBHOOK_URLS (expected who is told: " in said


def test_nobody_is_told_again_who_is_not_told() -> None:
    settings = {"ONCEWARD_POSTGRES_DSN": ABSENT, "ONCEWARD_TEMPORAL_ADDRESS": NOBODY}
    ended = run("worker.relay", "--retell", "chat", environment=settings)
    assert (ended.returncode, ended.stderr) == (2, "No receiver of that name is told; told are: none.\n")
