"""Runs the provider: `python -m examples.payments_provider`. Its settings are in the environment, see `settings`."""

import asyncio
import sys

import uvicorn

from examples.payments_provider.app import create_app
from examples.payments_provider.connection import CuttableProtocol
from examples.payments_provider.database import DatabaseUnreachable, open_books
from examples.payments_provider.settings import PREFIX, InvalidSetting, Settings

STOP_SECONDS = 1
"""Grace for open requests at the end; a reply that a switch holds back for minutes must not hold back the exit."""

EXIT_BAD_SETTINGS = 2
"""What a shell understands as a wrong invocation."""


async def serve(settings: Settings) -> None:
    """Opens the books and answers until told to stop."""
    engine = await open_books(settings.database_url)
    config = uvicorn.Config(
        create_app(settings, engine),
        host=settings.host,
        port=settings.port,
        http=CuttableProtocol,
        ws="none",
        lifespan="off",
        log_level="warning",
        timeout_graceful_shutdown=STOP_SECONDS,
    )
    await uvicorn.Server(config).serve()
    await engine.dispose()


def main() -> int:
    """Serves; returns the exit status."""
    try:
        asyncio.run(serve(Settings.from_environment()))
    except InvalidSetting as invalid:
        print(invalid, file=sys.stderr)
        return EXIT_BAD_SETTINGS
    except DatabaseUnreachable as unreachable:
        print(f"{PREFIX}DSN leads nowhere: {unreachable}.", file=sys.stderr)
        return EXIT_BAD_SETTINGS
    except KeyboardInterrupt:
        return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
