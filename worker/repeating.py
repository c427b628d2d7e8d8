"""Work that is done again and again for as long as the process lives."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

import structlog
from sqlalchemy.exc import SQLAlchemyError
from temporalio.service import RPCError

from workflows.domain.errors import StoreUnavailable

log = structlog.get_logger(__name__)

OUTAGE_SECONDS: Final = 2.0
"""Pause while the database or Temporal is away."""


async def for_ever(name: str, work: Callable[[], Awaitable[float]]) -> None:
    """Repeat `work` after the pause that it returns; an outage, told under its `name`, only makes the pause longer."""
    while True:
        try:
            pause = await work()
        except (SQLAlchemyError, StoreUnavailable, RPCError) as error:
            log.warning("outage", work=name, failure=type(error).__name__)
            pause = OUTAGE_SECONDS
        await asyncio.sleep(pause)
