"""A database that is there and answers nobody: people and agents are told so, and lose nothing by it."""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.faults.refunds import Refund
from tests.support.onceward import Onceward


@contextmanager
def silent(onceward: Onceward) -> Iterator[None]:
    """PostgreSQL holds its connections, takes new ones and says nothing, for the time of the block."""
    onceward.stack.pause("postgres")
    try:
        yield
    finally:
        onceward.stack.resume("postgres")


async def test_who_waits_for_a_silent_store_is_told_so_and_decides_when_it_speaks_again(faulty: Onceward) -> None:
    refund = await Refund.proposed(faulty)
    (asked,) = await faulty.approvals(refund.operation_id)
    address = f"/approvals/{asked.approval_id}"
    async with faulty.visitor("approver-1") as visitor:
        page = await visitor.opened(address, "/decision")
        with silent(faulty):
            decided = await visitor.send(page, {"choice": "approve", "reason": ""})
            shown = await visitor.page(address)
            told = await faulty.operation(refund.operation_id)
            ready = await faulty.door.get("/readyz")
        assert [answer.status_code for answer in (decided, shown, told, ready)] == [503, 503, 503, 503]
        assert "your word may have counted" in decided.text
        assert decided.headers["retry-after"] == "5"
        assert told.json()["code"] == "upstream_unavailable"
        assert (await visitor.send(page, {"choice": "approve", "reason": ""})).status_code == 200
    await refund.require_once(posts=1)
