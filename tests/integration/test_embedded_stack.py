"""The embedded stack with a real PostgreSQL and a real Temporal; our own processes have stand-ins."""

import asyncio
import json
import os
import signal
import time
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import psycopg
import pytest

from tests.integration.stack_probes import (
    PATIENCE,
    kill_and_start,
    recorded,
    start_workflow,
    status,
    temporal,
    until,
    value,
)
from tests.integration.stand_ins import STAND_INS, named, program, table_with
from worker.dev.errors import ChildFailed, UnknownChild
from worker.dev.stack import Stack
from workflows import attributes


@pytest.fixture(scope="module")
async def stack(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stack]:
    """One stack for the tests that leave it as they found it."""
    async with Stack(tmp_path_factory.mktemp("state"), table=STAND_INS, restart=False) as running:
        yield running


# -- what is there


async def test_everything_is_started_in_order_and_its_links_answer(stack: Stack) -> None:
    assert stack.running() == ["postgres", "temporal", "provider", "issuer", "api", "relay", "worker"]
    assert await status(f"{stack.links.door}/healthz") == 200
    assert await status(stack.links.console) == 200
    assert (stack.links.logs / "worker.log").exists()


async def test_each_login_reaches_its_own_database_and_no_other(stack: Stack) -> None:
    for role in ("onceward_owner", "onceward_door", "onceward_worker", "onceward_relay"):
        assert await value(stack.dsn(role), "SELECT current_user::text") == role
        with pytest.raises(psycopg.OperationalError, match="permission denied"):
            await value(stack.dsn(role, "payments"), "SELECT 1")
    assert await value(stack.dsn("payments_provider", "payments"), "SELECT current_database()::text") == "payments"
    with pytest.raises(psycopg.OperationalError, match="permission denied"):
        await value(stack.dsn("payments_provider"), "SELECT 1")


async def test_a_wrong_password_is_refused(stack: Stack) -> None:
    dsn = stack.dsn("onceward_door")
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        await value(dsn.replace(dsn.split(":")[2].split("@")[0], "guess"), "SELECT 1")


async def test_secrets_lie_in_files_of_the_owner_and_in_no_log(stack: Stack) -> None:
    folder = stack.links.logs.parent
    secrets = json.loads((folder / "credentials.json").read_text())
    assert (folder / "credentials.json").stat().st_mode & 0o077 == 0
    written = "".join(log.read_text(errors="replace") for log in stack.links.logs.iterdir())
    assert not [name for name, secret in secrets.items() if secret in written]


async def test_postgres_never_runs_as_root_and_listens_on_this_machine_only(stack: Stack) -> None:
    server = psutil.Process(stack.pid("postgres"))
    assert server.uids().effective != 0
    assert {connection.laddr.ip for connection in server.net_connections("tcp")} == {"127.0.0.1"}


async def test_temporal_has_the_namespace_and_the_search_attributes(stack: Stack) -> None:
    listed = temporal(stack, "operator", "search-attribute", "list")
    assert attributes.KINDS.items() <= dict(line.split() for line in listed.splitlines() if line.strip()).items()


async def test_a_child_sees_its_own_secrets_and_nothing_of_the_caller(stack: Stack) -> None:
    seen = psutil.Process(stack.pid("api")).environ()
    assert {name: seen.get(name) for name in stack.environment("api")} == stack.environment("api")
    assert "PAYMENTS_PROVIDER_API_KEY" not in seen
    assert "ONCEWARD_PAYMENTS_API_KEY" not in seen
    assert not {name for name in os.environ if name.startswith("PYTEST")} & seen.keys()


# -- what can be done to it


async def test_a_killed_child_stays_dead_until_it_is_started(stack: Stack) -> None:
    before = stack.pid("worker")
    await stack.kill("worker")
    assert "worker" not in stack.running()
    assert not psutil.pid_exists(before)
    await stack.start("worker")
    assert stack.pid("worker") != before


async def test_a_paused_child_answers_late(stack: Stack) -> None:
    stack.pause("provider")
    late = asyncio.create_task(status(f"{stack.url('provider')}/healthz"))
    finished, _ = await asyncio.wait([late], timeout=0.3)
    assert not finished
    stack.resume("provider")
    assert await late == 200


async def test_a_second_copy_runs_beside_the_first_with_a_port_of_its_own(stack: Stack) -> None:
    await stack.spawn("worker", name="worker-2")
    await stack.spawn("api", name="api-2")
    assert stack.url("api-2") != stack.url("api")
    assert await status(f"{stack.url('api-2')}/healthz") == 200
    assert {"worker", "worker-2", "api", "api-2"} <= set(stack.running())
    await stack.kill("worker-2")
    await stack.stop("api-2")


@pytest.mark.parametrize("how", ["restart", "kill"])
async def test_what_postgres_committed_survives_its_end(stack: Stack, how: str) -> None:
    await value(stack.dsn("onceward_owner"), f"CREATE TABLE survives_{how} AS SELECT 7 AS seven")
    await (stack.restart("postgres") if how == "restart" else kill_and_start(stack, "postgres"))
    assert await value(stack.dsn("onceward_owner"), f"SELECT seven FROM survives_{how}") == 7


@pytest.mark.parametrize("how", ["restart", "kill"])
async def test_what_temporal_recorded_survives_its_end(stack: Stack, how: str) -> None:
    start_workflow(stack, f"survives-{how}")
    await (stack.restart("temporal") if how == "restart" else kill_and_start(stack, "temporal"))
    assert f"survives-{how}" in temporal(stack, "workflow", "list")


async def test_with_restarts_off_a_death_is_left_as_it_is(stack: Stack) -> None:
    os.kill(stack.pid("relay"), signal.SIGKILL)
    await until(lambda: "relay" not in stack.running())
    await stack.start("relay")


async def test_an_unknown_name_is_an_error(stack: Stack) -> None:
    with pytest.raises(UnknownChild, match="no 'clerk'"):
        await stack.start("clerk")


# -- deaths and restarts


async def test_a_child_that_dies_is_started_again(tmp_path: Path) -> None:
    async with Stack(tmp_path, table=STAND_INS, only=["worker"]) as stack:
        dead = stack.pid("worker")
        os.kill(dead, signal.SIGKILL)
        await until(lambda: "worker" in stack.running() and stack.pid("worker") != dead)


async def test_a_child_that_ends_at_once_is_named_with_the_end_of_its_log(tmp_path: Path) -> None:
    broken = table_with(named("worker", command=program("fail")))
    with pytest.raises(ChildFailed, match="Worker ended with exit code 3 before it was ready") as failure:
        async with Stack(tmp_path, table=broken, only=["relay", "worker"]):
            pass
    assert failure.value.last_lines[-1] == "the reason stands here"
    assert recorded(tmp_path) == {}


async def test_a_server_that_holds_data_is_not_started_again_by_itself(tmp_path: Path) -> None:
    fragile = table_with(named("relay", restarted=False))
    async with Stack(tmp_path, table=fragile, only=["relay"]) as stack:
        os.kill(stack.pid("relay"), signal.SIGKILL)
        with pytest.raises(ChildFailed, match="Relay was ended by SIGKILL unexpectedly"):
            await asyncio.wait_for(stack.wait(), PATIENCE)


async def test_a_child_that_does_not_hear_is_killed_in_the_end(tmp_path: Path) -> None:
    deaf = table_with(named("worker", command=program("stubborn"), grace=0.2))
    async with Stack(tmp_path, table=deaf, only=["worker"]) as stack:
        pid = stack.pid("worker")
    assert not psutil.pid_exists(pid)


async def test_a_paused_child_does_not_hold_up_the_end(tmp_path: Path) -> None:
    patient = table_with(named("worker", grace=PATIENCE))
    async with Stack(tmp_path, table=patient, only=["worker"]) as stack:
        pid = stack.pid("worker")
        stack.pause("worker")
        began = time.monotonic()
    assert not psutil.pid_exists(pid)
    assert time.monotonic() - began < PATIENCE
