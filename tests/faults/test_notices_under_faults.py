"""Telling others, with the relay as a process: killed in the middle, and with receivers that hang."""

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import select, update

from adapters.postgres.rows import NOW
from adapters.postgres.tables import notices, outbox
from tests.faults.refunds import Refund
from tests.support.listener import SECRET, Listener, listening, status
from tests.support.onceward import Onceward
from tests.support.proposals import fresh
from tests.support.responses import call
from tests.support.waiting import until
from worker.dev import ports
from worker.dev.layout import ROOT

STORY = ["approval.asked", "approval.granted", "operation.ended"]


@pytest.fixture
async def listener(faulty: Onceward, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Listener]:
    """Told by the stack's relay, which does not know it any more after the test."""
    async with listening() as listener:
        with monkeypatch.context() as settings:
            settings.setenv("ONCEWARD_WEBHOOK_URLS", f"{fresh('chat').lower()}={listener.url}")
            settings.setenv("ONCEWARD_WEBHOOK_SECRET", SECRET)
            await faulty.stack.restart("relay")
            yield listener
    await faulty.stack.restart("relay")


async def heard(listener: Listener, operation_id: str) -> list[str]:
    return sorted(set(listener.types_of(operation_id)))


async def test_a_relay_killed_before_it_knows_what_came_of_it_tells_it_again_under_the_same_id(
    faulty: Onceward, listener: Listener
) -> None:
    listener.answer = listener.hangs
    refund = await Refund.proposed(faulty)
    await until(lambda: heard(listener, refund.operation_id), lambda types: types == STORY[:1])
    await faulty.stack.kill("relay")
    listener.answer = status(204)
    await make_due(faulty, refund.operation_id)
    await faulty.stack.start("relay")
    await until(lambda: all_sent(faulty, refund.operation_id), bool)
    first, second = listener.of(refund.operation_id)
    assert first.event_id == second.event_id
    assert first.body == second.body
    assert second.verified()


async def test_a_relay_killed_again_and_again_tells_the_whole_story_under_one_id_each(
    faulty: Onceward, listener: Listener
) -> None:
    refund = await Refund.proposed(faulty)
    await faulty.stack.kill("relay")
    await refund.approve()
    await faulty.stack.start("relay")
    await refund.require_once(posts=1)
    await faulty.stack.kill("relay")
    await make_due(faulty, refund.operation_id)
    await faulty.stack.start("relay")
    await until(lambda: heard(listener, refund.operation_id), lambda types: types == STORY)
    ids = {(each.told["type"], each.event_id) for each in listener.of(refund.operation_id)}
    assert len(ids) == len(STORY)


async def test_with_a_receiver_that_hangs_the_relay_starts_and_wakes_as_ever(
    faulty: Onceward, listener: Listener
) -> None:
    listener.answer = listener.hangs
    for _ in range(3):
        await Refund.proposed(faulty)
    await until(lambda: hanging(listener), lambda number: number >= 3)
    arguments = await faulty.provider.refund_arguments(await faulty.provider.add_order())
    await faulty.stack.stop("temporal")
    reply = await faulty.turn(call("refund_payment", arguments), request_id=fresh("response"), wait_seconds=0)
    await faulty.stack.start("temporal")
    await faulty.until(reply.operation_id, "awaiting_approval")
    assert not await all_sent(faulty, reply.operation_id)


async def test_the_example_of_a_bridge_prints_a_line_for_each_event(
    faulty: Onceward, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = ports.find(())
    said = tmp_path / "said"
    command = [sys.executable, "-m", "examples.webhook_bridge", "--port", str(port)]
    with said.open("wb") as output:
        bridge = await asyncio.create_subprocess_exec(
            *command, cwd=ROOT, stdout=output, env={"WEBHOOK_SECRET": SECRET, "PYTHONUNBUFFERED": "1"}
        )
    try:
        with monkeypatch.context() as settings:
            settings.setenv("ONCEWARD_WEBHOOK_URLS", f"http://127.0.0.1:{port}/")
            settings.setenv("ONCEWARD_WEBHOOK_SECRET", SECRET)
            await faulty.stack.restart("relay")
        refund = await Refund.approved(faulty)
        await refund.require_once(posts=1)
        # The bridge may have come up after the first delivery, which then waits for its next one.
        await until(lambda: retold(faulty, refund.operation_id), bool)
        told = sorted(line.split(":")[0] for line in said.read_text().splitlines())
        assert told == ["A person must decide", "Approved", "Ended (succeeded)"]
    finally:
        bridge.terminate()
        await bridge.wait()
        await faulty.stack.restart("relay")


async def hanging(listener: Listener) -> int:
    return listener.hanging


async def retold(onceward: Onceward, operation_id: str) -> bool:
    """Whether all of it was taken; what failed is due again at once."""
    await make_due(onceward, operation_id, failed=True)
    return await all_sent(onceward, operation_id)


async def all_sent(onceward: Onceward, operation_id: str) -> bool:
    """Whether every event of the operation is struck off and was taken by whoever is told."""
    mine = outbox.c.operation_id == operation_id
    events = await onceward.rows(select(outbox).where(mine, outbox.c.kind == "event"))
    told = await onceward.rows(select(notices).join_from(notices, outbox).where(mine))
    return len(told) == len(events) and all(row.sent_at for row in (*events, *told))


async def make_due(onceward: Onceward, operation_id: str, *, failed: bool = False) -> None:
    """Let the time pass for which a relay has taken the notices, or for which a failure puts them off."""
    mine = select(outbox.c.message_id).where(outbox.c.operation_id == operation_id).scalar_subquery()
    statement = update(notices).where(notices.c.message_id.in_(mine)).values(due_at=NOW)
    if failed:
        statement = statement.where(notices.c.failure.is_not(None))
    async with onceward.owner.transaction() as connection:
        await connection.execute(statement)
