"""A new release comes while operations are under way: they go on with it, and their effects are made once."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from sqlalchemy import text
from temporalio.api.workflowservice.v1 import SetWorkerDeploymentCurrentVersionRequest
from temporalio.client import WorkflowHandle
from temporalio.service import RPCError

from tests.faults.refunds import Refund
from tests.support.onceward import Onceward
from tests.support.responses import call
from tests.support.waiting import until
from worker.dev.layout import ROOT

UNSEEN = {"on": "lookup", "do": "503", "times": None}
LOST = {"on": "refund", "do": "commit-then-drop"}
NEXT = "next-release"

Departure = Callable[[Onceward], Awaitable[None]]


async def drained(onceward: Onceward) -> None:
    await onceward.stack.stop("worker")


async def killed(onceward: Onceward) -> None:
    await onceward.stack.kill("worker")


@asynccontextmanager
async def under_way(onceward: Onceward) -> AsyncIterator[tuple[Refund, Refund]]:
    """One that waits for a person, and one that was sent and is looked up in vain until the block ends."""
    waiting, uncertain = await Refund.proposed(onceward), await Refund.proposed(onceward)
    async with onceward.provider.switched(LOST, UNSEEN):
        await uncertain.approve()
        await onceward.until(uncertain.operation_id, "unconfirmed")
        yield waiting, uncertain


async def both_end(waiting: Refund, uncertain: Refund) -> None:
    await waiting.approve()
    await waiting.require_once(posts=1)
    await uncertain.require_once(posts=1)


@pytest.mark.parametrize("departs", [drained, killed])
async def test_what_is_under_way_goes_on_with_the_next_release(faulty: Onceward, departs: Departure) -> None:
    async with under_way(faulty) as (waiting, uncertain):
        await faulty.stack.spawn("worker", name=NEXT)
        await departs(faulty)
    await both_end(waiting, uncertain)
    await faulty.stack.start("worker")
    await faulty.stack.stop(NEXT)


async def test_a_worker_that_is_told_to_end_lets_the_write_in_its_hands_come_to_its_end(faulty: Onceward) -> None:
    refund = await Refund.proposed(faulty)
    async with faulty.provider.switched({"on": "refund", "do": "commit-then-hang", "seconds": 2}):
        await refund.approve()
        await refund.until_effects(1)
        await faulty.stack.stop("worker")
    (outcome,) = await faulty.rows(text(f"SELECT outcome FROM claims WHERE operation_id = '{refund.operation_id}'"))
    assert outcome.outcome == "applied"
    await faulty.stack.start("worker")
    await refund.require_once(posts=1)


# -- the next release's tables


@asynccontextmanager
async def migrated_ahead(onceward: Onceward) -> AsyncIterator[None]:
    """What a release may do to the tables while the one before it runs: add what that one need not know."""
    await as_owner(onceward, "ALTER TABLE operations ADD COLUMN next_release text")
    await as_owner(onceward, "ALTER TABLE claims ADD COLUMN next_release text NOT NULL DEFAULT ''")
    await as_owner(onceward, "CREATE TABLE next_release (operation_id text REFERENCES operations, told text)")
    try:
        yield
    finally:
        await as_owner(onceward, "DROP TABLE next_release")
        await as_owner(onceward, "ALTER TABLE claims DROP COLUMN next_release")
        await as_owner(onceward, "ALTER TABLE operations DROP COLUMN next_release")


async def as_owner(onceward: Onceward, statement: str) -> None:
    async with onceward.owner.transaction() as connection:
        await connection.execute(text(statement))


async def test_the_release_before_works_on_tables_that_are_one_release_ahead(faulty: Onceward) -> None:
    async with under_way(faulty) as (waiting, uncertain), migrated_ahead(faulty):
        registered_after = await Refund.proposed(faulty)
        await faulty.provider.clear()
        await both_end(waiting, uncertain)
        await registered_after.approve()
        await registered_after.require_once(posts=1)


# -- releases that Temporal tells apart


@asynccontextmanager
async def release(onceward: Onceward, build: str, folder: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    """A worker that says which release it is; ended in good order unless that has been done."""
    ready = folder / f"ready-{build}"
    named = {"WORKER_DEPLOYMENT": "onceward", "WORKER_BUILD": build, "READY_FILE": str(ready)}
    environment = onceward.stack.environment("worker") | {f"ONCEWARD_{key}": value for key, value in named.items()}
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", "worker", env=environment, cwd=ROOT)
    try:
        await until(lambda: asyncio.to_thread(ready.exists), lambda there: there)
        yield process
    finally:
        if process.returncode is None:
            await drain(process)


async def drain(process: asyncio.subprocess.Process) -> None:
    process.send_signal(signal.SIGTERM)
    assert await process.wait() == 0


async def make_current(onceward: Onceward, build: str) -> None:
    """Give the work to that release, or back to workers that name none; waits until its worker has been seen."""
    asked = SetWorkerDeploymentCurrentVersionRequest(
        namespace=onceward.temporal.namespace, deployment_name="onceward", build_id=build
    )

    async def refusal() -> str:
        try:
            await onceward.temporal.workflow_service.set_worker_deployment_current_version(asked)
        except RPCError as error:
            return error.message
        return ""

    await until(refusal, lambda refused: not refused)


async def build_of(refund: Refund) -> str:
    """Which release has done the operation's last workflow task."""
    workflow: WorkflowHandle[object, object] = refund.onceward.temporal.get_workflow_handle(refund.operation_id)
    info = (await workflow.describe()).raw_description.workflow_execution_info
    return info.versioning_info.deployment_version.build_id


async def test_what_waits_goes_on_with_the_release_that_was_made_current(faulty: Onceward, tmp_path: Path) -> None:
    before_versions = await Refund.proposed(faulty)
    async with release(faulty, "1", tmp_path) as old:
        await make_current(faulty, "1")
        await faulty.stack.stop("worker")
        async with under_way(faulty) as (waiting, uncertain), release(faulty, "2", tmp_path):
            assert await build_of(waiting) == "1"
            await make_current(faulty, "2")
            await drain(old)
            await faulty.provider.clear()
            await both_end(waiting, uncertain)
            await before_versions.approve()
            await before_versions.require_once(posts=1)
            assert [await build_of(each) for each in (before_versions, waiting, uncertain)] == ["2", "2", "2"]
            looked_up = await faulty.turn(call("get_order", {"order_id": str(waiting.asked[2]["order_id"])}))
            assert looked_up.only["status"] == "succeeded"
            await faulty.stack.start("worker")
            await make_current(faulty, "")
    unversioned = await Refund.approved(faulty)
    await unversioned.require_once(posts=1)
