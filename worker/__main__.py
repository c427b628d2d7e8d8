"""`python -m worker`: the Temporal worker; with an action it tells something and ends.

lint-tools says whether the tools may be offered. verify looks over everything that was ever done and says whether it is
sound and what is stuck; it only reads, and needs ONCEWARD_POSTGRES_DSN alone. audit checks and exports the audit log.
mcp pins, compares and lists the tools of MCP servers, and needs ONCEWARD_MCP_SERVERS alone. prune has what ended long
ago give up its content, and needs ONCEWARD_POSTGRES_DSN of the relay's role.
"""

import argparse
import asyncio
import json
import sys
from typing import NoReturn

from adapters.postgres.engine import Database
from worker import audit_log, mcp_pins, process, pruning, search_attributes, usage, wiring
from worker.settings import Settings, ToolNames, WorkerSettings, read
from worker.soundness import examined
from worker.stillness import Pulse, ends_when_still
from workflows.domain.errors import InvalidConfiguration


async def main() -> None:
    """Serve until told to end."""
    settings = read(WorkerSettings)
    process.set_up_logs(settings.log_format)
    dsn = settings.postgres_dsn.get_secret_value()
    database = Database(dsn, application_name="onceward-worker", pool_size=settings.connections)
    async with wiring.toolbox(settings) as tools, process.temporal(settings) as client:
        try:
            await database.require()
            await search_attributes.require(client)
            async with ends_when_still(Pulse()), wiring.worker(client, settings, database, tools):
                process.say_ready(settings.ready_file)
                await asyncio.Event().wait()
        finally:
            await database.close()


def lint_tools() -> None:
    """Say of each tool that it may be offered; an unfit one ends it with a sentence that names every fault."""
    try:
        for contract in wiring.catalog(read(ToolNames)).all():
            print(f"{contract.name} {contract.version}: fit ({contract.hash[:12]})")
    except InvalidConfiguration as error:
        print(error, file=sys.stderr)
        sys.exit(2)


def verify(*, as_json: bool) -> NoReturn:
    """Look over everything; exit code 0 when every invariant holds, 1 when one does not, 2 when it cannot be told."""
    try:
        found = examined(read(Settings))
    except InvalidConfiguration as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    print(json.dumps(found.figures(), indent=2) if as_json else "\n".join(found.lines()))
    sys.exit(found.exit_code)


def command_line() -> argparse.ArgumentParser:
    """The worker itself, and what it tells instead."""
    command = usage.parser("worker", __doc__, WorkerSettings, tools=True)
    command.set_defaults(run=lambda _: process.run(main))
    actions = command.add_subparsers(metavar="lint-tools|verify|audit|prune|mcp", help="do this and end")
    linting = actions.add_parser("lint-tools", help="whether the tools may be offered")
    linting.set_defaults(run=lambda _: lint_tools())
    verifying = actions.add_parser("verify", help="whether everything that was ever done is sound, and what is stuck")
    verifying.add_argument("--json", action="store_true", help="print figures for a program")
    verifying.set_defaults(run=lambda asked: verify(as_json=asked.json))
    audit_log.add_to(actions)
    pruning.add_to(actions)
    mcp_pins.add_to(actions)
    return command


if __name__ == "__main__":
    asked = command_line().parse_args()
    asked.run(asked)
