"""What all our processes do alike: logs, readiness, an end on request, one sentence for bad settings."""

import asyncio
import logging
import signal
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import structlog
from temporalio.client import Client

from worker.settings import TemporalSettings
from workflows.domain.errors import InvalidConfiguration


def run(main: Callable[[], Coroutine[Any, Any, None]], *, ends_itself: bool = False) -> None:
    """Run a process to its end; bad settings end it with one sentence and exit code 2.

    SIGINT and SIGTERM cancel `main`, unless it `ends_itself` when they come.
    """
    try:
        asyncio.run(main() if ends_itself else _until_told(main))
    except InvalidConfiguration as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        return


async def _until_told(main: Callable[[], Coroutine[Any, Any, None]]) -> None:
    task = asyncio.ensure_future(main())
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, task.cancel)
    try:
        await task
    except asyncio.CancelledError:
        return


def set_up_logs(log_format: str) -> None:
    """Structured logs on standard error, so that standard output stays free for protocols."""
    renderer = (
        structlog.processors.JSONRenderer() if log_format == "json" else structlog.dev.ConsoleRenderer(colors=False)
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            structlog.processors.format_exc_info,
            renderer,
        ],
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=True,
    )
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)


def say_ready(path: Path | None) -> None:
    """Tell whoever started us that we serve."""
    if path is not None:
        path.touch()


@asynccontextmanager
async def temporal(settings: TemporalSettings) -> AsyncIterator[Client]:
    """A connection to Temporal."""
    try:
        client = await Client.connect(settings.temporal_address, namespace=settings.temporal_namespace)
    except RuntimeError:
        raise InvalidConfiguration(
            f"No Temporal frontend answers at ONCEWARD_TEMPORAL_ADDRESS ({settings.temporal_address})."
        ) from None
    yield client
