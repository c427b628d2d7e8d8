"""Tools of MCP servers, by configuration: ONCEWARD_MCP_SERVERS names the file, docs/mcp.md explains it.

What a server says decides what a tool is called and takes, and nothing else: whether it writes, who approves it, and
what a failure proves is our configuration's word. Its hints are shown to nobody.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, Field

from adapters.mcp.client.answers import Answer, NotSent, Uncertain, is_name
from adapters.mcp.client.arguments import OutsideArguments
from adapters.mcp.client.configuration import Lookup
from adapters.mcp.client.contracts import OfferedTool, offered
from adapters.mcp.client.server import INHERITED, Server
from adapters.tools.family import Family
from workflows.domain.authorization import Admit
from workflows.domain.contract import Idempotency
from workflows.domain.effect import MISMATCH, Dispatch, Effect
from workflows.domain.errors import CallRefused, Detail
from workflows.domain.impact import Fact, Impact, Inspection, Resource
from workflows.domain.principal import Principal

Json = dict[str, Any]


STILL_AT_WORK: Final = Effect.unknown()
"""The server has accepted the call and has not finished it."""


class LookupFailed(Exception):
    """The server has not said whether there is such an effect."""


class Reading:
    """A tool of which we say that it changes nothing."""

    def __init__(self, tool: OfferedTool, server: Server) -> None:
        self.contract, self._tool, self._server = tool.contract, tool, server

    async def read(self, arguments: OutsideArguments, principal: Principal, admit: Admit) -> Mapping[str, Any]:
        """Call it once; raises `CallRefused` with what the server's answer comes to."""
        admit(_resource(self._tool, arguments, principal))
        try:
            answer = await self._server.call(self._tool.definition.name, arguments.given)
        except NotSent as refused:
            raise CallRefused(refused.code) from None
        except Uncertain as doubt:
            raise CallRefused("mcp_wire_error" if doubt.code == MISMATCH else doubt.code) from None
        if answer.is_error:
            raise self._failed(answer)
        return answer.data

    def _failed(self, answer: Answer) -> CallRefused:
        if _is_for_now(answer, self._tool):
            return CallRefused("upstream_unavailable")
        return CallRefused("mcp_tool_error", [Detail("", "hint", answer.hint)] if answer.hint else [])


class Writing:
    """A tool that may change something. Its effect is found again only where its answer was promised as a task."""

    def __init__(self, tool: OfferedTool, server: Server) -> None:
        self.contract, self._tool, self._server = tool.contract, tool, server

    async def inspect(self, arguments: OutsideArguments, principal: Principal) -> Inspection:
        """See that the tool is what was reviewed; what the arguments do over there nobody can see from here."""
        resource = _resource(self._tool, arguments, principal)
        try:
            await self._server.require(self._tool.definition.name)
        except NotSent as refused:
            raise CallRefused(refused.code) from None
        facts = (
            Fact("Carried out by", f"the MCP server {self._tool.server}"),
            Fact("Reviewed definition", self._tool.definition.digest[:12]),
        )
        return Inspection(Impact(resource, self.contract.title, reversible=self.contract.reversible, facts=facts))

    async def apply(self, arguments: OutsideArguments, dispatch: Dispatch) -> Effect:
        """Send it once."""
        try:
            answer = await self._server.call(self._tool.definition.name, self._filled(arguments, dispatch), go_on=True)
        except NotSent as refused:
            return Effect.rejected(refused.code, retryable=refused.code == "upstream_unavailable")
        except Uncertain as doubt:
            return Effect.unknown(code=MISMATCH if doubt.code == MISMATCH else None)
        return self._failed(answer) if answer.is_error else self._made(answer, arguments, dispatch)

    async def look_up(self, arguments: OutsideArguments, dispatch: Dispatch) -> Effect | None:
        """Ask for the task as which the answer was promised. None where there is none, or none that proves anything."""
        if not dispatch.task_id:
            return None
        try:
            answer = await self._server.promised(self._tool.definition.name, dispatch.task_id)
        except NotSent:
            raise LookupFailed from None
        except Uncertain as doubt:
            return _of_a_task_without_result(doubt)
        if answer is None:
            return STILL_AT_WORK
        effect = self._failed(answer) if answer.is_error else self._made(answer, arguments, dispatch)
        # Here nothing is sent again, however short the refusal is meant.
        return None if effect == Effect.unknown() else replace(effect, retryable=False)

    def _filled(self, arguments: OutsideArguments, dispatch: Dispatch) -> Json:
        entry = self._tool.entry
        ours = {entry.reference: dispatch.operation_id, entry.key: dispatch.idempotency_key}
        return {**arguments.given, **{name: value for name, value in ours.items() if name}}

    def _failed(self, answer: Answer) -> Effect:
        if self._tool.entry.errors != "definite":
            return Effect.unknown()
        if _is_for_now(answer, self._tool):
            return Effect.rejected("rate_limited", retryable=True)
        return Effect.rejected("downstream_rejected")

    def _made(self, answer: Answer, arguments: OutsideArguments, dispatch: Dispatch) -> Effect:
        unproven = {
            "structured": answer.structured is None,
            "text": answer.structured is None and (not answer.text or answer.claims_failure),
            "lookup": True,
        }
        if unproven[self._tool.entry.proof]:
            return Effect.unknown()
        return self._found(answer, arguments, dispatch)

    def _found(self, answer: Answer, arguments: OutsideArguments, dispatch: Dispatch) -> Effect:
        """The effect that an answer tells of, if it is the one that was asked for."""
        told = answer.structured if isinstance(answer.structured, dict) else {}
        receipt = told.get(self._tool.entry.receipt) if self._tool.entry.receipt else dispatch.operation_id
        asked = self._filled(arguments, dispatch)
        if any(told.get(name) != asked.get(name) for name in self._tool.entry.same):
            return Effect.unknown(code=MISMATCH)
        if not isinstance(receipt, str | int) or isinstance(receipt, bool) or not is_name(str(receipt)):
            return Effect.unknown(code=MISMATCH)
        return Effect.applied(str(receipt), answer.data)


class FindableWriting(Writing):
    """A tool whose effect can be looked up, or which takes a key and gives the same effect for it."""

    async def look_up(self, arguments: OutsideArguments, dispatch: Dispatch) -> Effect | None:
        """Ask for the task, then the look-up tool for the effect of this operation; without either the key protects."""
        promised, lookup = await super().look_up(arguments, dispatch), self._tool.entry.lookup
        if promised is not None or lookup is None:
            return promised
        answer = await self._server.call(lookup.tool, {lookup.by: dispatch.operation_id})
        if answer.is_error or not isinstance(answer.structured, dict):
            raise LookupFailed
        if not self._is_there(lookup, answer.structured):
            return None
        return self._found(answer, arguments, dispatch)

    def _is_there(self, lookup: Lookup, told: Json) -> bool:
        if not lookup.found:
            return told.get(self._tool.entry.receipt) is not None
        found = told.get(lookup.found)
        if not isinstance(found, bool):
            raise LookupFailed
        return found


def _of_a_task_without_result(doubt: Uncertain) -> Effect | None:
    if doubt.code == "upstream_unavailable":
        raise LookupFailed from None
    if doubt.code == MISMATCH:
        return Effect.unknown(code=MISMATCH)
    return STILL_AT_WORK if doubt.code == "mcp_input_required" else None


def _resource(tool: OfferedTool, arguments: OutsideArguments, principal: Principal) -> Resource:
    """The object as far as we can name it. It belongs to whoever asks, if the server is their tenant's at all."""
    own = not tool.tenants or principal.tenant in tool.tenants
    named = tool.contract.resource_of(arguments).partition(":")[2]
    return Resource(tool.server, named, principal.tenant if own else "", tool.definition.digest)


def _is_for_now(answer: Answer, tool: OfferedTool) -> bool:
    return any(words.lower() in answer.text.lower() for words in tool.entry.retry)


class McpSettings(BaseModel):
    """Where the servers are named."""

    servers: Path = Field(description="a TOML file that names the MCP servers; its lock lies beside it")


def declared(settings: McpSettings) -> Family:
    """The family with the contracts and the rules of its configuration; no server is asked."""
    found = offered(settings.servers)
    return replace(FAMILY, contracts=tuple(tool.contract for tool in found.tools), policy=found.policy)


def variables(settings: McpSettings) -> Sequence[str]:
    """The variables whose values the servers need."""
    return (INHERITED, *offered(settings.servers).variables)


@asynccontextmanager
async def connect(settings: McpSettings, values: Mapping[str, str]) -> AsyncIterator[Sequence[Any]]:
    """The tools; a server is connected to when the first of its tools is called."""
    found = offered(settings.servers)
    servers = {name: Server(name, entry, pins, values) for name, (entry, pins) in found.servers.items()}
    async with AsyncExitStack() as stack:
        for server in servers.values():
            stack.push_async_callback(server.close)
        yield [_tool(each, servers[each.server]) for each in found.tools]


def _tool(tool: OfferedTool, server: Server) -> Reading | Writing:
    if tool.entry.reads:
        return Reading(tool, server)
    return (Writing if tool.entry.kind is Idempotency.NONE else FindableWriting)(tool, server)


FAMILY = Family(name="mcp", contracts=(), connect=connect, settings=McpSettings, declare=declared, variables=variables)
