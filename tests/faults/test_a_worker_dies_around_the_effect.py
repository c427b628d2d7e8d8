"""kill -9 at each step around the effect: one effect, one terminal result, one answer."""

import pytest

from tests.faults.moments import MOMENTS
from tests.faults.refunds import Refund
from tests.support.onceward import Onceward


@pytest.mark.parametrize("moment", MOMENTS)
async def test_the_refund_is_made_once_when_the_worker_dies(faulty: Onceward, moment: str) -> None:
    refund = await Refund.proposed(faulty)
    async with MOMENTS[moment](faulty, refund):
        await faulty.stack.kill("worker")
    await faulty.stack.start("worker")
    await refund.require_once(posts=1)


async def test_a_worker_that_slept_past_its_lease_changes_nothing_when_it_wakes(faulty: Onceward) -> None:
    refund = await Refund.proposed(faulty)
    await faulty.stack.spawn("worker", name="worker-2")
    await faulty.stack.kill("worker-2")
    async with MOMENTS["made and not answered"](faulty, refund):
        faulty.stack.pause("worker")
    await faulty.stack.start("worker-2")
    await refund.require_once(posts=1)
    successor = await refund.generation()
    faulty.stack.resume("worker")
    await refund.require_once(posts=1)
    assert await refund.generation() == successor
    await faulty.stack.stop("worker-2")
