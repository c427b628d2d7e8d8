"""What a question says of the revision before it, of its history, and of what the model gave."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from adapters.http.back_office.ports import ApprovalSheet
from adapters.intake.judging import judge
from adapters.intake.ports import Turn
from tests.support.acts import PLEA, binding_of
from tests.support.offices import AMOUNT, Office, person
from tests.support.postgres_offices import PostgresOffice
from tests.support.proposals import CALLER, CATALOG, fresh, refund
from workflows.domain.approval import ApprovalState, Choice
from workflows.domain.impact import Fact, Money
from workflows.domain.proposal import Proposal

LESS = Money(9_000, "KRW")


async def sheet_of(office: Office, approval_id: str) -> ApprovalSheet:
    sheet = await office.store.approval(person(office), approval_id)
    assert sheet is not None
    return sheet


async def approve(office: Office, approval_id: str) -> None:
    approval = (await sheet_of(office, approval_id)).approval
    await office.store.decide(
        person(office), approval_id, Choice.APPROVE, "Seen.", approval.revision, approval.binding.intent_hash
    )


async def test_a_first_revision_has_none_before_it(office: Office) -> None:
    sheet = await sheet_of(office, await office.ask())
    assert sheet.earlier is None
    assert [(event.what, event.revision) for event in sheet.history] == [("approval.asked", 1)]


async def test_a_later_revision_shows_what_the_one_before_said_and_who_had_approved_it(office: Office) -> None:
    first = await office.ask(quorum=2)
    await approve(office, first)
    sheet = await sheet_of(office, await office.ask_anew(first, LESS))
    assert sheet.approval.revision == 2
    assert sheet.impact.money == LESS
    assert sheet.votes == ()
    assert sheet.earlier is not None
    before = sheet.earlier.approval
    assert (before.revision, before.state, sheet.earlier.impact.money) == (1, ApprovalState.VOID, AMOUNT)
    assert before.binding.resource_version != sheet.approval.binding.resource_version
    assert [(vote.approver, vote.choice) for vote in sheet.earlier.votes] == [("approver-1", Choice.APPROVE)]


async def test_the_history_tells_of_all_revisions_in_their_order(office: Office) -> None:
    first = await office.ask(quorum=2)
    await approve(office, first)
    second = await office.ask_anew(first, LESS)
    await approve(office, second)
    told = [(event.what, event.actor, event.revision) for event in (await sheet_of(office, second)).history]
    assert told == [
        ("approval.asked", "executor", 1),
        ("decision.approve", "approver-1", 1),
        ("approval.void", "executor", 1),
        ("approval.asked", "executor", 2),
        ("decision.approve", "approver-1", 2),
    ]


# -- PostgreSQL alone


async def asked_about(office: PostgresOffice, given: Any, meant: Mapping[str, Any]) -> ApprovalSheet:
    """The question about a refund that a model asked for in these words, and that means those."""
    caller = replace(CALLER, tenant=office.tenant, subject="support-7")
    raw = Proposal(fresh("call"), "refund_payment", given)
    call = judge(raw, 0, caller, CATALOG, replace(raw, arguments=meant))
    turn = Turn(caller, "anthropic-messages", fresh("request"), [call], fresh("lineage"))
    (registered,) = await office.bench.inbox.register(turn)
    operation = await office.bench.operations.load(registered.operation_id or "")
    question = await office.bench.approvals.ask(operation, replace(PLEA, binding=binding_of(operation)))
    return await sheet_of(office, question.approval_id)


async def test_what_the_model_gave_is_kept_beside_what_will_be_sent(postgres_office: PostgresOffice) -> None:
    meant = dict(refund(order_id=fresh("O")).arguments)
    given = {**meant, "amount": "12,000", "note": None}
    sheet = await asked_about(postgres_office, given, meant)
    assert Fact("amount", "12000") in sheet.arguments
    assert Fact("amount", "12,000") in sheet.given
    assert Fact("note", "null") in sheet.given


@pytest.mark.parametrize("odd", [[1, 2], "text", None, 12])
async def test_what_the_model_gave_may_be_anything(postgres_office: PostgresOffice, odd: Any) -> None:
    sheet = await asked_about(postgres_office, odd, refund(order_id=fresh("O")).arguments)
    assert [fact.label for fact in sheet.given] == [""]


async def test_nothing_is_kept_twice_where_the_model_gave_what_will_be_sent(postgres_office: PostgresOffice) -> None:
    meant = dict(refund(order_id=fresh("O")).arguments)
    sheet = await asked_about(postgres_office, dict(reversed(meant.items())), meant)
    assert {fact.label for fact in sheet.arguments} == set(meant)
    assert sheet.given == ()
