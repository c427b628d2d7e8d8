"""Starting the embedded stack: again, after a crash, where it cannot be done, and as the command that people type."""

import asyncio
import json
import os
import signal
from contextlib import suppress
from pathlib import Path

import jwt
import psutil
import pytest

from tests.integration.stack_probes import (
    PATIENCE,
    alive,
    assert_one_sentence,
    execute,
    listening,
    owner,
    poll,
    recorded,
    run,
    run_to_end,
    sleeper,
    start_supervisor,
    start_workflow,
    status,
    supervisor,
    temporal,
    value,
)
from tests.integration.stand_ins import REAL, STAND_INS
from worker.dev.binaries import Binaries
from worker.dev.errors import BrokenData, MissingBinary, StateFolderInUse
from worker.dev.layout import BACK_OFFICE_AUDIENCE
from worker.dev.processes import tree
from worker.dev.stack import Stack
from workflows.attributes import WAITING_SINCE

# -- starting again


async def test_a_second_start_resumes_with_the_same_data_ports_and_passwords(tmp_path: Path) -> None:
    async with Stack(tmp_path, table=STAND_INS, only=REAL) as first:
        await value(first.dsn("onceward_owner"), "CREATE TABLE kept AS SELECT 7 AS seven")
        start_workflow(first, "kept")
        before = first.dsn("onceward_owner"), first.links
    async with Stack(tmp_path, table=STAND_INS, only=REAL) as second:
        assert (second.dsn("onceward_owner"), second.links) == before
        assert await value(second.dsn("onceward_owner"), "SELECT seven FROM kept") == 7
        assert "kept" in temporal(second, "workflow", "list")


async def test_what_is_searched_by_since_this_release_is_made_known_to_a_server_with_older_data(tmp_path: Path) -> None:
    async with Stack(tmp_path, table=STAND_INS, only=["temporal"]) as before:
        temporal(before, "operator", "search-attribute", "remove", "--name", WAITING_SINCE.name, "--yes")
    async with Stack(tmp_path, table=STAND_INS, only=["temporal"]) as after:
        assert WAITING_SINCE.name in temporal(after, "operator", "search-attribute", "list")


async def test_a_port_that_was_taken_meanwhile_is_replaced(tmp_path: Path) -> None:
    async with Stack(tmp_path, table=STAND_INS, only=["api"]) as first:
        before = first.links.door
    with listening(int(before.rsplit(":", 1)[1])):
        async with Stack(tmp_path, table=STAND_INS, only=["api"]) as second:
            assert second.links.door != before
            assert await status(f"{second.links.door}/healthz") == 200


async def test_leftovers_are_ended_and_strangers_with_their_pid_are_not(tmp_path: Path) -> None:
    leftover, stranger = sleeper(), sleeper()
    record = {
        "relay": {"pid": leftover.pid, "started": psutil.Process(leftover.pid).create_time()},
        "worker": {"pid": stranger.pid, "started": psutil.Process(stranger.pid).create_time() - 3600},
    }
    (tmp_path / "processes.json").write_text(json.dumps(record))
    try:
        async with Stack(tmp_path, table=STAND_INS, only=["relay"]):
            assert leftover.poll() is not None
            assert stranger.poll() is None
    finally:
        for process in (leftover, stranger):
            process.kill()
            process.wait()


async def test_a_pid_file_that_names_a_stranger_does_not_stop_postgres(tmp_path: Path) -> None:
    async with Stack(tmp_path, table=STAND_INS, only=["postgres"]):
        pass
    (tmp_path / "postgres" / "postmaster.pid").write_text(
        f"{os.getpid()}\n{tmp_path / 'postgres'}\n1\n5432\n\n127.0.0.1\n"
    )
    async with Stack(tmp_path, table=STAND_INS, only=["postgres"]) as stack:
        assert await value(stack.dsn("postgres", "postgres"), "SELECT 1") == 1


# -- refusals, each one sentence


async def test_a_missing_binary_says_how_to_get_it(tmp_path: Path) -> None:
    without = Binaries(postgres=Binaries.installed().postgres, temporal=tmp_path / "nowhere" / "temporal")
    with pytest.raises(MissingBinary, match=r"Temporal dev server is not installed .* `make setup` gets it\.$"):
        async with Stack(tmp_path / "state", only=REAL, binaries=without):
            pass
    assert recorded(tmp_path / "state") == {}


async def test_passwords_that_do_not_belong_to_the_data_are_noticed(tmp_path: Path) -> None:
    async with Stack(tmp_path, table=STAND_INS, only=["postgres"]):
        pass
    (tmp_path / "credentials.json").unlink()
    with pytest.raises(BrokenData, match="other passwords than those"):
        async with Stack(tmp_path, table=STAND_INS, only=["postgres"]):
            pass


async def test_one_folder_has_one_stack(tmp_path: Path) -> None:
    async with Stack(tmp_path, table=STAND_INS, only=["relay"]):
        with pytest.raises(StateFolderInUse, match=f"process {os.getpid()}"):
            async with Stack(tmp_path, table=STAND_INS, only=["relay"]):
                pass


def test_a_broken_postgres_folder_ends_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "postgres").mkdir()
    (tmp_path / "postgres" / "PG_VERSION").write_text("garbage")
    code, said = run_to_end("--state", str(tmp_path))
    assert code == 2
    assert said.startswith(f"PostgreSQL cannot use its data in {tmp_path / 'postgres'}: ")
    assert_one_sentence(said)


def test_a_broken_temporal_file_ends_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "temporal").mkdir()
    (tmp_path / "temporal" / "temporal.db").write_text("garbage " * 1000)
    code, said = run_to_end("--state", str(tmp_path))
    assert code == 2
    assert said.startswith("Temporal cannot use its data in ")
    assert "file is not a database" in said
    assert_one_sentence(said)


@pytest.mark.parametrize("option", ["--port", "--console-port"])
def test_a_busy_port_that_was_asked_for_ends_in_one_sentence(tmp_path: Path, option: str) -> None:
    with listening() as port:
        code, said = run_to_end("--state", str(tmp_path), option, str(port))
    assert code == 2
    assert said.startswith(f"Port {port} is in use by another program; give {option} another number")
    assert_one_sentence(said)


@pytest.mark.parametrize("port", ["99999", "0", "-1"])
def test_a_number_that_is_no_ports_ends_in_one_sentence(tmp_path: Path, port: str) -> None:
    code, said = run_to_end("--state", str(tmp_path), f"--port={port}")
    assert code == 2
    assert said == f"There is no port {port}; give --port a number from 1 to 65535."


def test_a_state_folder_that_cannot_be_made_ends_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    code, said = run_to_end("--state", str(tmp_path / "file" / "state"))
    assert code == 2
    assert said.startswith(f"The state folder {tmp_path / 'file' / 'state'} cannot be used (Not a directory)")
    assert_one_sentence(said)


def test_a_token_before_the_first_start_ends_in_one_sentence(tmp_path: Path) -> None:
    wanted = ("token", "--role", "support", "--subject", "user-17", "--tenant", "tenant-a")
    code, said = run_to_end("--state", str(tmp_path), *wanted)
    assert code == 2
    assert_one_sentence(said)


# -- the command


def test_the_command_shows_links_refuses_a_twin_and_ends_everything_on_sigterm(tmp_path: Path) -> None:
    with supervisor(tmp_path) as (process, printed):
        children = recorded(tmp_path)
        assert len(children) == 7
        for word in (
            "PostgreSQL ... ",
            " s\n",
            "back office   http://",
            "console       http://",
            "token --role support",
            f"-m examples.propose_refund --state {tmp_path}",
            "/openapi.json",
        ):
            assert word in printed

        code, said = run_to_end("--state", str(tmp_path))
        assert code == 2
        assert said.startswith(f"Another stack is running on {tmp_path} (process {process.pid})")
        assert_one_sentence(said)

        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
        assert alive(children) == []


def test_ctrl_c_ends_everything_with_exit_code_0(tmp_path: Path) -> None:
    with supervisor(tmp_path) as (process, _):
        children = recorded(tmp_path)
        # As the terminal does it: to the whole foreground group.
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(PATIENCE) == 0
        assert alive(children) == []


def test_kill_9_of_the_supervisor_leaves_no_child_and_the_next_start_resumes(tmp_path: Path) -> None:
    with supervisor(tmp_path) as (process, _):
        children = recorded(tmp_path)
        execute(owner(tmp_path), "CREATE TABLE kept AS SELECT 7 AS seven")
        process.kill()
        process.wait(PATIENCE)
        poll(lambda: alive(children) == [])
    with supervisor(tmp_path):
        assert execute(owner(tmp_path), "SELECT seven FROM kept") == 7


def test_kill_9_of_everything_at_once_is_recovered_from(tmp_path: Path) -> None:
    with supervisor(tmp_path) as (process, _):
        execute(owner(tmp_path), "CREATE TABLE kept AS SELECT 7 AS seven")
        everything = [member.pid for member in tree(process.pid)]
        for pid in everything:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait(PATIENCE)
    with supervisor(tmp_path):
        assert execute(owner(tmp_path), "SELECT seven FROM kept") == 7


def test_an_early_ctrl_c_ends_what_was_started_so_far(tmp_path: Path) -> None:
    process = start_supervisor(tmp_path)
    poll(lambda: "postgres" in recorded(tmp_path))
    children = recorded(tmp_path)
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 0
    assert alive(children) == []
    assert process.stdout is not None
    process.stdout.close()


async def test_the_command_prints_a_token_for_the_issuer_of_that_folder(tmp_path: Path) -> None:
    async with Stack(tmp_path, table=STAND_INS, only=["issuer"]) as stack:
        issuer = stack.links.issuer
    wanted = ("token", "--role", "support", "--subject", "user-17", "--tenant", "tenant-a")
    done = await asyncio.to_thread(run, "--state", str(tmp_path), *wanted)
    claims = jwt.decode(done.stdout.strip(), options={"verify_signature": False})
    assert (claims["iss"], claims["sub"]) == (issuer, "user-17")
    assert done.stderr == ""


async def test_a_token_with_a_role_that_no_policy_knows_comes_with_a_warning(tmp_path: Path) -> None:
    async with Stack(tmp_path, table=STAND_INS, only=["issuer"]):
        pass
    wanted = ("token", "--role", "nonsense", "--subject", "user-17", "--tenant", "tenant-a")
    done = await asyncio.to_thread(run, "--state", str(tmp_path), *wanted)
    claims = jwt.decode(done.stdout.strip(), options={"verify_signature": False})
    assert claims["roles"] == ["nonsense"]
    assert done.stderr == "No shipped policy knows the role nonsense; it knows support, viewer, analyst, librarian.\n"


async def test_the_command_prints_a_persons_token_for_the_back_offices_api(tmp_path: Path) -> None:
    async with Stack(tmp_path, table=STAND_INS, only=["issuer"]):
        pass
    wanted = ("token", "--back-office", "--role", "operator", "--subject", "operator-1", "--tenant", "tenant-a")
    done = await asyncio.to_thread(run, "--state", str(tmp_path), *wanted)
    claims = jwt.decode(done.stdout.strip(), options={"verify_signature": False})
    assert (claims["aud"], claims["roles"], "act" in claims) == (BACK_OFFICE_AUDIENCE, ["operator"], False)
    assert done.stderr == ""
