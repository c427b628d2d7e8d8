"""Notices that were set aside, through the back office's store: who sees them, and who has them delivered after all."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest
from sqlalchemy import select

from adapters.http.back_office.lists import PAGE, HeldNotices
from adapters.postgres.tables import events, notices
from tests.support.offices import Office, person
from tests.support.postgres_offices import PostgresOffice
from tests.support.proposals import fresh
from workflows.domain.errors import RequeueRefused
from workflows.domain.lifecycle import State
from workflows.domain.principal import Principal

CHAT, MAIL = "chat", "mail.example.test"


def operator(office: Office, subject: str = "operator-1", agent: str = "") -> Principal:
    return person(office, subject, "operator", agent=agent)


async def untold(office: Office) -> HeldNotices:
    held = (await office.store.stuck(operator(office))).notices
    assert held is not None
    return held


async def which(office: Office) -> list[tuple[int, str]]:
    return [(notice.message_id, notice.receiver) for notice in (await untold(office)).lines]


async def test_an_operator_sees_whom_what_was_kept_from_and_why(office: Office) -> None:
    operation_id = await office.stand(State.AWAITING_APPROVAL)
    number = await office.keep_from(CHAT, operation_id)
    held = await untold(office)
    (notice,) = held.lines
    assert (notice.message_id, notice.receiver, notice.operation_id, held.total) == (number, CHAT, operation_id, 1)
    assert (notice.what, notice.failure, notice.attempts) == ("approval.asked", "status 410", 1)
    assert notice.written_at <= notice.held_since


async def test_nobody_but_operators_of_the_tenant_sees_it(office: Office) -> None:
    await office.keep_from(CHAT, await office.stand(State.AWAITING_APPROVAL))
    for who in (person(office), operator(office, agent="support-agent")):
        assert (await office.store.stuck(who)).notices is None
        assert await office.store.stuck_number(who) == 0
    stranger = replace(operator(office), tenant=fresh("tenant"))
    assert (await office.store.stuck(stranger)).notices == HeldNotices()


async def test_each_counts_among_what_is_stuck(office: Office) -> None:
    await office.keep_from(CHAT, await office.stand(State.AWAITING_APPROVAL))
    await office.keep_from(MAIL, await office.stand(State.AWAITING_APPROVAL))
    assert (await office.store.stuck(operator(office))).total == 2
    assert await office.store.stuck_number(operator(office)) == 2


async def test_of_many_the_oldest_are_shown_and_all_are_counted(office: Office) -> None:
    operation_id = await office.stand(State.AWAITING_APPROVAL)
    numbers = [await office.keep_from(CHAT, operation_id) for _ in range(PAGE + 2)]
    assert (await untold(office)).total == PAGE + 2
    assert await which(office) == [(number, CHAT) for number in numbers[:PAGE]]


async def test_an_operator_has_one_delivered_after_all_and_the_others_stay(office: Office) -> None:
    operation_id = await office.stand(State.AWAITING_APPROVAL)
    first, second = await office.keep_from(CHAT, operation_id), await office.keep_from(MAIL, operation_id)
    await office.store.retell(operator(office), first, CHAT)
    assert await which(office) == [(second, MAIL)]


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
async def test_who_may_not_have_it_delivered_changes_nothing(
    office: Office, who: Callable[[Office], Principal], code: str
) -> None:
    number = await office.keep_from(CHAT, await office.stand(State.AWAITING_APPROVAL))
    with pytest.raises(RequeueRefused) as refused:
        await office.store.retell(who(office), number, CHAT)
    assert refused.value.code == code
    assert await which(office) == [(number, CHAT)]


async def test_of_two_operators_at_once_one_is_told_that_it_is_on_its_way(office: Office) -> None:
    number = await office.keep_from(CHAT, await office.stand(State.AWAITING_APPROVAL))
    both = (office.store.retell(operator(office, f"operator-{each}"), number, CHAT) for each in range(2))
    answers = await asyncio.gather(*both, return_exceptions=True)
    assert sorted(getattr(each, "code", "") for each in answers) == ["", "message_not_set_aside"]


async def test_what_was_kept_from_nobody_is_absent(office: Office) -> None:
    number = await office.keep_from(CHAT, await office.stand(State.AWAITING_APPROVAL))
    for wanted in ((number, MAIL), (2**62, CHAT)):
        with pytest.raises(RequeueRefused) as refused:
            await office.store.retell(operator(office), *wanted)
        assert refused.value.code == "not_found"


# -- PostgreSQL alone


async def test_what_is_delivered_after_all_is_due_as_if_it_were_new_and_the_audit_log_tells_who_said_so(
    postgres_office: PostgresOffice,
) -> None:
    office = postgres_office
    operation_id = await office.stand(State.AWAITING_APPROVAL)
    number = await office.keep_from(CHAT, operation_id)
    await office.store.retell(operator(office), number, CHAT)
    (row,) = await office.bench.rows(select(notices).where(notices.c.message_id == number))
    assert (row.set_aside_at, row.sent_at, row.failure, row.attempts) == (None, None, None, 0)
    told = select(events).where(events.c.operation_id == operation_id, events.c.what == "notice.retold")
    (event,) = await office.bench.rows(told)
    assert (event.actor, event.detail) == ("operator-1", {"message": number, "receiver": CHAT})
