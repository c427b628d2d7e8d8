"""A stack of their own for tests that break it; what one test breaks it mends before it ends."""

from collections.abc import AsyncIterator

import pytest

from tests.support.onceward import Onceward
from worker.dev.stack import Stack


@pytest.fixture(scope="session")
async def faulty(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Onceward]:
    """Every process, real and mortal; nothing is restarted but by the test."""
    async with (
        Stack(tmp_path_factory.mktemp("faulty"), restart=False) as stack,
        Onceward.connected(stack) as running,
    ):
        yield running
