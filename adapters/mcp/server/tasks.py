"""Operations as tasks: the extension `io.modelcontextprotocol/tasks`, for hosts that list it in a request.

A task's id is the operation's, so it is kept before it is told, for as long as the operation, and belongs to the same
caller. People who decide are nobody whom a host could ask: such a task is `working`, and its message says so.
"""

from datetime import datetime
from typing import Any, Final

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import MCP_NAME_HEADER, decode_header_value
from mcp_types.jsonrpc import HEADER_MISMATCH, INVALID_PARAMS, METHOD_NOT_FOUND, MISSING_REQUIRED_CLIENT_CAPABILITY
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from adapters.intake.answers import ASK_AGAIN_SECONDS
from adapters.intake.cancels import CANCELED, Cancels
from adapters.intake.ports import Standing
from adapters.intake.retelling import Retelling, Retold
from adapters.mcp.server.arriving import arrival_of
from adapters.mcp.server.asking import takes_tasks
from adapters.mcp.server.listing import ToolList
from adapters.mcp.server.words import TASKS
from workflows.domain.errors import entry_of

Json = dict[str, Any]
Context = ServerRequestContext[Any, Any]

METHODS: Final = ("tasks/get", "tasks/update", "tasks/cancel")

REQUIRED: Final[Json] = {"requiredCapabilities": {"extensions": {TASKS: {}}}}


class TaskParams(types.RequestParams):
    """Which task."""

    task_id: str


class Tasks:
    """The three methods."""

    def __init__(self, retelling: Retelling, cancels: Cancels, tools: ToolList) -> None:
        self._retelling, self._cancels, self._tools = retelling, cancels, tools

    def add_to(self, server: Server[Any]) -> None:
        """Announce the extension, and serve it."""
        server.extensions[TASKS] = {}
        for method, handler in zip(METHODS, (self.get, self.update, self.cancel), strict=True):
            server.add_request_handler(method, TaskParams, handler)

    async def get(self, context: Context, params: TaskParams) -> Json:
        """Where the task stands, with the call's result once it has ended."""
        return self._detailed(await self._found(context, params))

    async def update(self, context: Context, params: TaskParams) -> Json:
        """Acknowledge: no task here has ever asked its host anything, so every response is to nothing."""
        await self._found(context, params)
        return {}

    async def cancel(self, context: Context, params: TaskParams) -> Json:
        """Keep the wish; the operation stops if nothing was sent yet, and the task tells what came of it."""
        _require_extension(context)
        wish = await self._cancels.cancel(arrival_of(context).principal, params.task_id, 0.0)
        if wish is None:
            raise _absent()
        return {}

    async def _found(self, context: Context, params: TaskParams) -> Retold:
        _require_extension(context)
        retold = await self._retelling.of(arrival_of(context).principal, params.task_id)
        if retold is None:
            raise _absent()
        return retold

    def _detailed(self, retold: Retold) -> Json:
        if not retold.result.final:
            return working(retold)
        if retold.standing.code == CANCELED:
            return _task(retold.standing, "cancelled", entry_of(CANCELED).meaning)
        # A call that has failed is completed as well: its result says that it has.
        return _task(retold.standing, "completed") | {"result": self._tools.held(retold.standing.tool, retold.message)}


def created(retold: Retold) -> Json:
    """The answer to a call whose operation has not ended, to a host that polls."""
    return working(retold) | {"resultType": "task"}


def working(retold: Retold) -> Json:
    """A task whose operation has not ended."""
    waits_for = retold.result.error
    return _task(retold.standing, "working", entry_of(waits_for.code).meaning if waits_for else "")


def _task(standing: Standing, status: str, message: str = "") -> Json:
    return {
        "taskId": standing.operation_id,
        "status": status,
        "createdAt": _moment(standing.created_at),
        "lastUpdatedAt": _moment(standing.updated_at),
        # Operations are never thrown away.
        "ttlMs": None,
        "pollIntervalMs": int(ASK_AGAIN_SECONDS * 1000),
        **({"statusMessage": message} if message else {}),
    }


def _moment(moment: datetime | None) -> str:
    return moment.isoformat() if moment is not None else ""


def _require_extension(context: Context) -> None:
    if context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        raise MCPError(METHOD_NOT_FOUND, "Method not found", context.method)
    if not takes_tasks(context.params or {}, context.protocol_version):
        raise MCPError(MISSING_REQUIRED_CLIENT_CAPABILITY, "Missing required client capability", REQUIRED)
    named = context.request.headers.get(MCP_NAME_HEADER) if context.request is not None else None
    if named is not None and decode_header_value(named) != (context.params or {}).get("taskId"):
        # Whoever stands between would send it elsewhere than it says.
        raise MCPError(HEADER_MISMATCH, f"The {MCP_NAME_HEADER} header names another task.")


def _absent() -> MCPError:
    return MCPError(INVALID_PARAMS, "There is no such task for this caller.")
