"""Answers that a server promises for later: the extension io.modelcontextprotocol/tasks, asked until they are there."""

import asyncio
from contextlib import suppress
from typing import Any, Final

import mcp_types
from mcp import MCPError
from pydantic import ValidationError

from adapters.mcp.client.answers import Uncertain
from adapters.mcp.client.connection import Connection

Json = dict[str, Any]

SHORTEST_POLL: Final = 0.05
LONGEST_POLL: Final = 5.0
USUAL_POLL: Final = 0.5
PARTING_SECONDS: Final = 1.0
"""How long the word that nobody waits any more may take."""


class TaskParams(mcp_types.RequestParams):
    """Which task."""

    task_id: str


class TaskRequest(mcp_types.Request[TaskParams, str]):
    """A question about one task."""

    name_param = "taskId"


async def finished(connection: Connection, task: Json) -> Json:
    """Ask after a task until it has ended, and return the call's own result.

    Raises:
        Uncertain: it has failed, was cancelled, asks a question, or is no task at all: it was begun, so it is unknown.
        MCPError: as `Connection.asked`.
    """
    task_id = task_id_in(task)
    try:
        while task.get("status") == "working":
            await asyncio.sleep(_pause(task.get("pollIntervalMs")))
            task = await connection.asked(_about(task_id, "tasks/get"))
    except asyncio.CancelledError:
        with suppress(MCPError, ValidationError, TimeoutError):
            async with asyncio.timeout(PARTING_SECONDS):
                await connection.asked(_about(task_id, "tasks/cancel"))
        raise
    if task.get("status") == "completed" and isinstance(task.get("result"), dict):
        return {"resultType": "complete", **task["result"]}
    raise Uncertain("mcp_input_required" if task.get("status") == "input_required" else "mcp_wire_error")


def task_id_in(task: Json) -> str:
    """The id that the server gave it; raises `Uncertain`."""
    task_id = task.get("taskId")
    if not isinstance(task_id, str) or not 0 < len(task_id) <= 500:
        raise Uncertain("mcp_wire_error")
    return task_id


def _about(task_id: str, method: str) -> TaskRequest:
    return TaskRequest(method=method, params=TaskParams(task_id=task_id))


def _pause(milliseconds: Any) -> float:
    wanted = milliseconds / 1000 if isinstance(milliseconds, int) else USUAL_POLL
    return min(LONGEST_POLL, max(SHORTEST_POLL, wanted))
