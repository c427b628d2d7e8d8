"""A real Temporal server with its console, and its state in one SQLite file."""

import asyncio
import signal

from worker.dev import environment
from worker.dev.child import Child
from worker.dev.launch import launched
from worker.dev.layout import NAMESPACE, Layout
from worker.dev.ports import HOST
from workflows import attributes

# The dev server has one history shard, whose queues are polled 20 times a second at most unless told otherwise: each
# step of a workflow would wait for the next 50 ms slot. A cluster has hundreds of shards and no such limit in practice.
QUEUES = ("transfer", "timer", "visibility", "outbound")
POLLS_PER_SECOND = 10_000

# Tenants whose work waits for a worker take turns, exactly so within one partition of a task queue. Of the others only
# nothing new is written to them: what an older server has left in them is still read.
FAIR = ("matching.enableFairness=true", "matching.numTaskqueueWritePartitions=1")

# One probe starts a process, so it gets more time than a connection would (seconds).
PROBE_TIMEOUT = 10.0


def command(layout: Layout) -> list[str]:
    """The dev server with its queues unthrottled and our search attributes."""
    ports = layout.ports
    return [
        *_tool(layout),
        *("server", "start-dev", "--ip", HOST, "--namespace", NAMESPACE),
        *("--port", str(ports["temporal"]), "--ui-port", str(ports["console"])),
        *("--http-port", str(ports["temporal_http"]), "--metrics-port", str(ports["temporal_metrics"])),
        # Readers and the one writer do not block each other, and a commit costs one sync instead of several.
        *("--db-filename", str(layout.folder.temporal_file), "--sqlite-pragma", "journal_mode=WAL"),
        *(part for setting in (*FAIR, *map(_unthrottled, QUEUES)) for part in ("--dynamic-config-value", setting)),
        *(part for name, kind in attributes.KINDS.items() for part in ("--search-attribute", f"{name}={kind}")),
        *("--ui-disable-news-fetch", "--log-level", "warn", "--color", "never"),
    ]


def _tool(layout: Layout) -> list[str]:
    # Without the personal configuration of whoever runs it, which may point at another server.
    return [str(layout.binaries.temporal_server), "--disable-config-file", "--disable-config-env"]


def _unthrottled(queue: str) -> str:
    return f"history.{queue}ProcessorMaxPollRPS={POLLS_PER_SECOND}"


async def ready(layout: Layout, _name: str) -> bool:
    """The namespace is there with all search attributes: the port answers before that.

    A server that has its data already registers none at its start, so those that a release adds are made here.
    """
    listed = await _ask(layout, *_about_attributes("list"), "--output", "json")
    if listed is None:
        return False
    missing = {name: kind for name, kind in attributes.KINDS.items() if f'"{name}"' not in listed}
    if missing:
        await _ask(layout, *_about_attributes("create"), *attributes.options(missing))
    return not missing


def _about_attributes(act: str) -> list[str]:
    return ["operator", "search-attribute", act, "--namespace", NAMESPACE]


async def _ask(layout: Layout, *question: str) -> str | None:
    # By the command line tool, not by the SDK: the supervisor stays free of a native runtime and its threads.
    probe = await asyncio.create_subprocess_exec(
        *launched([*_tool(layout), *question, "--address", layout.address("temporal")], signal.SIGKILL),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=environment.bare(layout),
    )
    try:
        output, _ = await asyncio.wait_for(probe.communicate(), PROBE_TIMEOUT)
    except TimeoutError:
        return None
    finally:
        if probe.returncode is None:
            probe.kill()
            await probe.wait()
    return output.decode() if probe.returncode == 0 else None


CHILD = Child(
    name="temporal",
    title="Temporal",
    command=command,
    environment=environment.bare,
    ready=ready,
    data=lambda layout: layout.folder.temporal_file,
    port="temporal",
    restarted=False,
)
