"""The outbox: at least once, in order for each operation, and what cannot be delivered is set aside."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from sqlalchemy import select, text, update

from adapters.postgres.engine import Database
from adapters.postgres.outbox import AT_ONCE, Message, PostgresOutbox, Undeliverable
from adapters.postgres.rows import NOW
from adapters.postgres.tables import outbox
from tests.support.acts import proposed
from tests.support.benches import PostgresBench
from tests.support.waiting import until
from worker.dev.stack import Stack
from workflows.domain.errors import StoreUnavailable
from workflows.domain.lifecycle import State
from workflows.domain.operation import Settlement


@dataclass
class Recipient:
    """Takes messages and remembers them; says no to some, or takes its time."""

    taken: list[tuple[str, int]] = field(default_factory=list)
    refusing: dict[str, Exception] = field(default_factory=dict)
    holding: set[str] = field(default_factory=set)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    inside: int = 0
    released: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self, message: Message) -> None:
        self.arrived.set()
        self.inside += 1
        if message.operation_id in self.refusing:
            raise self.refusing[message.operation_id]
        if message.operation_id in self.holding:
            await self.released.wait()
        self.taken.append((message.operation_id, message.message_id))

    def of(self, operation_id: str) -> list[int]:
        return [message_id for name, message_id in self.taken if name == operation_id]


@dataclass
class Post:
    """The outbox with only this test's messages in it."""

    relay: PostgresOutbox
    second_relay: PostgresOutbox
    bench: PostgresBench
    owner: Database

    async def put(self, *kinds: str, payloads: Sequence[dict[str, Any]] = ()) -> tuple[str, list[int]]:
        """Messages of a new operation, due at once; its id and theirs. An event says something unless told else."""
        operation = await proposed(self.bench)
        async with self.owner.transaction() as connection:
            mine = outbox.c.operation_id == operation.operation_id
            await connection.execute(outbox.delete().where(mine))
            said = payloads or [{"what": "operation.ended"} if kind == "event" else {} for kind in kinds]
            rows = [
                {"operation_id": operation.operation_id, "kind": kind, "payload": payload}
                for kind, payload in zip(kinds, said, strict=True)
            ]
            await connection.execute(outbox.insert(), rows)
            ids = await connection.execute(select(outbox.c.message_id).where(mine).order_by(outbox.c.message_id))
            return operation.operation_id, list(ids.scalars())

    async def row(self, message_id: int) -> Any:
        (row,) = await self.bench.rows(select(outbox).where(outbox.c.message_id == message_id))
        return row

    async def make_due(self) -> None:
        async with self.owner.transaction() as connection:
            await connection.execute(update(outbox).values(due_at=NOW))

    async def drain(self, recipient: Recipient) -> None:
        while await self.relay.drain(recipient):
            pass


@pytest.fixture
async def post(postgres_bench: PostgresBench, relay_database: Database, owner_database: Database) -> Post:
    async with owner_database.transaction() as connection:
        await connection.execute(update(outbox).where(outbox.c.sent_at.is_(None)).values(sent_at=NOW))
    return Post(PostgresOutbox(relay_database), PostgresOutbox(relay_database), postgres_bench, owner_database)


async def test_an_empty_outbox_gives_nothing_to_do(post: Post) -> None:
    recipient = Recipient()
    assert not await post.relay.drain(recipient)
    assert recipient.taken == []


async def test_what_was_delivered_is_struck_off(post: Post) -> None:
    operation_id, (message_id,) = await post.put("start")
    recipient = Recipient()
    assert await post.relay.drain(recipient)
    assert not await post.relay.drain(recipient)
    assert recipient.taken == [(operation_id, message_id)]
    assert (await post.row(message_id)).sent_at is not None


async def test_messages_of_one_operation_go_out_in_order(post: Post) -> None:
    operation_id, ids = await post.put("start", "nudge", "nudge", "nudge")
    recipient = Recipient()
    await post.drain(recipient)
    assert recipient.of(operation_id) == ids


async def test_what_is_not_due_waits(post: Post) -> None:
    operation = await proposed(post.bench)
    recipient = Recipient()
    await post.drain(recipient)
    assert recipient.of(operation.operation_id) == []
    await post.make_due()
    await post.drain(recipient)
    assert len(recipient.of(operation.operation_id)) == 1


async def test_a_failure_keeps_the_message_and_backs_off(post: Post) -> None:
    operation_id, (message_id,) = await post.put("start")
    recipient = Recipient(refusing={operation_id: ConnectionError("gone")})
    assert await post.relay.drain(recipient)
    assert not await post.relay.drain(recipient)
    first = await post.row(message_id)
    assert (first.attempts, first.failure, first.sent_at) == (1, "ConnectionError", None)
    await post.make_due()
    assert await post.relay.drain(recipient)
    second = await post.row(message_id)
    assert second.attempts == 2
    recipient.refusing.clear()
    await post.make_due()
    await post.drain(recipient)
    assert recipient.of(operation_id) == [message_id]


async def test_each_failure_waits_longer_up_to_a_minute(post: Post) -> None:
    operation_id, (message_id,) = await post.put("start")
    recipient = Recipient(refusing={operation_id: ConnectionError("gone")})
    pauses = []
    for _ in range(9):
        await post.make_due()
        await post.relay.drain(recipient)
        pauses.append(round(await seconds_until_due(post, message_id)))
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60]


async def test_a_failed_message_holds_back_the_later_ones_of_its_operation_alone(post: Post) -> None:
    stuck, (first, second) = await post.put("start", "nudge")
    other, (free,) = await post.put("start")
    recipient = Recipient(refusing={stuck: ConnectionError("gone")})
    await post.drain(recipient)
    assert recipient.taken == [(other, free)]
    recipient.refusing.clear()
    await post.make_due()
    await post.drain(recipient)
    assert recipient.of(stuck) == [first, second]


async def test_what_can_never_be_delivered_is_set_aside_and_holds_nothing_back(post: Post) -> None:
    operation_id, (poison, later) = await post.put("gibberish", "start")
    recipient = Recipient(refusing={operation_id: Undeliverable("gibberish")})
    await post.relay.drain(recipient)
    recipient.refusing.clear()
    await post.drain(recipient)
    assert recipient.of(operation_id) == [later]
    row = await post.row(poison)
    assert row.set_aside_at is not None
    assert (row.sent_at, row.failure, row.attempts) == (None, "undeliverable", 1)


async def test_what_is_due_for_many_operations_goes_out_side_by_side(post: Post) -> None:
    put = [await post.put("start") for _ in range(AT_ONCE)]
    recipient = Recipient(holding={operation_id for operation_id, _ in put})
    draining = asyncio.create_task(post.relay.drain(recipient))
    await until(lambda: inside(recipient), lambda number: number == AT_ONCE)
    recipient.released.set()
    assert await draining == AT_ONCE
    for _, (message_id,) in put:
        assert (await post.row(message_id)).sent_at is not None


async def test_of_a_handful_each_message_has_its_own_fate(post: Post) -> None:
    good, (sent,) = await post.put("start")
    bad, (failed,) = await post.put("start")
    ugly, (aside,) = await post.put("gibberish")
    recipient = Recipient(refusing={bad: ConnectionError("gone"), ugly: Undeliverable("gibberish")})
    assert await post.relay.drain(recipient) == 3
    assert recipient.taken == [(good, sent)]
    assert [(await post.row(each)).failure for each in (sent, failed, aside)] == [
        None,
        "ConnectionError",
        "undeliverable",
    ]
    assert (await post.row(sent)).sent_at is not None
    assert (await post.row(failed)).set_aside_at is None
    assert (await post.row(aside)).set_aside_at is not None


async def test_nobody_is_told_late_because_temporal_is_away(post: Post) -> None:
    operation_id, (start, event) = await post.put("start", "event")
    recipient = Recipient(refusing={operation_id: ConnectionError("gone")})
    await post.drain(recipient)
    assert [each.message_id for each in await post.relay.tell()] == [event]
    assert (await post.row(start)).sent_at is None
    assert (await post.row(event)).sent_at is not None


async def test_what_wakes_nobody_holds_back_nothing_that_does(post: Post) -> None:
    operation_id, (_, nudge) = await post.put("event", "nudge")
    recipient = Recipient()
    await post.drain(recipient)
    assert recipient.of(operation_id) == [nudge]


async def test_many_events_are_struck_off_by_one_statement_each_once(post: Post) -> None:
    _, ids = await post.put(*["event"] * 40)
    told = await asyncio.gather(post.relay.tell(), post.second_relay.tell())
    assert sorted(each.message_id for part in told for each in part) == ids
    assert not await post.relay.tell()
    assert all([(await post.row(message_id)).sent_at is not None for message_id in ids])


async def test_an_event_that_says_nothing_is_set_aside_and_holds_nothing_back(post: Post) -> None:
    _, (poison, later) = await post.put("event", "event", payloads=[{"data": {}}, {"what": "operation.ended"}])
    await post.relay.tell()
    row = await post.row(poison)
    assert (row.sent_at, row.failure, row.attempts) == (None, "undeliverable", 1)
    assert row.set_aside_at is not None
    assert (await post.row(later)).sent_at is not None


@pytest.mark.parametrize("kind", ["start", "read", "nudge"])
async def test_who_has_ended_is_woken_no_more_and_temporal_not_asked(post: Post, kind: str) -> None:
    operation_id, (message_id,) = await post.put(kind)
    await post.bench.operations.settle(operation_id, Settlement(State.FAILED_TERMINAL, "quote_expired"))
    to = Recipient()
    while await post.relay.drain(to):
        pass
    assert to.of(operation_id) == []
    assert (await post.row(message_id)).sent_at is not None


async def test_a_turn_is_started_though_its_first_write_has_ended(post: Post) -> None:
    operation_id, (message_id,) = await post.put("turn")
    await post.bench.operations.settle(operation_id, Settlement(State.FAILED_TERMINAL, "quote_expired"))
    to = Recipient()
    while await post.relay.drain(to):
        pass
    assert to.of(operation_id) == [message_id]


async def test_two_relays_at_once_never_deliver_one_message_twice(post: Post) -> None:
    put = [await post.put("start", "nudge", "nudge") for _ in range(12)]
    recipient = Recipient()
    relays = [post.relay, post.second_relay] * 4

    async def drain(relay: PostgresOutbox) -> None:
        while await relay.drain(recipient):
            pass

    while len(recipient.taken) < 36:
        await asyncio.gather(*map(drain, relays))
    assert len(recipient.taken) == 36
    for operation_id, ids in put:
        assert recipient.of(operation_id) == ids


async def test_while_one_relay_holds_a_message_another_takes_the_next_operation(post: Post) -> None:
    slow, (held, after) = await post.put("start", "nudge")
    other, (free,) = await post.put("start")
    recipient = Recipient(holding={slow})
    holder = asyncio.create_task(post.relay.drain(recipient))
    await recipient.arrived.wait()
    while await post.second_relay.drain(recipient):
        pass
    assert recipient.taken == [(other, free)]
    recipient.released.set()
    assert await holder
    await post.drain(recipient)
    assert recipient.of(slow) == [held, after]


async def test_a_relay_that_is_cancelled_gives_its_message_back(post: Post) -> None:
    operation_id, (message_id,) = await post.put("start")
    recipient = Recipient(holding={operation_id})
    dying = asyncio.create_task(post.relay.drain(recipient))
    await recipient.arrived.wait()
    dying.cancel()
    await asyncio.gather(dying, return_exceptions=True)
    row = await post.row(message_id)
    assert (row.sent_at, row.attempts) == (None, 0)
    recipient.holding.clear()
    assert await post.second_relay.drain(recipient)
    assert recipient.of(operation_id) == [message_id]


async def test_a_relay_whose_connection_dies_gives_its_message_back(post: Post, postgres: Stack) -> None:
    operation_id, (message_id,) = await post.put("start")
    doomed = Database(postgres.dsn("onceward_relay"), application_name="doomed-relay", pool_size=1)
    recipient = Recipient(holding={operation_id})
    dying = asyncio.create_task(PostgresOutbox(doomed).drain(recipient))
    await recipient.arrived.wait()
    await end_sessions(postgres, "doomed-relay")
    recipient.released.set()
    with pytest.raises(StoreUnavailable):
        await dying
    await doomed.close()
    assert (await post.row(message_id)).sent_at is None
    assert await post.relay.drain(recipient)
    assert recipient.of(operation_id) == [message_id, message_id]


async def test_a_relay_that_dies_with_its_hands_full_loses_and_reorders_nothing(post: Post, postgres: Stack) -> None:
    put = [await post.put("start", "nudge") for _ in range(5)]
    doomed = Database(postgres.dsn("onceward_relay"), application_name="doomed-relay", pool_size=1)
    dropped = Recipient(holding={operation_id for operation_id, _ in put})
    dying = asyncio.create_task(PostgresOutbox(doomed).drain(dropped))
    await until(lambda: inside(dropped), lambda number: number == len(put))
    await end_sessions(postgres, "doomed-relay")
    dropped.released.set()
    with pytest.raises(StoreUnavailable):
        await dying
    await doomed.close()
    recipient = Recipient()
    await post.drain(recipient)
    for operation_id, ids in put:
        assert dropped.of(operation_id) == ids[:1]
        assert recipient.of(operation_id) == ids


async def seconds_until_due(post: Post, message_id: int) -> float:
    left = select(text("extract(epoch FROM due_at - clock_timestamp())")).select_from(outbox)
    (row,) = await post.bench.rows(left.where(outbox.c.message_id == message_id))
    return float(row[0])


async def end_sessions(postgres: Stack, application_name: str) -> None:
    superuser = Database(postgres.dsn("postgres"), application_name="tests", pool_size=1)
    statement = text("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = :name")
    async with superuser.transaction() as connection:
        ended = list(await connection.execute(statement, {"name": application_name}))
    await superuser.close()
    assert ended == [(True,)]


async def inside(recipient: Recipient) -> int:
    return recipient.inside
