"""Everything that is measured, started beside each other: our own stack, and the others on its PostgreSQL."""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx2

from tests.bench.durable.registering import MODULE
from tests.bench.durable.workshop import restate_server
from tests.support.plain import PLAIN
from worker.dev import environment, ports
from worker.dev.child import Child
from worker.dev.children import TABLE, module
from worker.dev.layout import Layout
from worker.dev.readiness import says_so
from worker.dev.stack import Stack

OURS: Final = ("postgres", "temporal", "migrate", "issuer", "api", "relay", "worker")
"""Of our own stack; the sample provider and its seed are not called here."""

KINDS: Final = ("temporal", "postgres", "worker", "api", "relay", "plain", "dbos", "restate", "restate_service")
"""Processes whose work is counted, beside the callers'."""

PARTITIONS: Final = "4"
"""Of the Restate server: its default of 24 is made for more cores than these."""


@dataclass(frozen=True)
class Ports:
    """Of those that our own stack does not know."""

    dbos: int
    restate: int
    restate_admin: int
    restate_node: int
    restate_service: int

    @classmethod
    def found(cls) -> "Ports":
        """Free ones."""
        taken: list[int] = []
        for _ in range(5):
            taken.append(ports.find(taken))
        return cls(*taken)


@dataclass(frozen=True)
class House:
    """What runs, and where."""

    stack: Stack
    ports: Ports

    @property
    def pids(self) -> Mapping[str, int]:
        """The process of each kind."""
        return {name: self.stack.pid(name) for name in KINDS}


@asynccontextmanager
async def running(folder: Path) -> AsyncIterator[House]:
    """All of it. Raises `worker.dev.errors.StackError` or RuntimeError, which say what does not start and why."""
    program = await asyncio.to_thread(restate_server)
    found = Ports.found()
    table = [child for child in TABLE if child.name in OURS]
    os.environ["ONCEWARD_TOOLS"] = MODULE
    try:
        async with Stack(folder, table=[*table, *_others(found, program)], restart=False) as stack:
            yield House(stack, found)
    finally:
        os.environ.pop("ONCEWARD_TOOLS", None)


def _others(found: Ports, restate: Path) -> list[Child]:
    return [
        Child(
            "plain",
            "Bare Temporal",
            module("tests.bench.durable.plain_worker"),
            ready=says_so,
            environment=environment.worker,
        ),
        Child(
            "dbos",
            "DBOS",
            module("tests.bench.durable.dbos_host"),
            ready=says_so,
            environment=lambda layout: _for_dbos(layout, found),
        ),
        Child(
            "restate",
            "Restate",
            lambda layout: [str(restate), "--no-logo", "--base-dir", str(layout.folder.root / "restate")],
            ready=lambda _layout, _name: _answers(found.restate_admin),
            environment=lambda layout: _for_restate(layout, found),
        ),
        Child(
            "restate_service",
            "The service that Restate calls",
            module("tests.bench.durable.restate_service"),
            ready=says_so,
            environment=lambda layout: {
                **environment.worker(layout),
                "ONCEWARD_RESTATE_SERVICE_PORT": str(found.restate_service),
            },
            furnish=lambda _: _introduce(found),
        ),
    ]


def _for_dbos(layout: Layout, found: Ports) -> dict[str, str]:
    return {
        **environment.worker(layout),
        "ONCEWARD_DOOR_DSN": layout.dsn("onceward_door"),
        # It makes its database itself, which takes the right to.
        "ONCEWARD_DBOS_DSN": layout.dsn("postgres", "dbos"),
        "ONCEWARD_DBOS_PORT": str(found.dbos),
    }


def _for_restate(layout: Layout, found: Ports) -> dict[str, str]:
    return {
        **environment.bare(layout),
        "RESTATE_LISTEN_MODE": "tcp",
        "RESTATE_BIND_IP": "127.0.0.1",
        "RESTATE_BIND_PORT": str(found.restate_node),
        "RESTATE_INGRESS__BIND_PORT": str(found.restate),
        "RESTATE_ADMIN__BIND_PORT": str(found.restate_admin),
        "RESTATE_DEFAULT_NUM_PARTITIONS": PARTITIONS,
        "RESTATE_NODE_NAME": "bench",
        "DO_NOT_TRACK": "1",
    }


async def _answers(port: int) -> bool:
    try:
        async with httpx2.AsyncClient(timeout=2, verify=PLAIN) as http:
            return (await http.get(f"http://127.0.0.1:{port}/health")).is_success
    except httpx2.RequestError:
        return False


async def _introduce(found: Ports) -> None:
    """Tell the Restate server of its service."""
    body = {"uri": f"http://127.0.0.1:{found.restate_service}"}
    async with httpx2.AsyncClient(timeout=30, verify=PLAIN) as http:
        answer = await http.post(f"http://127.0.0.1:{found.restate_admin}/deployments", json=body)
    if not answer.is_success:
        raise RuntimeError(f"Restate does not take its service: {answer.status_code} {answer.text[:300]}")
