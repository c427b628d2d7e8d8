"""A refund on the running stack, as the audit log tells it: sealed by the relay, read by an operator on its page."""

from typing import Any

from sqlalchemy import select

from adapters.postgres.audit_chain import PostgresAuditChain
from adapters.postgres.tables import events
from tests.support.onceward import Onceward
from tests.support.responses import call
from tests.support.waiting import until

TOLD = [
    ("proposed", "support-agent", "onceward_door"),
    ("approval.asked", "executor", "onceward_worker"),
    ("awaiting_approval", "executor", "onceward_worker"),
    ("decision.approve", "approver-1", "onceward_door"),
    ("gate.cleared", "executor", "onceward_worker"),
    ("approval.consumed", "executor", "onceward_worker"),
    ("started", "executor", "onceward_worker"),
    ("claim.acquired", "executor", "onceward_worker"),
    ("effect.applied", "executor", "onceward_worker"),
    ("succeeded", "executor", "onceward_worker"),
]


async def test_every_line_of_a_refund_is_sealed_soon_and_found_by_an_operator(onceward: Onceward) -> None:
    order_id = await onceward.provider.add_order()
    asked = call("refund_payment", await onceward.provider.refund_arguments(order_id))
    operation_id = (await onceward.turn(asked)).operation_id
    await onceward.approve(operation_id)
    await onceward.until(operation_id, "succeeded")
    lines = await until(lambda: told(onceward, operation_id), lambda lines: all(line.hash for line in lines))
    assert [(line.what, line.actor, line.written_by) for line in lines] == TOLD
    assert {(line.tool, line.resource) for line in lines} == {("refund_payment", f"order:{order_id}")}
    assert (await PostgresAuditChain(onceward.owner).check("tenant-a")).broken is None
    async with onceward.visitor("operator-1") as operator:
        page = (await operator.page(f"/audit?operation={operation_id}")).text
    assert [what for what, _, _ in TOLD if what not in page] == []


async def told(onceward: Onceward, operation_id: str) -> list[Any]:
    mine = select(events).where(events.c.operation_id == operation_id).order_by(events.c.event_id)
    return await onceward.rows(mine)
