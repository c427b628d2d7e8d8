"""The back office's store: what a viewer may see, and whose word counts."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest
from sqlalchemy import select

from adapters.http.back_office.lists import OperationQuery
from adapters.http.back_office.ports import ApprovalSheet, DecisionOutcome
from adapters.postgres.back_office import PostgresBackOffice
from adapters.postgres.engine import Database
from adapters.postgres.tables import decisions, outbox
from tests.support.acts import IMPACT
from tests.support.benches import nobody_is_woken
from tests.support.offices import DAY_SECONDS, Office, person
from tests.support.postgres_offices import PostgresOffice
from tests.support.proposals import CALLER, fresh, lookup, refund, turn_of
from workflows.domain.approval import ApprovalState, Choice
from workflows.domain.errors import DecisionRefused
from workflows.domain.lifecycle import State
from workflows.domain.principal import Principal

APPROVE, DENY = Choice.APPROVE, Choice.DENY


async def sheet_of(office: Office, approval_id: str) -> ApprovalSheet:
    sheet = await office.store.approval(person(office), approval_id)
    assert sheet is not None
    return sheet


async def decide(
    office: Office, approval_id: str, choice: Choice = APPROVE, reason: str = "Seen.", who: Principal | None = None
) -> DecisionOutcome:
    """On exactly what is shown."""
    approval = (await sheet_of(office, approval_id)).approval
    viewer = who or person(office)
    return await office.store.decide(
        viewer, approval_id, choice, reason, approval.revision, approval.binding.intent_hash
    )


async def assert_refused(office: Office, approval_id: str, code: str, decision: Awaitable[object]) -> None:
    """The word does not count: the code is this one and nothing has changed."""
    before = await office.store.approval(person(office), approval_id), await office.votes(approval_id)
    with pytest.raises(DecisionRefused) as refused:
        await decision
    assert refused.value.code == code
    assert (await office.store.approval(person(office), approval_id), await office.votes(approval_id)) == before


async def state_of(office: Office, approval_id: str) -> ApprovalState:
    return (await sheet_of(office, approval_id)).approval.state


# -- what is shown


async def test_a_question_is_shown_with_what_it_binds(office: Office) -> None:
    sheet = await sheet_of(office, await office.ask())
    assert sheet.approval.state is ApprovalState.PENDING
    assert (sheet.approval.revision, sheet.approval.quorum, sheet.approval.approver_role) == (1, 1, "approver:refunds")
    assert len(sheet.approval.binding.intent_hash) == 64
    assert sheet.impact.action == "Refund a payment"
    assert sheet.impact.money == IMPACT.money
    assert (sheet.requester.tenant, sheet.requester.subject) == (office.tenant, "support-7")
    assert sheet.requester.agent == "support-agent"
    assert sheet.votes == ()
    assert sheet.arguments


async def test_the_inbox_has_the_nearest_deadline_first(office: Office) -> None:
    later, sooner = await office.ask(days=2), await office.ask(days=1)
    lines = (await office.store.pending(person(office))).lines
    assert [line.approval_id for line in lines] == [sooner, later]
    assert [(line.votes, line.quorum, line.requester) for line in lines] == [(0, 1, "support-7")] * 2


@pytest.mark.parametrize("choice", [APPROVE, DENY])
async def test_what_is_decided_leaves_the_inbox(office: Office, choice: Choice) -> None:
    approval_id = await office.ask()
    await decide(office, approval_id, choice)
    assert (await office.store.pending(person(office))).lines == ()


async def test_what_has_expired_leaves_the_inbox_and_is_shown_as_it_is(office: Office) -> None:
    approval_id = await office.ask()
    await office.pass_time(approval_id, 3 * DAY_SECONDS + 1)
    assert (await office.store.pending(person(office))).lines == ()


async def test_another_tenant_sees_nothing(office: Office) -> None:
    approval_id = await office.ask()
    (operation_id,) = await office.propose(1)
    stranger = replace(person(office), tenant=fresh("tenant"))
    assert (await office.store.pending(stranger)).lines == ()
    assert await office.store.approval(stranger, approval_id) is None
    assert (await office.store.operations(stranger)).lines == ()
    assert await office.store.operation(stranger, operation_id) is None


async def test_what_is_not_there_is_absent(office: Office) -> None:
    assert await office.store.approval(person(office), "ap_invented") is None
    assert await office.store.operation(person(office), "op_invented") is None
    with pytest.raises(DecisionRefused) as refused:
        await office.store.decide(person(office), "ap_invented", APPROVE, "", 1, "f" * 64)
    assert refused.value.code == "not_found"


# -- whose word counts


async def test_an_approval_grants(office: Office) -> None:
    approval_id = await office.ask()
    outcome = await decide(office, approval_id)
    assert (outcome.state, outcome.approvals, outcome.quorum) == (ApprovalState.GRANTED, 1, 1)
    assert not outcome.repeated
    assert (outcome.vote.approver, outcome.vote.choice, outcome.vote.reason) == ("approver-1", APPROVE, "Seen.")
    assert (await sheet_of(office, approval_id)).votes == (outcome.vote,)
    assert await state_of(office, approval_id) is ApprovalState.GRANTED


async def test_a_quorum_waits_for_the_second_person(office: Office) -> None:
    approval_id = await office.ask(quorum=2)
    first = await decide(office, approval_id)
    assert (first.state, first.approvals) == (ApprovalState.PENDING, 1)
    (line,) = (await office.store.pending(person(office))).lines
    assert (line.votes, line.quorum) == (1, 2)
    second = await decide(office, approval_id, who=person(office, "approver-2"))
    assert (second.state, second.approvals) == (ApprovalState.GRANTED, 2)


async def test_one_denial_ends_it_whatever_the_quorum(office: Office) -> None:
    approval_id = await office.ask(quorum=3)
    await decide(office, approval_id)
    outcome = await decide(office, approval_id, DENY, "Not his order.", person(office, "approver-2"))
    assert outcome.state is ApprovalState.DENIED
    assert await state_of(office, approval_id) is ApprovalState.DENIED


async def test_the_same_word_again_is_answered_with_the_first(office: Office) -> None:
    approval_id = await office.ask()
    first = await decide(office, approval_id, reason="First.")
    again = await decide(office, approval_id, reason="Second.")
    assert again == replace(first, repeated=True)
    assert await office.votes(approval_id) == 1


@pytest.mark.parametrize("first", [APPROVE, DENY])
async def test_the_same_word_is_answered_after_the_end_too(office: Office, first: Choice) -> None:
    approval_id = await office.ask()
    await decide(office, approval_id, first)
    await office.pass_time(approval_id, 4 * DAY_SECONDS)
    assert (await decide(office, approval_id, first)).repeated


async def test_who_says_it_again_after_the_deadline_is_not_told_that_it_waits_for_others(office: Office) -> None:
    approval_id = await office.ask(quorum=2)
    assert (await decide(office, approval_id)).state is ApprovalState.PENDING
    await office.pass_time(approval_id, 3 * DAY_SECONDS + 1)
    again = await decide(office, approval_id)
    assert (again.repeated, again.state) == (True, ApprovalState.EXPIRED)


async def test_of_ten_people_at_once_the_quorum_is_counted_exactly(office: Office) -> None:
    approval_id = await office.ask(quorum=10)
    people = [person(office, f"approver-{number}") for number in range(10)]
    outcomes = await asyncio.gather(*(decide(office, approval_id, who=who) for who in people))
    assert sorted(outcome.approvals for outcome in outcomes) == list(range(1, 11))
    assert [outcome.state for outcome in outcomes].count(ApprovalState.GRANTED) == 1
    assert await state_of(office, approval_id) is ApprovalState.GRANTED


async def test_of_two_opposite_words_at_once_the_first_wins(office: Office) -> None:
    approval_id = await office.ask()
    yes, no = await asyncio.gather(
        decide(office, approval_id, APPROVE, who=person(office, "approver-1")),
        decide(office, approval_id, DENY, who=person(office, "approver-2")),
        return_exceptions=True,
    )
    winners = [each for each in (yes, no) if isinstance(each, DecisionOutcome)]
    losers = [each for each in (yes, no) if isinstance(each, DecisionRefused)]
    assert (len(winners), len(losers)) == (1, 1)
    assert losers[0].code == "approval_already_decided"
    assert await state_of(office, approval_id) is winners[0].state


async def test_the_same_person_twice_at_once_has_one_vote(office: Office) -> None:
    approval_id = await office.ask(quorum=2)
    outcomes = await asyncio.gather(*(decide(office, approval_id) for _ in range(5)))
    assert sum(not outcome.repeated for outcome in outcomes) == 1
    assert await office.votes(approval_id) == 1


# -- whose word does not


@pytest.mark.parametrize(
    "who",
    [
        lambda office: person(office, agent="support-agent"),
        lambda office: person(office, "viewer-1", "viewer"),
        lambda office: person(office, "approver-1", "approver:other"),
        lambda office: person(office, "support-7"),
    ],
    ids=["an agent", "without the role", "with another role", "on one's own request"],
)
async def test_who_may_not_decide_decides_nothing(office: Office, who: Callable[[Office], Principal]) -> None:
    approval_id = await office.ask()
    await assert_refused(office, approval_id, "approver_not_allowed", decide(office, approval_id, who=who(office)))


async def test_an_approver_of_another_tenant_finds_nothing(office: Office) -> None:
    approval_id = await office.ask()
    stranger = replace(person(office), tenant=fresh("tenant"))
    await assert_refused(office, approval_id, "not_found", decide(office, approval_id, who=stranger))


@pytest.mark.parametrize("reason", ["", "  \n", "\u200b\u2060", " \u3164\ufe0f\u00a0"], ids=ascii)
async def test_a_denial_needs_a_reason_that_can_be_seen(office: Office, reason: str) -> None:
    approval_id = await office.ask()
    denial = decide(office, approval_id, DENY, reason)
    await assert_refused(office, approval_id, "decision_reason_required", denial)


@pytest.mark.parametrize("choice", [APPROVE, DENY])
async def test_a_second_word_on_what_is_decided_changes_nothing(office: Office, choice: Choice) -> None:
    approval_id = await office.ask()
    await decide(office, approval_id, DENY)
    other = decide(office, approval_id, choice, who=person(office, "approver-2"))
    await assert_refused(office, approval_id, "approval_already_decided", other)


async def test_a_vote_is_not_changed(office: Office) -> None:
    approval_id = await office.ask(quorum=2)
    await decide(office, approval_id)
    await assert_refused(office, approval_id, "vote_already_cast", decide(office, approval_id, DENY))


async def test_a_word_after_the_deadline_does_not_count(office: Office) -> None:
    approval_id = await office.ask()
    await office.pass_time(approval_id, 3 * DAY_SECONDS + 1)
    await assert_refused(office, approval_id, "approval_expired", decide(office, approval_id))


async def test_a_word_on_what_was_taken_back_does_not_count(office: Office) -> None:
    approval_id = await office.ask()
    await office.end(approval_id, ApprovalState.VOID)
    await assert_refused(office, approval_id, "approval_stale", decide(office, approval_id))


async def test_a_word_on_what_was_used_does_not_count(office: Office) -> None:
    approval_id = await office.ask()
    await decide(office, approval_id)
    await office.end(approval_id, ApprovalState.CONSUMED)
    late = decide(office, approval_id, DENY, who=person(office, "approver-2"))
    await assert_refused(office, approval_id, "approval_already_decided", late)


@pytest.mark.parametrize(("revision", "intent_hash"), [(2, None), (1, "e" * 64)], ids=["revision", "intent"])
async def test_a_word_on_something_else_than_is_asked_does_not_count(
    office: Office, revision: int, intent_hash: str | None
) -> None:
    approval_id = await office.ask()
    shown = intent_hash or (await sheet_of(office, approval_id)).approval.binding.intent_hash
    other = office.store.decide(person(office), approval_id, APPROVE, "", revision, shown)
    await assert_refused(office, approval_id, "approval_stale", other)


# -- operations


async def test_every_operation_is_listed_once_however_they_fall_on_pages(office: Office) -> None:
    mine = {*await office.propose(60), *await office.propose(60)}
    listed: list[str] = []
    after = ""
    while True:
        page = await office.store.operations(person(office), OperationQuery(after=after))
        listed += [line.operation_id for line in page.lines]
        after = page.following
        if not after:
            break
    assert len(listed) == len(set(listed))
    assert set(listed) == mine


async def test_operations_can_be_listed_by_state(office: Office) -> None:
    (operation_id,) = await office.propose(1)
    proposed = await office.store.operations(person(office), OperationQuery(state=State.PROPOSED))
    assert operation_id in [line.operation_id for line in proposed.lines]
    assert (await office.store.operations(person(office), OperationQuery(state=State.SUCCEEDED))).lines == ()


async def test_one_operation_is_shown_in_full(office: Office) -> None:
    (operation_id,) = await office.propose(1)
    sheet = await office.store.operation(person(office), operation_id)
    assert sheet is not None
    assert (sheet.line.operation_id, sheet.line.state) == (operation_id, State.PROPOSED)
    assert sheet.timeline
    assert sheet.verdicts


# -- PostgreSQL alone


async def test_a_read_is_told_from_a_write_and_called_by_its_tools_title(
    postgres_office: PostgresOffice, door_database: Database
) -> None:
    caller = replace(CALLER, tenant=postgres_office.tenant)
    turn = turn_of(lookup("call-1"), refund("call-2"), caller=caller)
    registered = await postgres_office.bench.inbox.register(turn)
    store = PostgresBackOffice(door_database, nobody_is_woken, {"get_order": "Look up an order"})
    told = {}
    for found in registered:
        sheet = await store.operation(person(postgres_office), str(found.operation_id))
        assert sheet is not None
        told[sheet.line.action] = sheet.line.writes
    assert told == {"Look up an order": False, "refund_payment": True}


async def test_a_decision_puts_its_wake_up_in_the_outbox(postgres_office: PostgresOffice) -> None:
    approval_id = await postgres_office.ask()
    await decide(postgres_office, approval_id)
    operation_id = postgres_office.operations[approval_id].operation_id
    posted = await postgres_office.bench.rows(select(outbox).where(outbox.c.operation_id == operation_id))
    assert [row.kind for row in posted if row.kind == "nudge"] == ["nudge"]
    assert await postgres_office.bench.rows(select(decisions).where(decisions.c.approver == "invented")) == []


async def test_a_sheet_tells_of_claim_receipt_and_timeline(postgres_office: PostgresOffice) -> None:
    approval_id = await postgres_office.ask()
    await decide(postgres_office, approval_id)
    await postgres_office.end(approval_id, ApprovalState.CONSUMED)
    operation_id = postgres_office.operations[approval_id].operation_id
    sheet = await postgres_office.store.operation(person(postgres_office), operation_id)
    assert sheet is not None
    assert (sheet.line.state, sheet.generation, sheet.sends) == (State.STARTED, 1, 0)
    assert sheet.impact == IMPACT
    assert [reference.state for reference in sheet.approvals] == [ApprovalState.CONSUMED]
    told = [entry.what for entry in sheet.timeline]
    for what in ("proposed", "approval.asked", "decision.approve", "approval.consumed", "claim.acquired"):
        assert what in told
