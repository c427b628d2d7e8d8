"""Writing the one terminal result."""

from dataclasses import replace

import pytest
from temporalio.exceptions import ApplicationError

from tests.support.acts import proposed
from tests.support.steps import BUSY, CONSUMED, REFUND_DATA, REFUNDED, Stage, sent
from workflows.domain.effect import Effect
from workflows.domain.lifecycle import State
from workflows.messages import Ending


async def test_what_happened_outranks_a_later_refusal() -> None:
    stage = Stage()
    operation = await sent(stage, REFUNDED)

    assert await stage.settle(operation, "approval_expired") == Ending("succeeded")
    stored = await stage.operations.load(operation.operation_id)
    assert (stored.result, stored.reference) == (REFUND_DATA, "rf-1")


async def test_a_refusal_cannot_end_what_may_have_happened() -> None:
    stage = Stage()
    operation = await sent(stage, Effect.unknown())

    assert await stage.settle(operation, "approval_expired") == Ending("unconfirmed", "reconciliation_pending")
    assert (await stage.found(operation.operation_id)).state is State.UNCONFIRMED


async def test_only_fields_of_the_result_model_leave() -> None:
    stage = Stage()
    operation = await sent(stage, Effect.applied("rf-1", {**REFUND_DATA, "card_number": "4111111111111111"}))

    await stage.settle(operation)

    assert (await stage.operations.load(operation.operation_id)).result == REFUND_DATA


async def test_what_happened_is_told_even_if_its_data_do_not_fit() -> None:
    stage = Stage()
    operation = await sent(stage, Effect.applied("rf-1", {"card_number": "4111111111111111"}))

    assert await stage.settle(operation) == Ending("succeeded")
    stored = await stage.operations.load(operation.operation_id)
    assert (stored.result, stored.reference) == ({"reference": "rf-1"}, "rf-1")


async def test_what_happened_is_told_even_if_its_tool_is_gone() -> None:
    stage = Stage()
    operation = await sent(stage, REFUNDED)
    stage.till.contract = replace(stage.till.contract, name="pay_money_back")

    assert await stage.settle(operation) == Ending("succeeded")


@pytest.mark.parametrize(
    ("effect", "ending"),
    [
        (CONSUMED, Ending("failed_terminal", "quote_consumed")),
        (Effect.rejected("upstream_unavailable"), Ending("failed_retryable", "upstream_unavailable")),
        (Effect.rejected(""), Ending("failed_terminal", "downstream_rejected")),
    ],
    ids=["for good", "for now", "without a code"],
)
async def test_a_refusal_on_record_ends_by_its_own_code(effect: Effect, ending: Ending) -> None:
    stage = Stage()

    assert await stage.settle(await sent(stage, effect), "approval_expired") == ending


@pytest.mark.parametrize(
    ("code", "ending"),
    [
        ("not_found", Ending("failed_terminal", "not_found")),
        ("upstream_unavailable", Ending("failed_retryable", "upstream_unavailable")),
        # Nobody has refused and nothing is on record, so it has not ended.
        (None, Ending("unconfirmed", "reconciliation_pending")),
    ],
)
async def test_what_was_never_sent_ends_by_the_refusal(code: str | None, ending: Ending) -> None:
    stage = Stage()

    assert await stage.settle(await proposed(stage), code) == ending


async def test_a_send_that_was_refused_for_now_does_not_keep_a_refusal_from_ending_it() -> None:
    stage = Stage()

    assert await stage.settle(await sent(stage, BUSY), "approval_stale") == Ending("failed_terminal", "approval_stale")


async def test_whoever_settles_second_is_told_how_it_ended() -> None:
    stage = Stage()
    operation = await proposed(stage)
    await stage.settle(operation, "not_found")

    assert await stage.settle(operation, "approval_expired") == Ending("failed_terminal", "not_found")


async def test_another_meaning_is_not_settled() -> None:
    stage = Stage()
    operation = await proposed(stage)

    with pytest.raises(ApplicationError) as refused:
        await stage.settle(operation, "not_found", intent_hash="another")

    assert (refused.value.type, refused.value.non_retryable) == ("idempotency_conflict", True)
    assert (await stage.found(operation.operation_id)).state is State.PROPOSED
