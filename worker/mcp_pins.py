"""`python -m worker mcp`: asks the MCP servers what their tools are, and holds it against what people have reviewed.

pin writes the lock file beside the configuration, to be reviewed and committed like code; diff only compares and ends
with exit code 1 when something differs; list shows every tool and what it is offered as. Exit code 2: it cannot be
told. No tool is called by any of them.
"""

import argparse
import asyncio
import sys
from collections.abc import Callable, Coroutine, Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

from adapters.mcp.client.answers import NotSent
from adapters.mcp.client.configuration import ServerEntry, read_servers
from adapters.mcp.client.contracts import offered
from adapters.mcp.client.pins import (
    NOTHING_PINNED,
    Lock,
    PinnedServer,
    differences,
    lock_beside,
    read_lock,
    write_lock,
)
from adapters.mcp.client.server import INHERITED, Server
from adapters.tools.mcp import FAMILY, McpSettings
from worker.settings import read_for_tools, read_named
from workflows.domain.errors import InvalidConfiguration

Live = Mapping[str, PinnedServer]


def add_to(actions: Any) -> None:
    """Put the three acts under `mcp`."""
    command = actions.add_parser("mcp", help="pin, compare or list the tools of the MCP servers", description=__doc__)
    acts = command.add_subparsers(metavar="pin|diff|list", required=True)
    for name, act, told in (
        ("pin", pin, "write down what the servers' tools are now"),
        ("diff", diff, "say what differs from what was reviewed"),
        ("list", show, "every tool and what it is offered as"),
    ):
        parser = acts.add_parser(name, help=told, description=told)
        parser.add_argument("servers", nargs="*", metavar="server", help="these servers alone; all when none is named")
        parser.set_defaults(run=_run(act))


async def pin(path: Path, chosen: Live) -> int:
    """Write the lock anew for these servers; prints what has become different."""
    known = _known(path)
    _print_differences(known, chosen)
    kept = {name: server for name, server in known.items() if name in read_servers(path).servers}
    write_lock(lock_beside(path), Lock(servers={**kept, **chosen}))
    print(f"Written: {lock_beside(path)}. Review it before it is deployed.")
    return 0


async def diff(path: Path, chosen: Live) -> int:
    """Compare; 1 when something differs."""
    return 1 if _print_differences(read_lock(lock_beside(path)).servers, chosen) else 0


async def show(path: Path, chosen: Live) -> int:
    """Print every live tool, and of those that are pinned what they are offered as."""
    tools = {(tool.server, tool.definition.name): tool for tool in offered(path).tools}
    for name, live in chosen.items():
        for definition in live.tools.values():
            tool = tools.get((name, definition.name))
            if tool is None:
                print(f"{name}.{definition.name}: not offered")
            elif tool.definition.digest != definition.digest:
                print(f"{name}.{definition.name}: not available, it has changed")
            else:
                contract = tool.contract
                asked = "" if contract.reversible else ", a person approves"
                to = ", ".join(tool.roles) or "nobody"
                what = "read" if tool.entry.reads else f"write, {contract.idempotency}"
                print(f"{contract.name}: {what}{asked}; offered to {to}")
    return 0


def _print_differences(known: Live, live: Live) -> bool:
    told = [f"{name}.{each}" for name in live for each in differences(known.get(name), live[name])]
    print("\n".join(told) or "Nothing differs.")
    return bool(told)


def _known(path: Path) -> Live:
    return read_lock(lock_beside(path)).servers if lock_beside(path).exists() else {}


def _run(act: Callable[[Path, Live], Coroutine[Any, Any, int]]) -> Callable[[argparse.Namespace], NoReturn]:
    def run(asked: argparse.Namespace) -> NoReturn:
        try:
            path = read_for_tools(FAMILY.name, McpSettings).servers
            sys.exit(asyncio.run(_acted(act, path, asked.servers)))
        except InvalidConfiguration as error:
            print(error, file=sys.stderr)
            sys.exit(2)

    return run


async def _acted(act: Callable[[Path, Live], Coroutine[Any, Any, int]], path: Path, names: list[str]) -> int:
    entries = read_servers(path).servers
    unknown = sorted(set(names) - entries.keys())
    if unknown:
        raise InvalidConfiguration(f"The configuration has no MCP server {', '.join(unknown)}.")
    return await act(path, {name: await _live(name, entries[name]) for name in names or entries})


async def _live(name: str, entry: ServerEntry) -> PinnedServer:
    values = read_named((INHERITED, *entry.variables))
    # What it says of itself helps whoever sets it up; in the worker it would be in the way.
    server = Server(name, entry, NOTHING_PINNED, values, stderr=None)
    try:
        live = await server.live()
    except NotSent:
        raise InvalidConfiguration(f"The MCP server {name} cannot be reached, or does not say its tools.") from None
    finally:
        await server.close()
    for fault in _unfit_names(live):
        raise InvalidConfiguration(f"The MCP server {name} has a tool whose name no catalog can hold: {fault}.")
    return live


def _unfit_names(live: PinnedServer) -> Iterator[str]:
    return (repr(name[:40]) for name in live.tools if not 0 < len(name) <= 120 or not _is_plain(name))


def _is_plain(name: str) -> bool:
    return name.isascii() and name.replace("_", "a").replace(".", "a").replace("-", "a").isalnum()
