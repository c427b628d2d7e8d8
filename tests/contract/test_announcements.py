"""What is told of an operation goes into the outbox with the change that it tells, once, and tells no words."""

import json
from dataclasses import replace

import pytest
from sqlalchemy import select

from adapters.postgres.tables import outbox
from tests.support.acts import ATTEMPT_SECONDS, PLEA, asked, binding_of, claimed, granted, proposed, proposed_read
from tests.support.benches import Bench, PostgresBench
from workflows.domain.approval import Choice
from workflows.domain.errors import DecisionRefused, EffectUncertain
from workflows.domain.lifecycle import State
from workflows.domain.operation import Settlement

DAYS_SECONDS = 3 * 24 * 3600.0

MADE = Settlement(State.SUCCEEDED, data={"refund_id": "rf-204"}, reference="rf-204")
DENIED = Settlement(State.FAILED_TERMINAL, "approval_denied")


async def announced(bench: Bench, operation_id: str) -> list[str]:
    return [each for each in (await bench.found(operation_id)).outbox if "." in each]


@pytest.mark.parametrize(("choice", "told"), [(Choice.APPROVE, "approval.granted"), (Choice.DENY, "approval.denied")])
async def test_a_decision_is_told(bench: Bench, choice: Choice, told: str) -> None:
    operation, question = await asked(bench)
    await bench.decide(question.approval_id, choice)
    assert await announced(bench, operation.operation_id) == ["approval.asked", told]


async def test_of_two_who_must_approve_the_first_decides_nothing_and_is_not_told(bench: Bench) -> None:
    operation, question = await asked(bench, replace(PLEA, rule=replace(PLEA.rule, quorum=2)))
    await bench.decide(question.approval_id, approver="approver-1")
    assert await announced(bench, operation.operation_id) == ["approval.asked"]
    await bench.decide(question.approval_id, approver="approver-2")
    assert await announced(bench, operation.operation_id) == ["approval.asked", "approval.granted"]


async def test_a_deadline_that_passes_is_told_once_however_often_somebody_looks(bench: Bench) -> None:
    operation, _ = await asked(bench)
    await bench.pass_time(operation.operation_id, DAYS_SECONDS + 1)
    for _ in range(3):
        await bench.approvals.latest(operation.operation_id)
    assert await announced(bench, operation.operation_id) == ["approval.asked", "approval.expired"]


async def test_a_question_that_is_taken_back_and_asked_anew_is_told_as_both(bench: Bench) -> None:
    operation, question = await asked(bench)
    await bench.approvals.void(question.approval_id)
    await bench.approvals.void(question.approval_id)
    await bench.approvals.ask(operation, replace(PLEA, binding=binding_of(operation)))
    assert await announced(bench, operation.operation_id) == ["approval.asked", "approval.void", "approval.asked"]


async def test_what_ends_with_its_question_open_tells_that_first(bench: Bench) -> None:
    operation, _ = await asked(bench)
    for _ in range(2):
        await bench.operations.settle(operation.operation_id, DENIED)
    assert await announced(bench, operation.operation_id) == ["approval.asked", "approval.void", "operation.ended"]


async def test_operators_who_are_asked_are_told_once(bench: Bench) -> None:
    claim = await claimed(bench)
    await bench.operations.move(claim.operation_id, State.UNCONFIRMED)
    for _ in range(2):
        await bench.operations.move(claim.operation_id, State.MANUAL_REVIEW, "lookup_failed")
    assert await announced(bench, claim.operation_id) == ["operation.manual_review"]


async def test_of_a_read_nothing_is_told(bench: Bench) -> None:
    operation = await proposed_read(bench)
    await bench.operations.move(operation.operation_id, State.STARTED)
    await bench.operations.settle(operation.operation_id, MADE)
    assert await announced(bench, operation.operation_id) == []


async def test_a_decision_that_does_not_count_tells_nothing(postgres_bench: PostgresBench) -> None:
    operation, question = await granted(postgres_bench)
    with pytest.raises(DecisionRefused):
        await postgres_bench.decide(question.approval_id, Choice.DENY, approver="approver-2")
    assert await announced(postgres_bench, operation.operation_id) == ["approval.asked", "approval.granted"]


async def told(bench: PostgresBench, operation_id: str) -> list[dict[str, object]]:
    mine = select(outbox).where(outbox.c.operation_id == operation_id, outbox.c.kind == "event")
    return [row.payload for row in await bench.rows(mine.order_by(outbox.c.message_id))]


async def test_a_question_tells_ids_states_the_deadline_and_the_amount(postgres_bench: PostgresBench) -> None:
    operation, question = await asked(postgres_bench)
    (event,) = await told(postgres_bench, operation.operation_id)
    data = event["data"]
    assert isinstance(data, dict)
    deadline = data["approval"].pop("deadline")
    assert deadline.endswith("+00:00")
    assert event["what"] == "approval.asked"
    assert data == {
        "operation_id": operation.operation_id,
        "tenant": "tenant-a",
        "tool": "refund_payment",
        "state": "awaiting_approval",
        "requester": operation.principal.subject,
        "approval": {
            "approval_id": question.approval_id,
            "revision": 1,
            "state": "pending",
            "approver_role": "approver:refunds",
            "quorum": 1,
        },
        "amount": {"minor_units": 12_000, "currency": "KRW"},
        "count": 1,
    }


async def test_an_ending_tells_where_it_stands_and_why(postgres_bench: PostgresBench) -> None:
    operation, _ = await asked(postgres_bench)
    await postgres_bench.operations.settle(operation.operation_id, DENIED)
    ended = (await told(postgres_bench, operation.operation_id))[-1]
    assert ended == {
        "what": "operation.ended",
        "data": {
            "operation_id": operation.operation_id,
            "tenant": "tenant-a",
            "tool": "refund_payment",
            "state": "failed_terminal",
            "code": "approval_denied",
            "requester": operation.principal.subject,
            "amount": {"minor_units": 12_000, "currency": "KRW"},
            "count": 1,
        },
    }


async def test_what_was_never_asked_about_ends_without_an_amount(postgres_bench: PostgresBench) -> None:
    operation = await proposed(postgres_bench)
    await postgres_bench.operations.settle(operation.operation_id, DENIED)
    (ended,) = await told(postgres_bench, operation.operation_id)
    assert {"amount", "count", "approval"} & set(ended["data"]) == set()  # type: ignore[call-overload]


async def test_no_argument_no_fact_and_no_reason_is_told(postgres_bench: PostgresBench) -> None:
    operation, question = await granted(postgres_bench)
    await postgres_bench.operations.settle(operation.operation_id, DENIED)
    events = json.dumps(await told(postgres_bench, operation.operation_id))
    arguments = {str(value) for value in operation.arguments.values()} - {"KRW"}
    secret = (*arguments, PLEA.why, "Seen.", "pay-17", PLEA.impact.action)
    assert [word for word in secret if f'"{word}"' in events] == []
    assert question.approval_id in events


async def test_a_change_that_is_refused_tells_nothing(bench: Bench) -> None:
    claim = await claimed(bench)
    await bench.claims.begin_send(claim, ATTEMPT_SECONDS)
    with pytest.raises(EffectUncertain):
        await bench.operations.settle(claim.operation_id, DENIED)
    assert await announced(bench, claim.operation_id) == []
