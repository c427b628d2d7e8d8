"""`python -m worker`: the Temporal worker. `python -m worker lint-tools`: only say whether the tools may be offered."""

import asyncio
import sys

from adapters.postgres.engine import Database
from worker import process, usage, wiring
from worker.settings import ToolNames, WorkerSettings, read
from workflows.domain.errors import InvalidConfiguration


async def main() -> None:
    """Serve until told to end."""
    settings = read(WorkerSettings)
    process.set_up_logs(settings.log_format)
    database = Database(settings.postgres_dsn.get_secret_value(), application_name="onceward-worker")
    async with wiring.toolbox(settings) as tools, process.temporal(settings) as client:
        try:
            await database.require()
            async with wiring.worker(client, settings, database, tools):
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


if __name__ == "__main__":
    command = usage.parser("worker", __doc__, WorkerSettings, tools=True)
    command.add_argument("action", nargs="?", choices=["lint-tools"], help="only say whether the tools may be offered")
    if command.parse_args().action == "lint-tools":
        lint_tools()
    else:
        process.run(main)
