"""Answers that a server promises for later: the extension io.modelcontextprotocol/tasks, asked until they are there."""

import asyncio
from contextlib import suppress
from typing import Any, Final

import mcp_types
from mcp import MCPError
from pydantic import ValidationError

from adapters.mcp.client.answers import CONNECTION_ENDED, Uncertain, is_name
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


async def finished(connection: Connection, task: Json, *, go_on: bool) -> Json:
    """Ask after a task until it has ended, and return the call's own result.

    `go_on`: whoever stops waiting leaves it alone, to be asked for later; otherwise the server is told.

    Raises:
        Uncertain: it has failed, was cancelled, asks a question, is no task at all, or cannot be asked after: it was
            begun, so it is unknown.
    """
    task_id = task_id_in(task)
    try:
        while is_at_work(task):
            await asyncio.sleep(_pause(task.get("pollIntervalMs")))
            task = await asked_after(connection, task_id)
    except asyncio.CancelledError:
        if not go_on:
            await _cancel(connection, task_id)
        raise
    return result_in(task)


async def asked_after(connection: Connection, task_id: str) -> Json:
    """How a task stands now. It is a read, so it may be asked again, over another connection too.

    Raises:
        Uncertain: it cannot be asked after, is not known there, or another one is told of.
    """
    try:
        task = await connection.asked(_about(task_id, "tasks/get"))
    except MCPError as error:
        # Whatever it says is about this question and never about the call, which was begun.
        raise Uncertain("upstream_unavailable" if error.code in CONNECTION_ENDED else "mcp_wire_error") from None
    except ValidationError:
        raise Uncertain("mcp_wire_error") from None
    if task.get("taskId", task_id) != task_id:
        raise Uncertain("mcp_wire_error")
    return task


def is_at_work(task: Json) -> bool:
    """Whether its result is still to come."""
    return task.get("status") == "working"


def result_in(task: Json) -> Json:
    """The call's own result; raises `Uncertain` when it has ended without one, or asks a question."""
    if task.get("status") == "completed" and isinstance(task.get("result"), dict):
        return {"resultType": "complete", **task["result"]}
    raise Uncertain("mcp_input_required" if task.get("status") == "input_required" else "mcp_wire_error")


async def _cancel(connection: Connection, task_id: str) -> None:
    with suppress(MCPError, ValidationError, TimeoutError):
        async with asyncio.timeout(PARTING_SECONDS):
            await connection.asked(_about(task_id, "tasks/cancel"))


def task_id_in(task: Json) -> str:
    """The id that the server gave it; raises `Uncertain`."""
    task_id = task.get("taskId")
    if not isinstance(task_id, str) or not is_name(task_id):
        raise Uncertain("mcp_wire_error")
    return task_id


def _about(task_id: str, method: str) -> TaskRequest:
    return TaskRequest(method=method, params=TaskParams(task_id=task_id))


def _pause(milliseconds: Any) -> float:
    if not isinstance(milliseconds, int):
        return USUAL_POLL
    # Held within the bounds before it is divided: an integer of a message may be of any size.
    return min(max(milliseconds, int(SHORTEST_POLL * 1000)), int(LONGEST_POLL * 1000)) / 1000
