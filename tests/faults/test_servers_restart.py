"""Restarts of everything that the executor stands on: nothing is lost, nothing is done twice."""

from pathlib import Path

import pytest
from sqlalchemy import text

from adapters.postgres.engine import Database
from tests.faults.moments import MOMENTS
from tests.faults.refunds import Refund
from tests.support.onceward import Onceward
from tests.support.proposals import fresh
from tests.support.responses import call
from tests.support.waiting import until
from worker.dev.stack import Stack

OURS = ("api", "relay", "worker")


@pytest.mark.parametrize("server", ["temporal", "postgres"])
async def test_an_operation_that_waits_for_a_person_survives_a_restart(faulty: Onceward, server: str) -> None:
    refund = await Refund.proposed(faulty)
    await faulty.stack.restart(server)
    await refund.approve()
    await refund.require_once(posts=1)


@pytest.mark.parametrize("killed", ["api", "postgres", "temporal", "worker"])
async def test_a_page_that_was_open_before_a_restart_still_decides(faulty: Onceward, killed: str) -> None:
    refund = await Refund.proposed(faulty)
    (asked,) = await faulty.approvals(refund.operation_id)
    async with faulty.visitor("approver-1") as visitor:
        page = await visitor.opened(f"/approvals/{asked.approval_id}", "/decision")
        await faulty.stack.kill(killed)
        await faulty.stack.start(killed)
        assert (await visitor.send(page, {"choice": "approve", "reason": ""})).status_code == 200
    await refund.require_once(posts=1)


async def test_whoever_has_signed_out_stays_so_whatever_cookie_is_left_and_whatever_restarts(faulty: Onceward) -> None:
    async with faulty.visitor("approver-1") as visitor, visitor.twin() as left_behind:
        assert (await left_behind.page("/operations")).url.path == "/back-office/operations"
        await visitor.send(await visitor.opened("/", "/sign-out"), {})
        for _ in range(2):
            assert (await left_behind.page("/operations")).url.path == "/back-office/sign-in"
            await faulty.stack.restart("api")


@pytest.mark.parametrize("server", ["temporal", "postgres"])
async def test_an_effect_in_the_middle_of_a_restart_is_made_once(faulty: Onceward, server: str) -> None:
    refund = await Refund.proposed(faulty)
    async with MOMENTS["made and not answered"](faulty, refund):
        await faulty.stack.restart(server)
    await refund.require_once(posts=1)


async def test_a_write_registered_while_temporal_is_away_is_started_by_the_relay(faulty: Onceward) -> None:
    arguments = await faulty.provider.refund_arguments(await faulty.provider.add_order())
    await faulty.stack.stop("temporal")
    reply = await faulty.turn(call("refund_payment", arguments), request_id=fresh("response"), wait_seconds=0)
    assert reply.code == "operation_in_progress"
    await faulty.stack.start("temporal")
    await faulty.until(reply.operation_id, "awaiting_approval")


async def test_a_decision_made_while_temporal_is_away_counts_later(faulty: Onceward) -> None:
    refund = await Refund.proposed(faulty)
    await faulty.stack.stop("temporal")
    await refund.approve()
    await faulty.stack.start("temporal")
    await refund.require_once(posts=1)


async def test_doors_and_relays_that_are_killed_lose_nothing(faulty: Onceward) -> None:
    refund = await Refund.proposed(faulty)
    for process in ("api", "relay"):
        await faulty.stack.kill(process)
    for process in ("api", "relay"):
        await faulty.stack.start(process)
    await refund.approve()
    await refund.require_once(posts=1)


async def test_everything_killed_at_once_resumes_where_it_stopped(tmp_path: Path) -> None:
    async with Stack(tmp_path, restart=False) as stack, Onceward.connected(stack) as before:
        refund = await Refund.proposed(before)
        for process in (*OURS, "provider", "issuer", "temporal", "postgres"):
            await stack.kill(process)
    async with Stack(tmp_path, restart=False) as stack, Onceward.connected(stack) as after:
        resumed = Refund(after, refund.request_id, refund.asked, refund.operation_id)
        await resumed.approve()
        await resumed.require_once(posts=1)


async def test_a_door_listens_again_once_the_database_is_back(faulty: Onceward) -> None:
    await faulty.stack.restart("postgres")
    await until(lambda: listeners(faulty), lambda names: names == ["onceward-api-news"])
    refund = await Refund.proposed(faulty)
    await refund.approve()
    await refund.require_once(posts=1)


async def listeners(faulty: Onceward) -> list[str]:
    """The connections that listen; only a superuser is shown what others do."""
    superuser = Database(faulty.stack.dsn("postgres"), application_name="tests", pool_size=1)
    statement = text("SELECT application_name FROM pg_stat_activity WHERE query LIKE 'LISTEN onceward%'")
    try:
        async with superuser.transaction() as connection:
            return [str(name) for name in (await connection.execute(statement)).scalars()]
    finally:
        await superuser.close()
