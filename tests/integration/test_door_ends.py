"""A door that is told to end answers those who wait in it."""

import asyncio

import httpx2
from sqlalchemy import select

from adapters.postgres.tables import calls
from tests.faults.refunds import Refund
from tests.support.onceward import Onceward
from tests.support.responses import response_with
from tests.support.waiting import until


async def test_a_caller_who_waits_is_answered_when_the_door_is_told_to_end(onceward: Onceward) -> None:
    refund = await Refund.proposed(onceward)
    await onceward.stack.spawn("api", name="api-2")
    response = response_with("anthropic-messages", refund.asked, response_id=refund.request_id)
    body = {"surface": "anthropic-messages", "response": response, "wait_seconds": 60, "wait_for": "end"}
    headers = {"Authorization": f"Bearer {onceward.token()}"}
    async with httpx2.AsyncClient(base_url=onceward.stack.url("api-2"), headers=headers, timeout=90) as door:
        waiting = asyncio.create_task(door.post("/v1/turns", json=body))
        await until(lambda: deliveries(onceward, refund), lambda number: number == 2)
        await onceward.stack.stop("api-2")
        answer = await waiting
    assert answer.status_code == 200
    assert answer.json()["results"][0]["error"]["code"] == "approval_required"


async def deliveries(onceward: Onceward, refund: Refund) -> int:
    rows = await onceward.rows(select(calls.c.deliveries).where(calls.c.operation_id == refund.operation_id))
    return int(rows[0].deliveries)
