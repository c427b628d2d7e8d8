"""What surrounds every step: heartbeats, and failures without a value in them."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory
from temporalio.testing import ActivityEnvironment

from activities.step import as_failure, step
from workflows import contracts
from workflows.domain.errors import CallRefused, OncewardError, StaleGeneration, StoreUnavailable
from workflows.domain.invocation import listener


@pytest.mark.parametrize(
    ("error", "code", "retryable"),
    [
        (StoreUnavailable(), "upstream_unavailable", True),
        (CallRefused("not_found"), "not_found", False),
        (StaleGeneration(), "stale_generation", False),
    ],
    ids=["to be retried", "for good", "not in the catalogue"],
)
def test_an_error_of_ours_leaves_as_its_code_and_the_catalogue_says_whether_to_retry(
    error: OncewardError, code: str, retryable: bool
) -> None:
    error.__cause__ = ConnectionError("postgresql://onceward:hunter2@db")

    with pytest.raises(ApplicationError) as failure, as_failure():
        raise error

    left = failure.value
    assert (left.type, left.message, left.non_retryable, tuple(left.details)) == (code, code, not retryable, ())
    assert left.category is ApplicationErrorCategory.BENIGN, "an answer, of which no log has a traceback"
    assert left.__cause__ is None
    assert left.__suppress_context__


def test_anything_else_leaves_as_its_class_name_to_be_retried() -> None:
    with pytest.raises(ApplicationError) as failure, as_failure():
        raise KeyError("4111111111111111")

    left = failure.value
    assert (left.type, left.message, left.non_retryable) == ("KeyError", "unexpected failure", False)
    assert "4111" not in repr(left)
    assert left.__cause__ is None
    assert left.__suppress_context__


async def test_a_step_says_that_it_lives_until_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contracts, "HEARTBEAT_EVERY", timedelta(milliseconds=1))
    third = asyncio.Event()
    beats: list[None] = []

    def beat(*_: object) -> None:
        beats.append(None)
        if len(beats) == 3:
            third.set()

    async def work() -> None:
        async with step():
            await asyncio.wait_for(third.wait(), 10)

    environment = ActivityEnvironment()
    environment.on_heartbeat = beat
    running = asyncio.all_tasks()
    await environment.run(work)

    assert asyncio.all_tasks() == running


async def test_how_far_the_other_side_has_come_rides_on_the_heartbeats(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contracts, "HEARTBEAT_EVERY", timedelta(milliseconds=1))
    environment, told = ActivityEnvironment(), asyncio.Queue[tuple[Any, ...]]()
    environment.on_heartbeat = lambda *details: told.put_nowait(details)

    async def slow() -> tuple[Any, ...]:
        async with step():
            assert await told.get() == ()
            listener()(3, 10)
            while not (details := await told.get()):
                pass
            return details

    assert await environment.run(slow) == ({"progress": 3, "total": 10},)
