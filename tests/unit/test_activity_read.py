"""A read: run behind the gate, told as it was found."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest
from temporalio.exceptions import ApplicationError

from tests.support.acts import IMPACT, proposed_read
from tests.support.proposals import NobodyIsOffered, OthersObjectsAreTheirs
from tests.support.steps import ORDER_DATA, Stage, silence
from workflows import contracts
from workflows.domain.contract import Contract, Limits
from workflows.domain.errors import CallRefused
from workflows.domain.gate import Layer, Verdict
from workflows.domain.lifecycle import State
from workflows.domain.operation import Operation
from workflows.domain.principal import Principal
from workflows.messages import Ending

LAST_ATTEMPT = contracts.CALLS[contracts.READ].retry.maximum_attempts
UNAVAILABLE = Ending("failed_retryable", "upstream_unavailable")


async def test_only_fields_of_the_result_model_are_told() -> None:
    stage = Stage()
    stage.archivist.answer = {**ORDER_DATA, "card_number": "4111111111111111"}
    operation = await proposed_read(stage)

    assert await stage.read(operation) == Ending("succeeded")
    assert (await stage.operations.load(operation.operation_id)).result == ORDER_DATA
    assert await stage.calls_of(operation.operation_id) == [(0, "answered")]


def is_unavailable(stage: Stage) -> None:
    stage.archivist.answer = CallRefused("upstream_unavailable")


def does_not_answer(stage: Stage) -> None:
    stage.archivist.contract = replace(stage.archivist.contract, limits=Limits(attempt_seconds=0.01))
    stage.archivist.meanwhile = silence


def answers_nonsense(stage: Stage) -> None:
    stage.archivist.answer = {"order_id": "O-17"}


@pytest.mark.parametrize("fails", [is_unavailable, does_not_answer, answers_nonsense])
async def test_what_cannot_be_seen_is_tried_until_the_last_attempt_and_then_told(
    fails: Callable[[Stage], None],
) -> None:
    stage = Stage()
    operation = await proposed_read(stage)
    fails(stage)

    with pytest.raises(ApplicationError) as failure:
        await stage.read(operation, LAST_ATTEMPT - 1)
    assert (failure.value.type, failure.value.non_retryable) == ("upstream_unavailable", False)
    assert (await stage.found(operation.operation_id)).state is State.STARTED

    assert await stage.read(operation, LAST_ATTEMPT) == UNAVAILABLE
    assert (await stage.operations.load(operation.operation_id)).result is None


async def test_any_other_refusal_is_told_at_once() -> None:
    stage = Stage()
    stage.archivist.answer = CallRefused("not_found")
    operation = await proposed_read(stage)

    assert await stage.read(operation) == Ending("failed_terminal", "not_found")
    assert await stage.calls_of(operation.operation_id) == [(0, "refused")]


async def test_a_tool_that_raises_is_tried_again_and_noted() -> None:
    stage = Stage()
    stage.archivist.answer = ConnectionError("reset by 10.0.0.7")
    operation = await proposed_read(stage)

    with pytest.raises(ApplicationError, match=r"^ConnectionError: unexpected failure$"):
        await stage.read(operation)

    assert await stage.calls_of(operation.operation_id) == [(0, "raised")]


async def test_a_read_that_is_not_offered_is_not_run() -> None:
    stage = Stage()
    stage.authorizer = NobodyIsOffered()

    assert await stage.read(await proposed_read(stage)) == Ending("failed_terminal", "tool_not_allowed")
    assert stage.archivist.reads == 0


async def test_what_the_policy_does_not_permit_is_not_told() -> None:
    stage = Stage()
    stage.authorizer = OthersObjectsAreTheirs()
    operation = await proposed_read(stage)

    assert await stage.read(operation) == Ending("failed_terminal", "permission_denied")
    assert (await stage.operations.load(operation.operation_id)).result is None
    assert (operation.operation_id, Verdict(Layer.AUTHORIZATION, "permission_denied")) in stage.world.verdicts


async def test_the_object_of_another_tenant_looks_absent() -> None:
    stage = Stage()
    stage.archivist.finds = replace(IMPACT.resource, owner_tenant="tenant-b")

    assert await stage.read(await proposed_read(stage)) == Ending("failed_terminal", "not_found")


async def test_what_was_read_without_asking_whose_it_is_is_not_told() -> None:
    stage = Stage()
    stage.archivist.finds = None

    assert await stage.read(await proposed_read(stage)) == Ending("failed_terminal", "permission_denied")


async def test_every_layers_verdict_on_a_read_is_kept() -> None:
    stage = Stage()
    operation = await proposed_read(stage)
    await stage.read(operation)

    kept = [verdict.layer for name, verdict in stage.world.verdicts if name == operation.operation_id]
    assert kept == [Layer.EXPOSURE, Layer.SCHEMA, Layer.BUSINESS, Layer.AUTHORIZATION]


async def test_a_read_whose_tool_has_changed_is_not_run() -> None:
    stage = Stage()
    operation = await proposed_read(stage)
    stage.archivist.contract = replace(stage.archivist.contract, version="99")

    assert await stage.read(operation) == Ending("failed_terminal", "tool_changed")
    assert stage.archivist.reads == 0


async def test_a_read_that_has_ended_is_not_run_again() -> None:
    stage = Stage()
    operation = await proposed_read(stage)

    assert await stage.read(operation) == await stage.read(operation) == Ending("succeeded")
    assert stage.archivist.reads == 1


async def test_another_meaning_is_not_read() -> None:
    stage = Stage()

    with pytest.raises(ApplicationError, match="idempotency_conflict"):
        await stage.read(await proposed_read(stage), intent_hash="another")

    assert stage.archivist.reads == 0


async def test_a_read_that_its_caller_has_taken_back_is_not_run() -> None:
    stage = Stage()
    operation = await proposed_read(stage)
    await stage.cancel(operation.operation_id)

    assert await stage.read(operation) == Ending("failed_terminal", "canceled")
    assert stage.archivist.reads == 0


async def test_a_read_that_somebody_else_has_ended_meanwhile_is_told_as_it_ended() -> None:
    stage = Stage()
    operation = await proposed_read(stage)

    class EndsItFirst(OthersObjectsAreTheirs):
        """While the policy is asked, another worker is done with it."""

        def offers(self, principal: Principal, contract: Contract) -> bool:
            kept = stage.world.kept(operation.operation_id)
            kept.step(State.FAILED_TERMINAL)
            kept.operation = replace(kept.operation, code="not_found")
            return True

    stage.authorizer = EndsItFirst()
    assert await stage.read(operation) == Ending("failed_terminal", "not_found")
    assert stage.archivist.reads == 0


async def test_a_read_that_its_caller_takes_back_while_it_is_under_way_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("activities.read.LOOK_FOR_WISHES_SECONDS", 0.01)
    stage, stopped = Stage(), asyncio.Event()
    operation = await proposed_read(stage)

    async def taken_back() -> None:
        await stage.cancel(operation.operation_id)
        try:
            await silence()
        finally:
            stopped.set()

    stage.archivist.meanwhile = taken_back
    async with asyncio.timeout(5):
        assert await stage.read(operation) == Ending("failed_terminal", "canceled")
    assert stopped.is_set()


async def test_a_read_that_takes_its_time_is_told_when_nobody_takes_it_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("activities.read.LOOK_FOR_WISHES_SECONDS", 0.001)
    stage = Stage()
    operation = await proposed_read(stage)
    loads = stage.operations.load

    async def until_it_was_asked() -> None:
        asked.clear()
        await asyncio.wait_for(asked.wait(), 5)

    asked = asyncio.Event()

    async def load(operation_id: str) -> Operation:
        asked.set()
        return await loads(operation_id)

    monkeypatch.setattr(stage.operations, "load", load)
    stage.archivist.meanwhile = until_it_was_asked
    assert await stage.read(operation) == Ending("succeeded")
