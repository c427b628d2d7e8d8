"""Which share of the workers a start claims."""

from typing import Any, cast

import pytest
from temporalio.client import Client
from temporalio.common import Priority

from adapters.temporal.starter import TemporalStarter
from workflows.messages import OperationRef, TurnRef

LONGEST_KEY = 64
"""Bytes that Temporal takes."""


class Frontend:
    """Keeps under which priority each thing was started."""

    def __init__(self) -> None:
        self.priorities: list[Priority] = []

    async def start_workflow(self, *_: Any, priority: Priority, **__: Any) -> None:
        self.priorities.append(priority)

    async def start_activity(self, *_: Any, priority: Priority, **__: Any) -> None:
        self.priorities.append(priority)


async def all_starts(tenant: str) -> list[Priority]:
    """Of everything that can be started for a tenant."""
    frontend = Frontend()
    starter = TemporalStarter(cast("Client", frontend), "onceward")
    for start in (starter.start_write, starter.start_read, starter.start_again, starter.nudge):
        await start("op_1", "hash", "get_order", tenant)
    writes = [OperationRef("op_1", "hash"), OperationRef("op_2", "hash")]
    await starter.start_turn("turn_1", TurnRef([], writes, ["refund_payment", "refund_payment"], tenant))
    return frontend.priorities


async def test_whatever_is_started_for_a_tenant_claims_the_share_of_that_tenant_alone() -> None:
    ours, theirs = await all_starts("tenant-a"), await all_starts("tenant-b")
    assert len(ours) == len(theirs) == 5
    assert len(set(ours)) == len(set(theirs)) == 1
    assert ours[0] != theirs[0]


@pytest.mark.parametrize("tenant", ["t" * 4096, "테넌트" * 40])
async def test_however_long_a_tenants_name_is_the_server_takes_the_key_made_of_it(tenant: str) -> None:
    for priority in await all_starts(tenant):
        assert len((priority.fairness_key or "").encode()) <= LONGEST_KEY
