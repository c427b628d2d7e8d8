"""The server: `tools/list`, `tools/call` and the tasks of one deployment, for whoever calls.

Revisions 2026-07-28 (each request by itself) and those before it with a handshake, 2025-11-25 and older. No list of
tools changes while this process runs, so none is announced as changed.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import mcp_types as types
import structlog
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS
from pydantic import ValidationError

from adapters.intake.cancels import Cancels
from adapters.intake.retelling import Retelling
from adapters.intake.search_tool import SEARCH
from adapters.intake.turns import TurnOrder, Turns
from adapters.mcp.server import tasks
from adapters.mcp.server.arriving import arrival_of, params_of
from adapters.mcp.server.asking import Asked, asked
from adapters.mcp.server.listing import FRESH_SECONDS, ToolList
from adapters.mcp.server.own_tools import OWN_TOOLS, WAIT_SECONDS, OwnTools
from adapters.mcp.server.tasks import Tasks
from workflows.domain.errors import OncewardError, Overloaded, ResponseRefused, StoreUnavailable, entry_of
from workflows.domain.principal import Principal
from workflows.domain.proposal import CallError, CallResult

log = structlog.get_logger(__name__)

Context = ServerRequestContext[Any, Any]
Json = dict[str, Any]
Made = TypeVar("Made")

PROGRESS_SECONDS = 0.5
"""How often a host that asks for progress is told that its call is still waited for."""

TASK_WAIT_SECONDS = 0.5
"""The same as `WAIT_SECONDS` for a host that can poll: what is quick is answered at once, all else is a task."""

NOT_OFFERED = frozenset({"unknown_tool", "tool_not_allowed"})
"""To this caller both are the same: there is no such tool."""

INSTRUCTIONS = (
    "Each tool's answer has a status. When it is waiting, a person may have to approve or the outcome is being found "
    "out: do not make the call again, ask get_operation with the answer's operation_id."
)


class McpServer:
    """The handlers, over one intake.

    `turns`, `retelling` and `tools` are of one surface, whose name is `surface`.
    """

    def __init__(self, surface: str, turns: Turns, retelling: Retelling, cancels: Cancels, tools: ToolList) -> None:
        self._surface, self._turns, self._retelling, self._tools = surface, turns, retelling, tools
        self._own = OwnTools(retelling, cancels)
        self._tasks = Tasks(retelling, cancels, tools)
        self._under_way: set[asyncio.Task[Any]] = set()

    def protocol(self, version: str) -> Server[Any]:
        """The package's server with our handlers; `version` is that of this program."""
        server: Server[Any] = Server(
            "onceward",
            version=version,
            title="Onceward",
            instructions=INSTRUCTIONS,
            on_list_tools=self.list_tools,
            on_call_tool=self.call_tool,
            get_tool_input_schema=lambda _: None,  # no argument of ours travels in a header
        )
        self._tasks.add_to(server)
        server.middleware.append(without_internals)
        return server

    async def list_tools(self, context: Context, _: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        """List what this caller may be offered, for nobody else to be shown."""
        tools = list(self._tools.of(arrival_of(context).principal))
        return types.ListToolsResult(tools=tools, ttl_ms=FRESH_SECONDS * 1000, cache_scope="private")

    async def call_tool(self, context: Context, _: types.CallToolRequestParams) -> Any:
        """Carry a call to its answer, to a handle, or to a task.

        Whoever hangs up stops waiting and nothing else: what was asked is registered as one, or not at all.
        """
        call, principal = asked(params_of(context), context.protocol_version), arrival_of(context).principal
        return await self._carried(context, self._answer(principal, call))

    async def _answer(self, principal: Principal, call: Asked) -> Json:
        try:
            if any(call.name == tool.name for tool in OWN_TOOLS):
                return await self._own.answer(principal, call.name, call.arguments)
            return await self._turn(principal, call)
        except ResponseRefused as refused:
            raise _refusal(INVALID_PARAMS, refused.code) from None
        except Overloaded as busy:
            raise _refusal(INTERNAL_ERROR, busy.code, float(busy.retry_after)) from None

    async def _turn(self, principal: Principal, call: Asked) -> Json:
        if call.name == SEARCH.name:
            raise _refusal(INVALID_PARAMS, "unknown_tool")
        patience = TASK_WAIT_SECONDS if call.takes_tasks else WAIT_SECONDS
        response = call.response(principal)
        order = TurnOrder(self._surface, response, wait_seconds=patience, namespace=self._surface)
        answer = await self._turns.take(principal, order)
        (result,), (message,) = answer.results, answer.append
        if result.operation_id is None:
            return self._refused(principal, call, result, message)
        if result.final or not call.takes_tasks:
            return self._tools.held(call.name, message)
        return await self._task(principal, result.operation_id)

    def _refused(self, principal: Principal, call: Asked, result: CallResult, message: Json) -> Json:
        # Whatever else is said of it, such as that it was tried too often, would say whether there is such a tool.
        code = result.error.code if result.error is not None else ""
        if code in NOT_OFFERED or not self._tools.has(principal, call.name):
            raise _refusal(INVALID_PARAMS, "unknown_tool")
        return message

    async def _task(self, principal: Principal, operation_id: str) -> Json:
        retold = await self._retelling.of(principal, operation_id)
        if retold is None:
            raise _refusal(INTERNAL_ERROR, OncewardError.code)
        if retold.result.final:
            return self._tools.held(retold.standing.tool, retold.message)
        return tasks.created(retold)

    async def _carried(self, context: Context, work: Coroutine[Any, Any, Made]) -> Made:
        """Wait for the work, with progress for a host that wants it; the work goes on when nobody waits any more."""
        task = asyncio.ensure_future(work)
        self._under_way.add(task)
        task.add_done_callback(self._over)
        waited = 0.0
        while not (await asyncio.wait({task}, timeout=PROGRESS_SECONDS))[0]:
            waited += PROGRESS_SECONDS
            await context.session.report_progress(waited, message="The call is waited for.")
        return task.result()

    def _over(self, task: asyncio.Task[Any]) -> None:
        self._under_way.discard(task)
        failure = None if task.cancelled() else task.exception()
        if not isinstance(failure, MCPError | StoreUnavailable | None):
            log.error("mcp_call_failed", failure=type(failure).__name__)


async def without_internals(ctx: Context, call_next: CallNext) -> HandlerResult:
    """Let no surprise of ours reach a host in its own words; the package would send them in the older revisions."""
    try:
        return await call_next(ctx)
    except (MCPError, ValidationError):
        raise
    except StoreUnavailable as outage:
        raise _refusal(INTERNAL_ERROR, outage.code) from None
    except Exception:
        log.exception("mcp_request_failed")
        raise _refusal(INTERNAL_ERROR, OncewardError.code) from None


def _refusal(number: int, code: str, retry_after: float | None = None) -> MCPError:
    return MCPError(number, entry_of(code).meaning, CallError(code, retry_after_seconds=retry_after).as_json())
