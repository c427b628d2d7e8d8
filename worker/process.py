"""What all our processes do alike: logs, readiness, an end on request, one sentence for bad settings."""

import asyncio
import logging
import os
import signal
import sys
import traceback
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, NoReturn

import structlog
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from worker.settings import TemporalSettings
from workflows.domain.errors import InvalidConfiguration

TEMPORAL_SECONDS = 10.0
"""What a Temporal frontend may take to answer at the start."""

TEMPORAL_SILENT = "The Temporal frontend at ONCEWARD_TEMPORAL_ADDRESS does not answer."


def run(main: Callable[[], Coroutine[Any, Any, None]], *, ends_itself: bool = False) -> NoReturn:
    """Run a process to its end; bad settings end it with one sentence and exit code 2.

    SIGINT and SIGTERM cancel `main`, unless it `ends_itself` when they come.
    """
    try:
        asyncio.run(main() if ends_itself else _until_told(main))
    except InvalidConfiguration as error:
        print(error, file=sys.stderr)
        _leave(2)
    except KeyboardInterrupt:
        _leave(0)
    except Exception:
        traceback.print_exc()
        _leave(1)
    _leave(0)


def _leave(code: int) -> NoReturn:
    """End without taking the interpreter apart: threads of the Temporal client may be at work in it, and crash it."""
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


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
    if path is None:
        return
    try:
        path.touch()
    except OSError as refusal:
        raise InvalidConfiguration(f"The file that ONCEWARD_READY_FILE names: {refusal.strerror}.") from None


@asynccontextmanager
async def temporal(settings: TemporalSettings) -> AsyncIterator[Client]:
    """A connection to Temporal, to a namespace that exists."""
    silence = f"No Temporal frontend answers at ONCEWARD_TEMPORAL_ADDRESS ({settings.temporal_address})."
    try:
        async with asyncio.timeout(TEMPORAL_SECONDS):
            client = await Client.connect(settings.temporal_address, namespace=settings.temporal_namespace)
    except (RuntimeError, TimeoutError):
        raise InvalidConfiguration(silence) from None
    await require_namespace(client)
    yield client


async def require_namespace(client: Client, seconds: float = TEMPORAL_SECONDS) -> None:
    """Return once Temporal has said that the client's namespace is there.

    Raises:
        InvalidConfiguration: it is not, or nobody answers within `seconds`.
    """
    question = DescribeNamespaceRequest(namespace=client.namespace)
    try:
        await client.workflow_service.describe_namespace(question, timeout=timedelta(seconds=seconds))
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            raise InvalidConfiguration(
                f"Temporal has no namespace {client.namespace}; ONCEWARD_TEMPORAL_NAMESPACE names it."
            ) from None
        # Who may work in a namespace need not be allowed to describe it, and has been answered.
        if error.status is not RPCStatusCode.PERMISSION_DENIED:
            raise InvalidConfiguration(TEMPORAL_SILENT) from None
    except RuntimeError:
        raise InvalidConfiguration(TEMPORAL_SILENT) from None
