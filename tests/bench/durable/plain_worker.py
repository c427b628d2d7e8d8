"""`python -m tests.bench.durable.plain_worker`: a Temporal worker beside ours, for what is no part of Onceward.

Of the same settings as ours, the sandbox included, so that what differs is the workflow alone.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from temporalio import activity
from temporalio.worker import Worker

from tests.bench.durable import plain_workflows as names
from tests.bench.durable.steps import Steps
from worker import process
from worker.sandbox import sandbox
from worker.settings import TemporalSettings, read


@activity.defn(name=names.NOTHING)
async def nothing() -> None:
    """The least that an activity can do."""


async def main() -> None:
    """Serve until told to end."""
    settings = read(TemporalSettings)
    dsn = settings.postgres_dsn.get_secret_value()
    async with Steps.connected(dsn) as steps, process.temporal(settings) as client:
        worker = Worker(
            client,
            task_queue=names.QUEUE,
            workflows=[names.Empty, names.FiveActivities],
            activities=[nothing, *_activities(steps)],
            workflow_runner=sandbox(),
        )
        async with worker:
            process.say_ready(settings.ready_file)
            await asyncio.Event().wait()


def _activities(steps: Steps) -> Sequence[Callable[..., Any]]:
    return [activity.defn(name=name)(step) for name, step in zip(names.STEPS, steps.functions(), strict=True)]


if __name__ == "__main__":
    process.run(main)
