"""`python -m worker`: the Temporal worker."""

import asyncio

from adapters.postgres.engine import Database
from worker import process, wiring
from worker.settings import WorkerSettings, read


async def main() -> None:
    """Serve until told to end."""
    settings = read(WorkerSettings)
    process.set_up_logs(settings.log_format)
    database = Database(settings.postgres_dsn.get_secret_value(), application_name="onceward-worker")
    async with process.temporal(settings) as client, wiring.payments(settings) as payments:
        try:
            async with wiring.worker(client, settings, database, wiring.toolbox(payments)):
                process.say_ready(settings.ready_file)
                await asyncio.Event().wait()
        finally:
            await database.close()


if __name__ == "__main__":
    process.run(main)
