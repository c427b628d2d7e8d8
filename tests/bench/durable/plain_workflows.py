"""What bare Temporal is measured by: a workflow that does nothing, and the five steps as an activity each."""

from datetime import timedelta
from typing import Any

from temporalio import workflow
from temporalio.common import RetryPolicy

QUEUE = "bench"
EMPTY, FIVE = "bench.Empty", "bench.FiveActivities"
NOTHING = "bench.nothing"
STEPS = VALIDATE, ACQUIRE, SEND, CONCLUDE, SETTLE = (
    "bench.validate",
    "bench.acquire",
    "bench.send",
    "bench.conclude",
    "bench.settle",
)

LIMIT = timedelta(seconds=30)
ONCE = RetryPolicy(maximum_attempts=1)


@workflow.defn(name=EMPTY)
class Empty:
    """Begins and ends."""

    @workflow.run
    async def run(self) -> None:
        """Do nothing."""


@workflow.defn(name=FIVE)
class FiveActivities:
    """What one writes first: a step, an activity."""

    @workflow.run
    async def run(self, operation_id: str, intent_hash: str) -> str:
        """Carry one write to its end; returns the state."""
        await _call(VALIDATE, operation_id, intent_hash)
        claim = await _call(ACQUIRE, operation_id)
        effect = await _call(SEND, operation_id, intent_hash, claim)
        await _call(CONCLUDE, claim, effect)
        return str(await _call(SETTLE, operation_id, intent_hash))


async def _call(name: str, *given: Any) -> Any:
    return await workflow.execute_activity(name, args=given, start_to_close_timeout=LIMIT, retry_policy=ONCE)
