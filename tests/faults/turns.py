"""Responses with a read and two refunds on their way, several at once, and what must have come of them in the end."""

import asyncio
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import func, select, update
from temporalio.service import RPCError

from adapters.postgres.sweep import GRACE
from adapters.postgres.tables import approvals, calls, handler_calls, operations, outbox
from tests.faults.console import Console
from tests.support.onceward import ENDS, Onceward, Reply
from tests.support.parked import Parked
from tests.support.proposals import fresh
from tests.support.responses import Call, call
from tests.support.visitor import Visitor
from tests.support.waiting import until

NAMES = ("look", "first", "second")

TO_THE_END_SECONDS = 120.0
"""How long many turns at once may take until the relay has come to each of them and each has ended."""


@dataclass(frozen=True)
class Turn:
    """One response: a refund, a read, and another refund.

    `names` has their operations by call id, `workflows` those and what keeps their order, the `turn`, by what they are.
    """

    onceward: Onceward
    request_id: str
    calls: tuple[Call, ...]
    names: dict[str, str] = field(default_factory=dict)
    workflows: dict[str, str] = field(default_factory=dict)

    @classmethod
    async def meant(cls, onceward: Onceward) -> "Turn":
        """Nobody has handed it in yet."""
        first, second = [await _refund(onceward, name) for name in ("first", "second")]
        return cls(onceward, fresh("response"), (first, call("get_order", {"order_id": "O-17"}, "look"), second))

    @classmethod
    async def registered(cls, onceward: Onceward) -> "Turn":
        """The door has taken it and waits for nothing."""
        turn = await cls.meant(onceward)
        await turn.hand_in()
        await turn.learn_its_operations()
        return turn

    @classmethod
    async def parked(cls, onceward: Onceward) -> "Turn":
        """The first refund waits for a person."""
        turn = await cls.registered(onceward)
        await onceward.until(turn.first, "awaiting_approval")
        return turn

    async def hand_in(self, **patience: Any) -> Reply:
        """As often as wanted."""
        return await self.onceward.turn(*self.calls, request_id=self.request_id, **({"wait_seconds": 0} | patience))

    async def learn_its_operations(self) -> None:
        """Wait until it is on record, whether or not its caller has been answered."""
        mine = select(calls.c.call_id, calls.c.operation_id).where(calls.c.request_id == self.request_id)
        rows = await until(lambda: self.onceward.rows(mine), lambda rows: len(rows) == len(self.calls))
        self.names.update({row.call_id: row.operation_id for row in rows})
        order = select(outbox.c.payload).where(outbox.c.operation_id == self.first, outbox.c.kind == "turn")
        (row,) = await self.onceward.rows(order)
        self.workflows.update(self.names, turn=row.payload["turn"])

    @property
    def first(self) -> str:
        return self.names["first"]

    @property
    def second(self) -> str:
        return self.names["second"]

    def console(self, of: str) -> Console:
        """The workflow of the turn itself, or of one of its operations."""
        return Console(Parked(self.onceward, self.request_id, self.calls[0], self.workflows[of]))

    async def says(self, of: str) -> str:
        """What the console's page says of it in words; nothing before it is there."""
        with suppress(RPCError):
            return str(await self.console(of).handle.query("__temporal_workflow_metadata"))
        return ""

    async def states(self) -> dict[str, str]:
        return {name: await self.onceward.state(operation_id) for name, operation_id in self.names.items()}

    async def effects(self) -> list[int]:
        """Of the first refund and of the second."""
        return [await self.onceward.provider.effects(each) for each in (self.first, self.second)]

    async def require_that_the_second_has_not_begun(self) -> None:
        """Nobody has been asked about it, and no tool has been called."""
        assert await self.onceward.approvals(self.second) == []
        assert await self.onceward.handler_calls(self.second) == 0

    async def require_in_order(self) -> None:
        """Each is done once, the second after the first in every book, and the door tells so for good."""
        assert await self.states() == dict.fromkeys(NAMES, "succeeded")
        ledgers = [await self.onceward.provider.ledger(each) for each in (self.first, self.second)]
        assert [len(ledger["refunds"]) for ledger in ledgers] == [1, 1], "effects"
        assert [len({post["idempotency_key"] for post in ledger["posts"]}) for ledger in ledgers] == [1, 1], "keys"
        made = [datetime.fromisoformat(ledger["refunds"][0]["created_at"]) for ledger in ledgers]
        (ended,) = await self._moments(operations.c.ended_at, self.first)
        asked = await self._moments(func.min(approvals.c.asked_at), self.second, approvals)
        called = await self._moments(func.min(handler_calls.c.began_at), self.second, handler_calls)
        assert made[0] < ended < asked[0] < called[0] < made[1]
        first, second = [await self._told() for _ in range(2)]
        assert first == second
        assert {name: status for name, (status, _) in first.items()} == dict.fromkeys(NAMES, "succeeded")

    async def _told(self) -> dict[str, tuple[str, Any]]:
        """The status and the data of each call, which stay; how old the data are does not."""
        results = (await self.hand_in(wait_seconds=20)).results
        return {name: (result["status"], result.get("data")) for name, result in results.items()}

    async def _moments(self, wanted: Any, operation_id: str, table: Any = operations) -> list[datetime]:
        rows = await self.onceward.rows(select(wanted).where(table.c.operation_id == operation_id))
        return [row[0] for row in rows]


async def _refund(onceward: Onceward, call_id: str) -> Call:
    order = await onceward.provider.add_order()
    return call("refund_payment", await onceward.provider.refund_arguments(order), call_id)


async def parked(onceward: Onceward, number: int) -> list[Turn]:
    """So many at once."""
    return await asyncio.gather(*(Turn.parked(onceward) for _ in range(number)))


async def approve(onceward: Onceward, operation_ids: Collection[str]) -> None:
    """One person says yes to whatever they are asked about these."""
    async with onceward.visitor("approver-1") as person:
        await _say_yes(onceward, person, operation_ids)


async def carry_to_the_end(onceward: Onceward, *turns: Turn) -> None:
    """Say yes whenever something is asked, let the relay look at what is open as if it had not for long, and wait."""
    mine = [name for turn in turns for name in turn.names.values()]
    async with onceward.visitor("approver-1") as person:

        async def stands() -> Mapping[str, str]:
            await due_for_the_sweep(onceward, mine)
            await _say_yes(onceward, person, mine)
            rows = await onceward.rows(select(operations).where(operations.c.operation_id.in_(mine)))
            return {row.operation_id: row.state for row in rows}

        await until(stands, lambda states: set(states.values()) <= set(ENDS), TO_THE_END_SECONDS)


async def due_for_the_sweep(onceward: Onceward, operation_ids: Collection[str]) -> None:
    """The relay comes to each open operation in its time; now that time has come for these."""
    async with onceward.owner.transaction() as connection:
        mine = operations.c.operation_id.in_(operation_ids) & operations.c.ended_at.is_(None)
        await connection.execute(update(operations).where(mine).values(swept_at=func.now() - 2 * GRACE))


async def _say_yes(onceward: Onceward, person: Visitor, operation_ids: Collection[str]) -> None:
    pending = (approvals.c.state == "pending") & approvals.c.operation_id.in_(operation_ids)
    for question in await onceward.rows(select(approvals).where(pending)):
        assert (await person.decide(question.approval_id, "approve")).status_code == 200
