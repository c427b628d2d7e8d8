"""Lost, late and refused answers of the provider: counted at its own ledger."""

import asyncio

import pytest

from tests.faults.refunds import Refund
from tests.support.onceward import Onceward
from tests.support.proposals import fresh


@pytest.mark.parametrize(
    ("fault", "posts"),
    [
        ({"on": "refund", "do": "commit-then-drop"}, 1),
        ({"on": "refund", "do": "commit-late", "seconds": 3}, 1),
        ({"on": "refund", "do": "drop-before-commit"}, 2),
        ({"on": "refund", "do": "429", "seconds": 1}, 2),
        ({"on": "refund", "do": "503"}, 2),
    ],
    ids=lambda value: value["do"] if isinstance(value, dict) else f"{value}-posts",
)
async def test_the_refund_is_made_once_under_one_key(faulty: Onceward, fault: dict[str, object], posts: int) -> None:
    refund = await Refund.proposed(faulty)
    async with faulty.provider.switched(fault):
        await refund.approve()
        await refund.require_once(posts=posts)


async def test_a_lost_reply_is_never_told_as_a_failure(faulty: Onceward) -> None:
    refund = await Refund.proposed(faulty)
    lost = {"on": "refund", "do": "commit-late", "seconds": 4}
    async with faulty.provider.switched(lost):
        await refund.approve()
        await faulty.until(refund.operation_id, "unconfirmed")
        meanwhile = await refund.hand_in_again(wait_seconds=0)
        assert meanwhile.code == "reconciliation_pending"
        assert meanwhile.only["final"] is False
        assert meanwhile.only["error"]["next_action"] == "wait_and_query"
        await refund.require_once(posts=1)


async def test_the_same_act_proposed_anew_while_the_first_is_uncertain_is_answered_with_the_first(
    faulty: Onceward,
) -> None:
    """The model reads that nothing is certain yet, and asks for the same refund in its next response."""
    refund = await Refund.proposed(faulty)
    unseen = {"on": "lookup", "do": "503", "times": None}
    async with faulty.provider.switched({"on": "refund", "do": "commit-then-drop"}, unseen):
        await refund.approve()
        await faulty.until(refund.operation_id, "unconfirmed")
        again = await faulty.turn(refund.asked, request_id=fresh("response"), wait_seconds=0)
        assert (again.operation_id, again.code) == (refund.operation_id, "reconciliation_pending")
    await refund.require_once(posts=1)


async def test_of_a_true_repeat_and_another_content_at_once_one_is_answered_and_one_refused(faulty: Onceward) -> None:
    refund = await Refund.approved(faulty)
    await refund.require_once(posts=1)
    call_id, tool, arguments = refund.asked
    other = (call_id, tool, arguments | {"amount": 1})
    deliveries = [faulty.turn(asked, request_id=refund.request_id) for asked in (refund.asked, other) * 5]
    replies = await asyncio.gather(*deliveries)
    assert {reply.only["status"] for reply in replies[::2]} == {"succeeded"}
    assert {reply.code for reply in replies[1::2]} == {"idempotency_conflict"}
    await refund.require_once(posts=1)


async def test_a_refund_that_is_only_pending_is_no_success_yet(faulty: Onceward) -> None:
    refund = await Refund.proposed(faulty)
    async with faulty.provider.switched(completion_seconds=4):
        await refund.approve()
        await refund.until_effects(1)
        await faulty.until(refund.operation_id, "unconfirmed")
        assert (await refund.hand_in_again(wait_seconds=0)).code == "reconciliation_pending"
        await refund.require_once(posts=1)


async def test_the_same_response_handed_in_many_times_at_once_makes_one_refund(faulty: Onceward) -> None:
    refund = await Refund.proposed(faulty)
    async with faulty.provider.switched({"on": "refund", "do": "commit-then-drop"}):
        deliveries = [refund.hand_in_again(wait_seconds=30, wait_for="end") for _ in range(10)]
        _, *replies = await asyncio.gather(refund.approve(), *deliveries)
    assert {reply.operation_id for reply in replies if reply is not None} == {refund.operation_id}
    await refund.require_once(posts=1)


async def test_a_provider_that_says_no_is_believed_and_nothing_is_sent_again(faulty: Onceward) -> None:
    refund = await Refund.proposed(faulty)
    async with faulty.provider.switched({"on": "refund", "do": "422"}):
        await refund.approve()
        assert await faulty.until(refund.operation_id, "failed_terminal", "succeeded") == "failed_terminal"
    assert await faulty.provider.posts(refund.operation_id) == 1
    assert await faulty.provider.effects(refund.operation_id) == 0
