"""How the tests of the embedded stack look at it and drive it from outside."""

import asyncio
import json
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import psycopg

from tests.support.waiting import wait_until
from worker.dev.binaries import Binaries
from worker.dev.layout import NAMESPACE, ROOT
from worker.dev.stack import Stack

PATIENCE = 60.0


async def value(dsn: str, statement: str) -> object:
    """The first value of the first row, for a statement that has any."""
    return await asyncio.to_thread(execute, dsn, statement)


def execute(dsn: str, statement: str) -> object:
    with psycopg.connect(dsn, autocommit=True) as connection:
        cursor = connection.execute(statement.encode())
        row = cursor.fetchone() if cursor.description else None
        return row[0] if row else None


def owner(state: Path) -> str:
    """The connection string of a stack that runs in another process."""
    password = json.loads((state / "credentials.json").read_text())["onceward_owner"]
    port = json.loads((state / "ports.json").read_text())["postgres"]
    return f"postgresql://onceward_owner:{password}@127.0.0.1:{port}/onceward"


async def status(url: str) -> int:
    def ask() -> int:
        with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
            return int(answer.status)

    return await asyncio.to_thread(ask)


def temporal(stack: Stack, *words: str) -> str:
    address = stack.environment("worker")["ONCEWARD_TEMPORAL_ADDRESS"]
    command = [str(Binaries.installed().temporal_server), *words, "--address", address, "--namespace", NAMESPACE]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=PATIENCE).stdout


def start_workflow(stack: Stack, name: str) -> None:
    temporal(stack, "workflow", "start", "--type", "Nobody", "--task-queue", "nobody", "--workflow-id", name)


async def kill_and_start(stack: Stack, name: str) -> None:
    await stack.kill(name)
    await stack.start(name)


async def until(condition: Callable[[], bool]) -> None:
    await asyncio.to_thread(poll, condition)


def poll(condition: Callable[[], bool]) -> None:
    wait_until(condition, PATIENCE)


def recorded(state: Path) -> dict[str, dict[str, float]]:
    try:
        return dict(json.loads((state / "processes.json").read_text()))
    except FileNotFoundError:
        return {}


def alive(children: dict[str, dict[str, float]]) -> list[str]:
    return [name for name, identity in children.items() if psutil.pid_exists(int(identity["pid"]))]


def sleeper() -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])


@contextmanager
def listening(port: int = 0) -> Iterator[int]:
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        listener.listen()
        yield listener.getsockname()[1]


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "tests.integration.stand_ins", "dev", *arguments]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command to its end."""
    return subprocess.run(command(*arguments), cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, check=False)


def run_to_end(*arguments: str) -> tuple[int, str]:
    """Exit code and what was said on standard error."""
    done = run(*arguments)
    return done.returncode, done.stderr.strip()


def assert_one_sentence(said: str) -> None:
    assert "Traceback" not in said
    assert len(said.splitlines()) == 1
    assert said.endswith(".")


def start_supervisor(state: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command("--state", str(state)), cwd=ROOT, stdout=subprocess.PIPE, text=True, start_new_session=True
    )


@contextmanager
def supervisor(state: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command, up: with the lines that it has printed until then."""
    process = start_supervisor(state)
    assert process.stdout is not None
    try:
        lines = []
        for line in process.stdout:
            lines.append(line)
            if line.startswith("Ctrl-C stops everything"):
                break
        yield process, "".join(lines)
    finally:
        process.terminate()
        process.wait(PATIENCE)
        process.stdout.close()
