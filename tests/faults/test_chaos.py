"""A short run of the proof (`make faults`): every kind of act and fault once, judged by the same checker."""

from pathlib import Path

import pytest

from tests.chaos.checker import check
from tests.chaos.plan import SMALLEST, plan_of
from tests.chaos.run import Run
from tests.chaos.steps import EVERY

OPERATIONS, SEED = SMALLEST, 227


@pytest.mark.timeout(240)
async def test_a_short_run_under_every_kind_of_fault_shows_nothing_lost_doubled_or_told_wrongly(tmp_path: Path) -> None:
    async with Run.connected(plan_of(SEED, OPERATIONS), tmp_path, print) as run:
        evidence = await run.through(impatient=True)
    verdict = check(evidence)
    assert verdict.findings == ()
    assert verdict.histogram.keys() | verdict.items.keys() <= {0, 1}
    assert verdict.faults.keys() >= EVERY.keys()
