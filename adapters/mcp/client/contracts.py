"""Contracts of the tools of MCP servers: what they do is their server's word, as reviewed; all the rest is ours."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from adapters.mcp.client.arguments import arguments_model
from adapters.mcp.client.configuration import Lookup, ServerEntry, ToolEntry, read_servers
from adapters.mcp.client.pins import Definition, PinnedServer, lock_beside, reached, read_lock
from workflows.domain.contract import (
    ApprovalRule,
    Contract,
    Idempotency,
    Limits,
    Recovery,
    ToolResult,
    Trust,
)
from workflows.domain.errors import InvalidConfiguration

MARGIN_SECONDS = 2.0
"""How much longer than its deadline a call may take until the step itself gives it up."""

NOTHING_TO_LOOK_FOR_SECONDS = 1.0
"""What cannot be found is for a person at once."""

OF_A_WRITE = (
    "A person may have to approve it first. Never call it again for the same act: "
    "ask for the operation's state instead."
)


class McpResult(ToolResult):
    """What a tool of an MCP server said: its structured part, its text, and how many blocks of another kind it had."""

    structured: Any = None
    text: str = ""
    omitted: int = 0


@dataclass(frozen=True)
class OfferedTool:
    """One tool of one server with its contract."""

    server: str
    definition: Definition
    entry: ToolEntry
    tenants: frozenset[str]
    contract: Contract

    @property
    def roles(self) -> tuple[str, ...]:
        """Who is offered it."""
        return self.entry.roles or ()


@dataclass(frozen=True)
class Offered:
    """All that a configuration and its lock come to."""

    servers: Mapping[str, tuple[ServerEntry, PinnedServer]]
    tools: tuple[OfferedTool, ...]

    @property
    def policy(self) -> str:
        """In Cedar, who is offered which tool."""
        by_role: dict[str, list[str]] = {}
        for tool in self.tools:
            for role in tool.roles:
                by_role.setdefault(role, []).append(f'    Tool::"{tool.contract.name}"')
        return "\n".join(_rule(role, tools) for role, tools in sorted(by_role.items()))

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of all variables that the servers need."""
        return tuple(dict.fromkeys(name for entry, _ in self.servers.values() for name in entry.variables))


def offered(path: Path) -> Offered:
    """Read a configuration and the lock beside it. No server is asked.

    Raises:
        InvalidConfiguration: either is unfit, or they do not belong together.
    """
    entries, lock = read_servers(path).servers, read_lock(lock_beside(path)).servers
    servers = {name: (entry, _pins(name, entry, lock)) for name, entry in entries.items()}
    tools = (tool for name, (entry, pins) in servers.items() for tool in _tools(name, entry, pins))
    return Offered(servers, tuple(tools))


def _pins(name: str, entry: ServerEntry, lock: Mapping[str, PinnedServer]) -> PinnedServer:
    if name not in lock:
        _unfit(name, "is not pinned")
    pins = lock[name]
    if pins.reached != reached(entry):
        _unfit(name, "is pinned under another command or url")
    named = {*entry.only, *entry.tools, *(tool.lookup.tool for tool in entry.tools.values() if tool.lookup)}
    unknown = sorted(named - pins.tools.keys())
    if unknown:
        _unfit(name, f"has no pinned tool {', '.join(unknown)}")
    for tool, said in entry.tools.items():
        if said.lookup:
            _require_look_up(name, entry, pins, said.lookup)
        missing = sorted({*said.same} - _arguments(pins.tools[tool]))
        if missing:
            # It would hold nothing against nothing, and so find it the same.
            _unfit(name, f"has no argument {', '.join(missing)} in its tool {tool}")
    return pins


def _require_look_up(name: str, entry: ServerEntry, pins: PinnedServer, lookup: Lookup) -> None:
    definition = pins.tools[lookup.tool]
    if lookup.by not in _arguments(definition):
        _unfit(name, f"has no argument {lookup.by} in its tool {lookup.tool}")
    required = definition.inputSchema.get("required")
    more = sorted({str(each) for each in required} - {lookup.by}) if isinstance(required, list) else []
    if more:
        _unfit(name, f"needs {', '.join(more)} beside {lookup.by} in its tool {lookup.tool}")
    if lookup.tool in entry.tools and not entry.tools[lookup.tool].reads:
        # Nobody is asked about a look-up, and it is made again and again.
        _unfit(name, f"looks up by its tool {lookup.tool}, which is said to write")


def _arguments(definition: Definition) -> set[str]:
    named = definition.inputSchema.get("properties")
    return set(named) if isinstance(named, dict) else set()


def _tools(name: str, entry: ServerEntry, pins: PinnedServer) -> Iterator[OfferedTool]:
    for tool in sorted(entry.only or pins.tools):
        said = entry.of(tool)
        roles = entry.roles if said.roles is None else said.roles
        said = said.model_copy(update={"roles": roles, "approver": said.approver or entry.approver})
        definition = pins.tools[tool]
        yield OfferedTool(name, definition, said, entry.tenants, _contract(name, entry, definition, said))


def _contract(server: str, entry: ServerEntry, definition: Definition, said: ToolEntry) -> Contract:
    name = f"{server}.{definition.name}"
    ours = [argument for argument in (said.reference, said.key) if argument]
    arguments = arguments_model(name, definition.inputSchema, ours, free_form=said.free_form)
    if said.object and said.object not in arguments.shown.get("required", ()):
        _unfit(name, f"has no required argument {said.object}")
    words = definition.description or f"The tool {definition.name} of the MCP server {server}."
    return Contract(
        name=name,
        title=definition.title or definition.name,
        description=words if said.reads else f"{words.rstrip()}\n\n{OF_A_WRITE}",
        version=definition.digest[:12],
        effect=said.effect,
        idempotency=said.kind,
        risk=said.risk,
        resource=(server, said.object),
        arguments=arguments,
        result=McpResult,
        approval=None if said.reads else ApprovalRule(said.approver or f"approver:{server}"),
        reversible=said.reads or not said.approval,
        recovery=_recovery(entry, said),
        limits=Limits(entry.deadline_seconds + MARGIN_SECONDS, sends=1 if said.kind is Idempotency.NONE else 5),
        trust=Trust.EXTERNAL,
        tags=said.tags,
        deferred=said.deferred,
        pinned=definition.digest,
    )


def _recovery(entry: ServerEntry, said: ToolEntry) -> Recovery:
    findable = said.lookup is not None or said.kind is Idempotency.KEYED
    return Recovery(
        # A late commit is possible at least as long as an attempt may go on here.
        settle_seconds=max(said.settle_seconds, entry.deadline_seconds + MARGIN_SECONDS),
        key_lifetime_seconds=said.key_lifetime_seconds,
        give_up_seconds=said.give_up_seconds or (900.0 if findable else NOTHING_TO_LOOK_FOR_SECONDS),
    )


def _rule(role: str, tools: list[str]) -> str:
    listed = ",\n".join(tools)
    return (
        f'@id("tools of MCP servers for {role}")\n'
        f'permit (principal in Role::"{role}", action in [Action::"offer", Action::"call"], resource)\n'
        f"when {{\n  context.tool in [\n{listed}\n  ]\n}};\n"
    )


def _unfit(name: str, reason: str) -> NoReturn:
    raise InvalidConfiguration(f"The MCP configuration does not fit its lock: {name} {reason}.")
