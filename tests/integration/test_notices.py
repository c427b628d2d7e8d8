"""Notices: each receiver is told of each event until it has taken it, and none holds up anybody else."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import func, insert, select, update
from sqlalchemy.exc import ProgrammingError

from adapters.postgres.engine import Database
from adapters.postgres.notices import PAUSES_SECONDS, Notice, PostgresNotices
from adapters.postgres.outbox import Message, PostgresOutbox
from adapters.postgres.rows import NOW
from adapters.postgres.tables import events, notices, outbox
from adapters.webhooks.receivers import Receiver
from adapters.webhooks.sender import Sender
from tests.support.acts import asked, proposed
from tests.support.benches import PostgresBench
from tests.support.listener import SECRET, Listener, closes, listening, status
from tests.support.proposals import CALLER, fresh
from tests.support.waiting import until
from worker.notices import AT_ONCE, Notices
from workflows.domain.approval import Choice
from workflows.domain.lifecycle import State
from workflows.domain.operation import Settlement

PUBLIC_URL = "https://onceward.example.test/"
LEASE_SECONDS = 60.0


@dataclass
class Bridge:
    """A relay's two halves with two receivers of this test alone; `chat` and `mail` are where they listen."""

    bench: PostgresBench
    database: Database
    owner: Database
    chat: Listener
    mail: Listener
    sender: Sender
    names: tuple[str, str] = field(default_factory=lambda: (fresh("chat"), fresh("mail")))

    @property
    def receivers(self) -> tuple[Receiver, Receiver]:
        return Receiver(self.names[0], self.chat.url), Receiver(self.names[1], self.mail.url)

    @property
    def store(self) -> PostgresNotices:
        return PostgresNotices(self.database)

    @property
    def notices(self) -> Notices:
        return Notices(self.store, self.sender, PUBLIC_URL, LEASE_SECONDS)

    async def drain(self, only: Sequence[str] | None = None) -> None:
        """Strike off what the outbox holds; `only` events of these names are for the receivers."""
        relay = PostgresOutbox(self.database, lambda what: self.names if only is None or what in only else ())
        while await relay.tell() or await relay.drain(taken):
            pass

    async def tell(self) -> None:
        """Deliver whatever is due."""
        for receiver in self.receivers:
            while not await self.notices.tell(receiver):
                pass

    async def make_due(self) -> None:
        await self.change(due_at=NOW)

    async def change(self, **values: Any) -> None:
        mine = notices.c.receiver.in_(self.names)
        async with self.owner.transaction() as connection:
            await connection.execute(update(notices).where(mine).values(**values))

    async def rows(self, operation_id: str, receiver: int = 0) -> list[Any]:
        wanted = (
            select(notices, func.extract("epoch", notices.c.due_at - NOW).label("seconds"))
            .join_from(notices, outbox)
            .where(outbox.c.operation_id == operation_id, notices.c.receiver == self.names[receiver])
        )
        return await self.bench.rows(wanted.order_by(notices.c.message_id))

    async def row(self, operation_id: str, receiver: int = 0) -> Any:
        (row,) = await self.rows(operation_id, receiver)
        return row


async def taken(message: Message) -> None:
    """Temporal has it."""


@pytest.fixture
async def bridge(
    postgres_bench: PostgresBench, relay_database: Database, owner_database: Database
) -> AsyncIterator[Bridge]:
    async with owner_database.transaction() as connection:
        await connection.execute(update(outbox).where(outbox.c.sent_at.is_(None)).values(sent_at=NOW))
    sender = Sender((SECRET,), 5.0, lambda: datetime.now(UTC))
    async with listening() as chat, listening() as mail:
        yield Bridge(postgres_bench, relay_database, owner_database, chat, mail, sender)
    await sender.close()


async def question(bridge: Bridge) -> tuple[str, str]:
    """The ids of an operation that waits for a person, and of what the person is asked; its start is not out."""
    operation, asked_for = await asked(bridge.bench)
    return operation.operation_id, asked_for.approval_id


async def started(bridge: Bridge, operation_id: str) -> None:
    starts = (outbox.c.operation_id == operation_id) & (outbox.c.kind == "start")
    async with bridge.owner.transaction() as connection:
        await connection.execute(update(outbox).where(starts).values(sent_at=NOW))


async def test_every_receiver_is_told_with_a_signature_and_a_link(bridge: Bridge) -> None:
    operation_id, approval_id = await question(bridge)
    await bridge.drain()
    await bridge.tell()
    for listener in (bridge.chat, bridge.mail):
        (heard,) = listener.heard
        told = heard.verified()
        assert told["type"] == "approval.asked"
        assert told["data"]["link"] == f"https://onceward.example.test/back-office/approvals/{approval_id}"
        assert told["data"]["operation_id"] == operation_id
    assert (await bridge.row(operation_id)).sent_at is not None


async def test_the_whole_story_of_a_question_is_told_once_each_under_ids_of_their_own(bridge: Bridge) -> None:
    operation_id, approval_id = await question(bridge)
    await bridge.bench.decide(approval_id, Choice.DENY)
    await bridge.bench.operations.settle(operation_id, Settlement(State.FAILED_TERMINAL, "approval_denied"))
    await bridge.drain()
    await bridge.tell()
    await bridge.tell()
    assert sorted(bridge.chat.types_of(operation_id)) == ["approval.asked", "approval.denied", "operation.ended"]
    assert len({heard.event_id for heard in bridge.chat.heard}) == 3
    assert bridge.chat.heard[-1].told["data"]["link"].endswith(f"/back-office/operations/{operation_id}")


async def test_what_nobody_wants_to_be_told_of_leaves_no_row(bridge: Bridge) -> None:
    operation_id, approval_id = await question(bridge)
    await bridge.bench.decide(approval_id)
    await bridge.drain(only=["approval.granted"])
    await bridge.tell()
    assert bridge.chat.types_of(operation_id) == ["approval.granted"]
    assert len(await bridge.rows(operation_id)) == 1


async def test_an_event_of_an_older_release_tells_nobody_anything_and_is_struck_off(bridge: Bridge) -> None:
    operation = await proposed(bridge.bench)
    await started(bridge, operation.operation_id)
    old = {"operation_id": operation.operation_id, "kind": "event", "payload": {"what": "operation.settled"}}
    async with bridge.owner.transaction() as connection:
        await connection.execute(outbox.insert().values(**old))
    await bridge.drain()
    left = select(outbox).where(outbox.c.operation_id == operation.operation_id, outbox.c.sent_at.is_(None))
    assert await bridge.bench.rows(left) == []
    assert await bridge.rows(operation.operation_id) == []


async def test_a_failed_delivery_comes_again_under_the_same_id(bridge: Bridge) -> None:
    operation_id, _ = await question(bridge)
    bridge.chat.answer = status(500)
    await bridge.drain()
    await bridge.tell()
    row = await bridge.row(operation_id)
    assert (row.attempts, row.failure, row.sent_at, row.set_aside_at) == (1, "status 500", None, None)
    await bridge.tell()
    assert len(bridge.chat.heard) == 1, "it came again before its time"
    bridge.chat.answer = status(204)
    await bridge.make_due()
    await bridge.tell()
    first, second = bridge.chat.heard
    assert (first.event_id, first.body) == (second.event_id, second.body)
    assert second.verified()
    assert (await bridge.row(operation_id)).sent_at is not None


async def test_each_failure_waits_longer_and_after_about_a_day_it_is_set_aside(bridge: Bridge) -> None:
    operation_id, _ = await question(bridge)
    bridge.chat.answer = closes
    await bridge.drain()
    waits = []
    while True:
        await bridge.make_due()
        await bridge.tell()
        row = await bridge.row(operation_id)
        if row.set_aside_at is not None:
            break
        waits.append(float(row.seconds))
    assert len(waits) == len(PAUSES_SECONDS)
    for waited, pause in zip(waits, PAUSES_SECONDS, strict=True):
        assert pause - 3 < waited <= pause * 1.2
    assert 20 * 3600 < sum(PAUSES_SECONDS) < 30 * 3600
    assert row.failure == "RemoteProtocolError"
    await bridge.make_due()
    await bridge.tell()
    assert len(bridge.chat.heard) == len(PAUSES_SECONDS) + 1


async def test_a_pause_that_the_receiver_asks_for_is_kept(bridge: Bridge) -> None:
    operation_id, _ = await question(bridge)
    bridge.chat.answer = status(429, retry_after="900")
    await bridge.drain()
    await bridge.tell()
    assert 890 < float((await bridge.row(operation_id)).seconds) <= 900


async def test_a_receiver_that_is_gone_is_not_told_again(bridge: Bridge) -> None:
    operation_id, _ = await question(bridge)
    bridge.chat.answer = status(410)
    await bridge.drain()
    await bridge.tell()
    row = await bridge.row(operation_id)
    assert (row.failure, row.set_aside_at is None) == ("status 410", False)


async def test_one_dead_receiver_keeps_nothing_from_another(bridge: Bridge) -> None:
    operation_id, _ = await question(bridge)
    bridge.chat.answer = status(500)
    await bridge.drain()
    await bridge.tell()
    assert (await bridge.row(operation_id, 1)).sent_at is not None
    assert (await bridge.row(operation_id, 0)).sent_at is None


async def test_a_receiver_that_hangs_holds_up_no_start_no_nudge_and_nobody_else(bridge: Bridge) -> None:
    bridge.chat.answer = bridge.chat.hangs
    for _ in range(AT_ONCE + 4):
        await question(bridge)
    await bridge.drain()
    running = asyncio.create_task(bridge.notices.run(bridge.receivers))
    try:
        await until(lambda: listened(bridge.chat), lambda number: number == AT_ONCE)
        later = await proposed(bridge.bench)
        operation_id, approval_id = await question(bridge)
        await bridge.bench.decide(approval_id)
        await due_at_once(bridge, later.operation_id, operation_id)
        await bridge.drain()
        await until(lambda: told(bridge.mail, operation_id), lambda types: len(types) == 2)
        waits = select(outbox).where(
            outbox.c.operation_id.in_([later.operation_id, operation_id]), outbox.c.sent_at.is_(None)
        )
        assert await bridge.bench.rows(waits) == []
        assert bridge.chat.hanging == AT_ONCE, "more at once than it may have"
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def listened(listener: Listener) -> int:
    return listener.hanging


async def told(listener: Listener, operation_id: str) -> list[str]:
    return listener.types_of(operation_id)


async def due_at_once(bridge: Bridge, *operation_ids: str) -> None:
    """Their starts and nudges are due now and not only once the door has had its chance."""
    starts = outbox.c.operation_id.in_(operation_ids) & (outbox.c.kind != "event")
    async with bridge.owner.transaction() as connection:
        await connection.execute(update(outbox).where(starts).values(due_at=NOW))


async def test_two_relays_at_once_tell_nobody_twice(bridge: Bridge) -> None:
    told_of = {(await question(bridge))[0] for _ in range(20)}
    await bridge.drain()
    await asyncio.gather(*(bridge.tell() for _ in range(4)))
    assert sorted(heard.operation_id for heard in bridge.chat.heard) == sorted(told_of)


async def test_what_a_relay_took_and_never_said_anything_about_comes_again_later(bridge: Bridge) -> None:
    await question(bridge)
    await bridge.drain()
    (lost,) = await bridge.store.take(bridge.names[0], AT_ONCE, LEASE_SECONDS)
    assert await bridge.store.take(bridge.names[0], AT_ONCE, LEASE_SECONDS) == []
    await bridge.make_due()
    (found,) = await bridge.store.take(bridge.names[0], AT_ONCE, LEASE_SECONDS)
    assert (found.event_id, found.attempts) == (lost.event_id, 2)


async def test_whoever_took_it_before_changes_nothing_any_more(bridge: Bridge) -> None:
    operation_id, _ = await question(bridge)
    await bridge.drain()
    late = await taken_once(bridge)
    await bridge.make_due()
    await bridge.store.delivered(await taken_once(bridge))
    await bridge.store.failed(late, "TimeoutError")
    await bridge.store.refused(late, "status 410")
    row = await bridge.row(operation_id)
    assert (row.failure, row.set_aside_at, row.sent_at is None) == (None, None, False)


async def taken_once(bridge: Bridge) -> Notice:
    (notice,) = await bridge.store.take(bridge.names[0], AT_ONCE, LEASE_SECONDS)
    return notice


async def test_what_waits_for_a_receiver_that_no_relay_knows_is_given_up_after_days(bridge: Bridge) -> None:
    operation_id, _ = await question(bridge)
    await bridge.drain()
    await bridge.change(due_at=NOW - timedelta(days=3) + timedelta(minutes=1))
    await bridge.notices.give_up()
    assert (await bridge.row(operation_id)).set_aside_at is None
    await bridge.change(due_at=NOW - timedelta(days=3, minutes=1))
    await bridge.notices.give_up()
    row = await bridge.row(operation_id)
    assert (row.failure, row.set_aside_at is None) == ("never tried", False)


async def test_what_waited_while_no_relay_ran_is_told_to_a_receiver_that_is_known_as_ever(bridge: Bridge) -> None:
    """A relay that begins after a long outage looks for what is to be given up before it has delivered anything."""
    operation_id, _ = await question(bridge)
    await bridge.drain()
    await bridge.change(due_at=NOW - timedelta(days=10))
    chat, _ = bridge.receivers
    await bridge.notices.give_up((chat,))
    assert [(await bridge.row(operation_id, number)).set_aside_at is None for number in (0, 1)] == [True, False]
    await bridge.tell()
    assert (await bridge.row(operation_id)).sent_at is not None


async def test_what_was_given_up_is_told_after_all_when_somebody_says_so(bridge: Bridge) -> None:
    operation_id, _ = await question(bridge)
    bridge.chat.answer = status(410)
    await bridge.drain()
    await bridge.tell()
    bridge.chat.answer = status(204)
    assert await bridge.store.retell(bridge.names[1]) == 0
    assert await bridge.store.retell(bridge.names[0]) == 1
    assert await bridge.store.retell(bridge.names[0]) == 0
    await bridge.notices.give_up()
    await bridge.tell()
    first, second = bridge.chat.of(operation_id)
    assert first.event_id == second.event_id
    assert len(bridge.mail.heard) == 1, "whoever has taken it is not told again"


async def test_the_audit_log_is_told_what_was_told_after_all_although_the_relay_can_tell_it_nothing_else(
    bridge: Bridge,
) -> None:
    operation_id, _ = await question(bridge)
    bridge.chat.answer = status(410)
    await bridge.drain()
    await bridge.tell()
    await bridge.store.retell(bridge.names[0])
    row = await bridge.row(operation_id)
    told = select(events).where(events.c.operation_id == operation_id, events.c.what == "notice.retold")
    (line,) = await bridge.bench.rows(told)
    assert (line.actor, line.written_by) == ("relay", "onceward_relay")
    assert line.detail == {"message": row.message_id, "receiver": bridge.names[0]}
    assert (line.tenant, line.tool) == (CALLER.tenant, "refund_payment")
    with pytest.raises(ProgrammingError, match="permission denied"):
        async with bridge.database.transaction() as connection:
            await connection.execute(insert(events).values(tenant=line.tenant, actor="relay", what="notice.retold"))


async def test_what_ends_every_relay_that_delivers_it_is_not_taken_for_ever(bridge: Bridge) -> None:
    operation_id, _ = await question(bridge)
    await bridge.drain()
    takes = 0
    while await bridge.store.take(bridge.names[0], AT_ONCE, LEASE_SECONDS):
        takes += 1
        await bridge.make_due()
    assert takes == len(PAUSES_SECONDS) + 1
    await bridge.change(due_at=NOW - timedelta(days=3, minutes=1))
    await bridge.notices.give_up(bridge.receivers)
    assert (await bridge.row(operation_id)).set_aside_at is not None


async def test_an_address_may_change_under_a_name_and_what_waits_goes_to_the_new_one(bridge: Bridge) -> None:
    operation_id, _ = await question(bridge)
    bridge.chat.answer = status(404)
    await bridge.drain()
    await bridge.tell()
    await bridge.make_due()
    await bridge.notices.tell(Receiver(bridge.names[0], bridge.mail.url))
    assert bridge.mail.types_of(operation_id)[-1] == "approval.asked"
    assert (await bridge.row(operation_id)).sent_at is not None
