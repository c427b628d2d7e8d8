"""The time-skipping server: days of waiting pass at once."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest
from temporalio.testing import WorkflowEnvironment

from worker.dev.binaries import Binaries
from workflows.attributes import KINDS

FEW_EVENTS = 30
"""Events of a history after which the server suggests a new one."""

TEST_SERVER = Path(sys.executable).parent / "temporal-test-server"


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def time_skipping() -> AsyncIterator[WorkflowEnvironment]:
    """One server for all workflow tests; each test has ids and a task queue of its own."""
    assert TEST_SERVER.exists(), "the time-skipping server is missing; `make setup` installs it"
    async with await WorkflowEnvironment.start_time_skipping(test_server_existing_path=str(TEST_SERVER)) as environment:
        await make_search_attributes(environment)
        yield environment


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def short_histories() -> AsyncIterator[WorkflowEnvironment]:
    """A real server that asks for a new history after a few steps instead of after thousands."""
    suggested = f"limit.historyCount.suggestContinueAsNew={FEW_EVENTS}"
    async with await WorkflowEnvironment.start_local(
        dev_server_existing_path=str(Binaries.installed().temporal_server),
        dev_server_extra_args=["--dynamic-config-value", suggested, "--log-level", "never"],
    ) as environment:
        await make_search_attributes(environment)
        yield environment


async def make_search_attributes(environment: WorkflowEnvironment) -> None:
    """Tell the server of the attributes that a deployment registers."""
    await environment.client.operator_service.add_search_attributes(
        AddSearchAttributesRequest(
            namespace=environment.client.namespace,
            search_attributes={
                name: IndexedValueType.Value(f"INDEXED_VALUE_TYPE_{kind.upper()}") for name, kind in KINDS.items()
            },
        )
    )
