"""What people find through the back office's store: filters, search, pages, and the work that is stuck."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select

from adapters.http.back_office.lists import (
    PAGE,
    ApprovalList,
    OperationQuery,
    PendingQuery,
    Stuck,
    StuckGroup,
    StuckWork,
)
from adapters.postgres.tables import events, outbox
from tests.support.offices import AMOUNT, DAY_SECONDS, Office, person
from tests.support.postgres_offices import PostgresOffice
from tests.support.proposals import fresh
from workflows.domain.approval import ApprovalState, Choice
from workflows.domain.errors import RequeueRefused
from workflows.domain.impact import Money
from workflows.domain.lifecycle import State
from workflows.domain.principal import Principal

HOUR_SECONDS = 3600.0


def ids(found: ApprovalList) -> list[str]:
    return [line.approval_id for line in found.lines]


async def approve(office: Office, approval_id: str, who: Principal | None = None) -> None:
    viewer = who or person(office)
    sheet = await office.store.approval(viewer, approval_id)
    assert sheet is not None
    approval = sheet.approval
    await office.store.decide(
        viewer, approval_id, Choice.APPROVE, "Seen.", approval.revision, approval.binding.intent_hash
    )


async def group(office: Office, why: Stuck) -> StuckGroup:
    work = await office.store.stuck(person(office))
    return next(each for each in work.groups if each.why is why)


async def stuck_ids(office: Office, why: Stuck) -> list[str]:
    return [each.line.operation_id for each in (await group(office, why)).lines]


def operator(office: Office, subject: str = "operator-1", agent: str = "") -> Principal:
    return person(office, subject, "operator", agent=agent)


# -- the inbox


async def test_the_inbox_is_read_in_pages_and_says_how_many_there_are(office: Office) -> None:
    asked = [await office.ask(days=1 + number / 100) for number in range(PAGE + 3)]
    first = await office.store.pending(person(office))
    second = await office.store.pending(person(office), PendingQuery(after=first.following))
    assert (first.total, second.total) == (PAGE + 3, PAGE + 3)
    assert ids(first) + ids(second) == asked
    assert second.following == ""


async def test_a_question_that_ends_meanwhile_does_not_move_the_page_that_comes_after(office: Office) -> None:
    asked = [await office.ask(days=1 + number / 100) for number in range(PAGE + 2)]
    first = await office.store.pending(person(office))
    await approve(office, first.following)
    second = await office.store.pending(person(office), PendingQuery(after=first.following))
    assert ids(second) == asked[PAGE:]


async def test_a_cursor_that_no_page_has_given_finds_nothing(office: Office) -> None:
    await office.ask()
    await office.stand(State.STARTED)
    assert ids(await office.store.pending(person(office), PendingQuery(after="ap_invented"))) == []
    assert (await office.store.operations(person(office), OperationQuery(after="op_invented"))).lines == ()


async def test_a_cursor_of_another_tenant_finds_nothing(office: Office) -> None:
    theirs, operation_id = await office.ask(), await office.stand(State.STARTED)
    office.tenant = fresh("tenant")
    await office.ask()
    await office.stand(State.STARTED)
    assert ids(await office.store.pending(person(office), PendingQuery(after=theirs))) == []
    assert (await office.store.operations(person(office), OperationQuery(after=operation_id))).lines == ()


async def test_the_inbox_is_narrowed_to_a_tool(office: Office) -> None:
    approval_id = await office.ask()
    (line,) = (await office.store.pending(person(office))).lines
    assert ids(await office.store.pending(person(office), PendingQuery(tool=line.tool))) == [approval_id]
    assert (await office.store.pending(person(office), PendingQuery(tool="other"))).total == 0


async def test_the_inbox_is_narrowed_to_an_amount_of_one_currency(office: Office) -> None:
    small, large = await office.ask(money=Money(999, "KRW")), await office.ask(money=Money(2**70, "KRW"))
    dollars, nothing = await office.ask(money=Money(1000, "USD")), await office.ask(money=None)

    async def found(**narrowed: Any) -> set[str]:
        return set(ids(await office.store.pending(person(office), PendingQuery(**narrowed))))

    assert await found() == {small, large, dollars, nothing}
    assert await found(currency="KRW") == {small, large}
    assert await found(currency="KRW", at_least=999) == {small, large}
    assert await found(currency="KRW", at_least=1000) == {large}
    assert await found(currency="KRW", at_most=999) == {small}
    assert await found(currency="KRW", at_least=1000, at_most=2**70 - 1) == set()
    assert await found(currency="USD", at_least=0) == {dollars}


@pytest.mark.parametrize(("least", "most"), [(1, None), (None, 1)])
def test_an_amount_without_its_currency_is_no_question(least: int | None, most: int | None) -> None:
    with pytest.raises(ValueError, match="currency"):
        PendingQuery(at_least=least, at_most=most)


async def test_the_inbox_is_narrowed_to_what_has_waited_long_and_to_what_ends_soon(office: Office) -> None:
    old, new = await office.ask(days=3), await office.ask(days=3)
    await office.pass_time(old, 2 * DAY_SECONDS)
    waited = PendingQuery(waiting=timedelta(days=1))
    ending = PendingQuery(ends_in=timedelta(days=2))
    assert ids(await office.store.pending(person(office), waited)) == [old]
    assert ids(await office.store.pending(person(office), ending)) == [old]
    assert ids(await office.store.pending(person(office), PendingQuery(ends_in=timedelta(days=4)))) == [old, new]


async def test_mine_is_what_i_may_decide_on_and_have_not(office: Office) -> None:
    mine = await office.ask()
    await office.ask(who="approver-1")
    await office.ask(role="approver:credits")
    voted = await office.ask(quorum=2)
    await approve(office, voted)
    assert ids(await office.store.pending(person(office), PendingQuery(mine=True))) == [mine]
    other = person(office, "approver-2", "approver:refunds", "approver:credits")
    assert (await office.store.pending(other, PendingQuery(mine=True))).total == 4


@pytest.mark.parametrize(
    "who",
    [lambda office: person(office, "viewer-1", "viewer"), lambda office: person(office, agent="support-agent")],
    ids=["without the role", "an agent"],
)
async def test_nothing_is_mine_without_the_right_to_decide(office: Office, who: Callable[[Office], Principal]) -> None:
    await office.ask()
    assert (await office.store.pending(who(office), PendingQuery(mine=True))).total == 0
    assert (await office.store.pending(who(office))).total == 1


# -- the search


async def test_an_operation_is_found_by_each_of_its_names(office: Office) -> None:
    wanted = await office.stand(State.STARTED)
    await office.stand(State.STARTED)
    call, request, thing = await office.names(wanted)
    queries = [OperationQuery(id=name) for name in (wanted, call, request)]
    queries += [OperationQuery(resource=name) for name in (thing, f"order {thing}", f"order:{thing}")]
    for query in queries:
        found = await office.store.operations(person(office), query)
        assert [line.operation_id for line in found.lines] == [wanted]


async def test_what_is_called_otherwise_is_not_found(office: Office) -> None:
    operation_id = await office.stand(State.STARTED)
    _, _, thing = await office.names(operation_id)
    queries = [OperationQuery(id="op_invented"), OperationQuery(id=thing)]
    queries += [OperationQuery(resource=name) for name in (f"account {thing}", thing[:-1], f"%{thing}", "order", ":")]
    for query in queries:
        assert (await office.store.operations(person(office), query)).lines == ()


async def test_another_tenants_operation_has_no_name_here(office: Office) -> None:
    theirs = await office.stand(State.STARTED)
    names = [theirs, *await office.names(theirs)]
    office.tenant = fresh("tenant")
    for name in names:
        for query in (OperationQuery(id=name), OperationQuery(resource=name)):
            assert (await office.store.operations(person(office), query)).lines == ()


async def test_operations_are_found_by_tool_requester_state_and_all_at_once(office: Office) -> None:
    wanted = await office.stand(State.UNCONFIRMED, who="support-8")
    await office.stand(State.STARTED, who="support-8")
    await office.stand(State.UNCONFIRMED)
    (line,) = (await office.store.operations(person(office), OperationQuery(id=wanted))).lines

    async def number(**narrowed: Any) -> int:
        return len((await office.store.operations(person(office), OperationQuery(**narrowed))).lines)

    assert await number(requester="support-8") == 2
    assert await number(state=State.UNCONFIRMED) == 2
    assert (await number(tool=line.tool), await number(tool="other")) == (3, 0)
    assert await number(requester="support-8", state=State.UNCONFIRMED, tool=line.tool, id=wanted) == 1


async def test_a_period_has_its_beginning_and_not_its_end(office: Office) -> None:
    operation_id = await office.stand(State.STARTED)
    (line,) = (await office.store.operations(person(office))).lines
    begun, later = line.created_at, line.created_at + timedelta(microseconds=1)
    for period, found in (
        (OperationQuery(since=begun, until=later), [operation_id]),
        (OperationQuery(since=later), []),
        (OperationQuery(until=begun), []),
        (OperationQuery(since=datetime(2020, 1, 1, tzinfo=UTC)), [operation_id]),
    ):
        lines = (await office.store.operations(person(office), period)).lines
        assert [each.operation_id for each in lines] == found


# -- stuck work


async def test_nothing_is_stuck_in_an_office_where_everything_moves(office: Office) -> None:
    await office.stand(State.STARTED)
    await office.stand(State.SUCCEEDED, seconds=9 * DAY_SECONDS)
    await office.ask()
    work = await office.store.stuck(operator(office))
    assert [each.why for each in work.groups] == list(Stuck)
    assert (work.total, await office.store.stuck_number(operator(office))) == (0, 0)
    assert work.messages is not None
    assert work.messages.lines == ()


@pytest.mark.parametrize("why", [Stuck.MANUAL_REVIEW, Stuck.UNCONFIRMED])
async def test_what_nobody_can_say_is_stuck_from_the_first_moment_and_the_oldest_comes_first(
    office: Office, why: Stuck
) -> None:
    new, old = await office.stand(State(why.value)), await office.stand(State(why.value), seconds=HOUR_SECONDS)
    found = await group(office, why)
    assert [each.line.operation_id for each in found.lines] == [old, new]
    assert (found.lines[1].since - found.lines[0].since).total_seconds() == pytest.approx(HOUR_SECONDS, abs=60)
    assert (found.total, found.sums) == (2, (Money(2 * AMOUNT.minor_units, AMOUNT.currency),))


@pytest.mark.parametrize("state", [State.PROPOSED, State.STARTED, State.AWAITING_APPROVAL])
async def test_what_nobody_has_moved_for_long_is_stuck(office: Office, state: State) -> None:
    still = await office.stand(state, seconds=2 * HOUR_SECONDS)
    await office.stand(state, seconds=HOUR_SECONDS / 2)
    assert await stuck_ids(office, Stuck.STILL) == [still]


async def test_a_question_is_overdue_when_its_deadline_is_near_and_once_it_has_passed(office: Office) -> None:
    passed, near, far = await office.ask(days=3), await office.ask(days=3), await office.ask(days=3)
    await office.pass_time(passed, 3 * DAY_SECONDS + 60)
    await office.pass_time(near, 3 * DAY_SECONDS - HOUR_SECONDS / 2)
    found = await group(office, Stuck.OVERDUE)
    assert [each.approval_id for each in found.lines] == [passed, near]
    assert far not in [each.approval_id for each in found.lines]
    assert all(each.expires_at is not None for each in found.lines)


async def test_a_grant_is_overdue_once_its_time_has_passed_unused(office: Office) -> None:
    approval_id = await office.ask()
    await approve(office, approval_id)
    await office.pass_time(approval_id, 3 * DAY_SECONDS - HOUR_SECONDS / 2)
    assert (await group(office, Stuck.OVERDUE)).total == 0
    await office.pass_time(approval_id, HOUR_SECONDS)
    assert [each.approval_id for each in (await group(office, Stuck.OVERDUE)).lines] == [approval_id]


async def test_what_has_ended_is_not_overdue(office: Office) -> None:
    approval_id = await office.ask()
    await office.pass_time(approval_id, 3 * DAY_SECONDS + 60)
    await office.end(approval_id, ApprovalState.VOID)
    assert (await group(office, Stuck.OVERDUE)).total == 0


async def test_of_many_the_oldest_are_shown_and_all_are_counted(office: Office) -> None:
    for _ in range(PAGE + 2):
        await office.stand(State.MANUAL_REVIEW)
    oldest = await office.stand(State.MANUAL_REVIEW, seconds=DAY_SECONDS)
    found = await group(office, Stuck.MANUAL_REVIEW)
    assert (len(found.lines), found.total) == (PAGE, PAGE + 3)
    assert found.lines[0].line.operation_id == oldest
    assert found.sums == (Money((PAGE + 3) * AMOUNT.minor_units, AMOUNT.currency),)


async def test_everything_that_is_stuck_is_counted_as_far_as_the_viewer_sees_it(office: Office) -> None:
    for state in (State.MANUAL_REVIEW, State.UNCONFIRMED, State.PROPOSED):
        await office.set_aside(await office.stand(state, seconds=2 * HOUR_SECONDS))
    await office.pass_time(await office.ask(days=3), 3 * DAY_SECONDS + 60)
    for who, number in ((person(office), 4), (operator(office), 7)):
        assert (await office.store.stuck(who)).total == number
        assert await office.store.stuck_number(who) == number


async def test_another_tenant_has_nothing_stuck_of_ours(office: Office) -> None:
    await office.set_aside(await office.stand(State.MANUAL_REVIEW))
    stranger = replace(operator(office), tenant=fresh("tenant"))
    assert (await office.store.stuck(stranger)).total == 0


# -- messages that were set aside


async def messages(office: Office) -> list[int]:
    held = (await office.store.stuck(operator(office))).messages
    assert held is not None
    return [message.message_id for message in held.lines]


async def test_messages_that_were_set_aside_are_shown_to_operators_only(office: Office) -> None:
    operation_id = await office.stand(State.PROPOSED)
    number = await office.set_aside(operation_id)
    held = (await office.store.stuck(operator(office))).messages
    assert held is not None
    (message,) = held.lines
    assert (message.message_id, message.operation_id, message.kind) == (number, operation_id, "nudge")
    assert (message.failure, message.attempts, held.total) == ("undeliverable", 4, 1)
    for who in (person(office), operator(office, agent="support-agent")):
        work: StuckWork = await office.store.stuck(who)
        assert work.messages is None


async def test_an_operator_puts_a_message_back(office: Office) -> None:
    number, other = [await office.set_aside(await office.stand(State.PROPOSED)) for _ in range(2)]
    await office.store.requeue(operator(office), number)
    assert await messages(office) == [other]


@pytest.mark.parametrize(
    ("who", "code"),
    [
        (person, "operator_not_allowed"),
        (lambda office: operator(office, agent="support-agent"), "operator_not_allowed"),
        (lambda office: operator(office, "support-7"), "operator_not_allowed"),
        (lambda office: replace(operator(office), tenant="tenant-other"), "not_found"),
    ],
    ids=["without the role", "an agent", "on one's own request", "of another tenant"],
)
async def test_who_may_not_put_a_message_back_changes_nothing(
    office: Office, who: Callable[[Office], Principal], code: str
) -> None:
    number = await office.set_aside(await office.stand(State.PROPOSED))
    with pytest.raises(RequeueRefused) as refused:
        await office.store.requeue(who(office), number)
    assert refused.value.code == code
    assert await messages(office) == [number]


async def test_a_message_is_put_back_once_and_an_invented_one_never(office: Office) -> None:
    number = await office.set_aside(await office.stand(State.PROPOSED))
    both = (office.store.requeue(operator(office, f"operator-{each}"), number) for each in range(2))
    answers = await asyncio.gather(*both, return_exceptions=True)
    assert sorted(getattr(each, "code", "") for each in answers) == ["", "message_not_set_aside"]
    with pytest.raises(RequeueRefused) as refused:
        await office.store.requeue(operator(office), 2**62)
    assert refused.value.code == "not_found"


# -- PostgreSQL alone


async def test_a_message_that_was_put_back_is_due_as_if_it_were_new_and_the_timeline_tells(
    postgres_office: PostgresOffice,
) -> None:
    office = postgres_office
    operation_id = await office.stand(State.PROPOSED)
    number = await office.set_aside(operation_id)
    await office.store.requeue(operator(office), number)
    (row,) = await office.bench.rows(select(outbox).where(outbox.c.message_id == number))
    assert (row.set_aside_at, row.sent_at, row.failure, row.attempts) == (None, None, None, 0)
    told = select(events).where(events.c.operation_id == operation_id, events.c.what == "outbox.requeued")
    (event,) = await office.bench.rows(told)
    assert (event.actor, event.detail) == ("operator-1", {"message": number, "kind": "nudge"})


async def test_a_write_behind_another_of_its_turn_is_not_stuck_and_neither_is_a_read(
    postgres_office: PostgresOffice,
) -> None:
    office = postgres_office
    first, second = await office.turn_of_two()
    (read,) = await office.propose(1)
    for operation_id in (first, second, read):
        await office.rest(operation_id, 2 * HOUR_SECONDS)
    assert await stuck_ids(office, Stuck.STILL) == [first]


async def test_what_a_worker_holds_is_not_stuck(postgres_office: PostgresOffice) -> None:
    office = postgres_office
    approval_id = await office.ask()
    await approve(office, approval_id)
    await office.end(approval_id, ApprovalState.CONSUMED)
    operation_id = office.operations[approval_id].operation_id
    await office.rest(operation_id, 2 * HOUR_SECONDS)
    assert await stuck_ids(office, Stuck.STILL) == []
    await office.bench.pass_time(operation_id, 2 * HOUR_SECONDS)
    assert await stuck_ids(office, Stuck.STILL) == [operation_id]
