"""Finding out what an uncertain send came to."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from activities.reconcile import LEASE_PAUSE_SECONDS, MANUAL_LOOK_SECONDS
from tests.support.acts import claimed, proposed
from tests.support.steps import CONSUMED, REFUNDED, Stage, sent, shipped
from workflows.domain.contract import Idempotency, Limits
from workflows.domain.effect import Effect
from workflows.domain.lifecycle import State
from workflows.messages import Report, Step

SETTLED = 20.0
"""Later than a late commit is possible, sooner than anybody gives up."""

GIVEN_UP = 901.0


async def test_what_was_never_claimed_goes_to_the_gate() -> None:
    stage = Stage()

    assert await stage.reconcile(await proposed(stage)) == Report(Step.VALIDATE)
    assert stage.till.looks == 0


async def test_what_is_on_record_is_not_looked_for() -> None:
    stage = Stage()
    operation = await sent(stage, REFUNDED)

    assert await stage.reconcile(operation) == Report(Step.SETTLE, generation=1)
    assert stage.till.looks == 0


@pytest.mark.parametrize("found", [REFUNDED, CONSUMED], ids=["applied", "refused"])
async def test_what_is_found_goes_on_record(found: Effect) -> None:
    stage = Stage()
    operation = await sent(stage, Effect.unknown())
    stage.till.finds = found

    assert await stage.reconcile(operation) == Report(Step.SETTLE, generation=2)
    evidence = await stage.evidence(operation)
    assert (evidence.effect, evidence.generation) == (found, 2)


async def test_what_is_proven_absent_may_be_sent_again() -> None:
    stage = Stage()
    operation = await sent(stage, Effect.unknown())
    stage.world.advance(SETTLED)

    assert await stage.reconcile(operation) == Report(Step.SEND_AGAIN, "proven_absent", generation=2)
    evidence = await stage.evidence(operation)
    assert (evidence.uncertain, evidence.generation, evidence.effect) == (False, 2, None)


async def test_too_early_a_look_that_finds_nothing_proves_nothing() -> None:
    stage = Stage()
    operation = await sent(stage, Effect.unknown())
    stage.world.advance(5.0)

    assert await stage.reconcile(operation) == Report(Step.RECONCILE, "reconciliation_pending", 5.0, 1)
    assert (await stage.evidence(operation)).uncertain


async def test_while_an_owner_lives_its_send_is_not_called_absent() -> None:
    stage = Stage()
    claim = await claimed(stage)
    operation = await stage.operations.load(claim.operation_id)
    await stage.claims.begin_send(claim, -SETTLED)

    assert (await stage.reconcile(operation)).step is Step.RECONCILE
    assert (await stage.evidence(operation)).uncertain


async def test_what_nobody_has_sent_goes_back_to_the_gate_without_a_look() -> None:
    stage = Stage()
    claim = await claimed(stage)
    operation = await stage.operations.load(claim.operation_id)

    assert await stage.reconcile(operation) == Report(Step.SEND_AGAIN, "proven_absent", LEASE_PAUSE_SECONDS, 1)
    stage.world.advance(SETTLED)
    assert await stage.reconcile(operation) == Report(Step.SEND_AGAIN, "proven_absent", 0.0, 1)
    assert stage.till.looks == 0


async def test_a_tool_that_is_gone_does_not_keep_a_person_from_being_asked() -> None:
    stage = Stage()
    operation = await sent(stage, Effect.unknown())
    stage.world.advance(5_000)
    stage.till.contract = replace(stage.till.contract, name="pay_money_back")

    assert (await stage.reconcile(operation)).needs_person
    assert (await stage.found(operation.operation_id)).state is State.MANUAL_REVIEW


async def test_with_the_budget_spent_and_nothing_done_it_ends_as_refused() -> None:
    stage = Stage()
    stage.till.contract = replace(stage.till.contract, limits=Limits(sends=1))
    operation = await sent(stage, Effect.unknown())
    stage.world.advance(SETTLED)

    assert await stage.reconcile(operation) == Report(Step.SETTLE, generation=2)
    assert (await stage.evidence(operation)).effect == Effect.rejected("upstream_unavailable")


@pytest.mark.parametrize("idempotency", [Idempotency.NONE, Idempotency.LOOKUP_ONLY])
@pytest.mark.parametrize("seconds", [SETTLED, GIVEN_UP])
async def test_what_cannot_be_repeated_harmlessly_is_never_sent_again(idempotency: Idempotency, seconds: float) -> None:
    stage = Stage()
    stage.till.contract = replace(stage.till.contract, idempotency=idempotency)
    operation = await sent(stage, Effect.unknown())
    stage.world.advance(seconds)

    report = await stage.reconcile(operation)

    assert (report.step, report.needs_person) == (Step.RECONCILE, seconds == GIVEN_UP)
    assert (await stage.evidence(operation)).uncertain


def downstream_has_not_finished(stage: Stage) -> None:
    stage.till.finds = Effect.unknown()


def the_look_fails(stage: Stage) -> None:
    stage.till.finds = ConnectionError()


def the_arguments_no_longer_fit(stage: Stage) -> None:
    stage.till.contract = replace(stage.till.contract, arguments=shipped("get_order").arguments)


@pytest.mark.parametrize("happens", [downstream_has_not_finished, the_look_fails, the_arguments_no_longer_fit])
async def test_a_person_is_asked_once_looking_has_lasted_too_long(happens: Callable[[Stage], None]) -> None:
    stage = Stage()
    operation = await sent(stage, Effect.unknown())
    happens(stage)
    stage.world.advance(SETTLED)

    assert not (await stage.reconcile(operation)).needs_person
    assert (await stage.found(operation.operation_id)).state is State.UNCONFIRMED

    stage.world.advance(GIVEN_UP - SETTLED)
    late = await stage.reconcile(operation)

    assert late == Report(Step.RECONCILE, "reconciliation_pending", MANUAL_LOOK_SECONDS, 1, needs_person=True)
    assert (await stage.found(operation.operation_id)).state is State.MANUAL_REVIEW
    assert (await stage.evidence(operation)).uncertain


async def test_absence_is_not_concluded_over_a_claim_that_was_taken_during_the_look() -> None:
    stage = Stage()
    operation = await sent(stage, Effect.unknown())
    stage.world.advance(SETTLED)
    stage.till.meanwhile = stage.taken_over(operation)

    assert await stage.reconcile(operation) == Report(Step.RECONCILE, pause_seconds=1.0, generation=1)
    assert (await stage.evidence(operation)).uncertain
