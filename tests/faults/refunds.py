"""One refund on its way, and what can be counted of it at its end."""

from dataclasses import dataclass

from sqlalchemy import select

from adapters.postgres.tables import claims, events
from tests.support.onceward import Onceward, Reply
from tests.support.parked import Parked
from tests.support.proposals import fresh
from tests.support.responses import call
from tests.support.waiting import until

TO_ITS_END_SECONDS = 120.0
"""Whoever held the right to the effect may be gone: then the lease has to lapse before anybody looks for it."""


@dataclass(frozen=True)
class Refund(Parked):
    """A proposed refund."""

    @classmethod
    async def proposed(cls, onceward: Onceward, order_id: str = "") -> "Refund":
        """On an order of its own unless one is named, waiting for a person."""
        order_id = order_id or await onceward.provider.add_order()
        arguments = await onceward.provider.refund_arguments(order_id)
        request_id, asked = fresh("response"), call("refund_payment", arguments)
        reply = await onceward.turn(asked, request_id=request_id)
        assert reply.code == "approval_required"
        return cls(onceward, request_id, asked, reply.operation_id)

    @classmethod
    async def approved(cls, onceward: Onceward) -> "Refund":
        """Decided by another person and on its way to the provider."""
        refund = await cls.proposed(onceward)
        await refund.approve()
        return refund

    async def approve(self) -> None:
        """As a person with the right role."""
        decided = await self.onceward.approve(self.operation_id)
        assert decided.status_code == 200

    async def generation(self) -> int:
        """How often the right to the effect has been taken."""
        wanted = select(claims.c.generation).where(claims.c.operation_id == self.operation_id)
        return int((await self.onceward.rows(wanted))[0].generation)

    async def until_sends(self, number: int) -> None:
        """Wait until a send is on record as begun (or, at 0, until the right to it has been taken)."""
        await until(self.sends, lambda sends: sends >= number)

    async def until_effects(self, number: int) -> None:
        """Wait until the provider has made the refund."""
        await until(lambda: self.onceward.provider.effects(self.operation_id), lambda made: made >= number)

    async def require_once(self, *, posts: int | None = None) -> Reply:
        """It ends well with one effect, one terminal result and one answer, the same however often it is asked for."""
        ended = self.onceward.until(self.operation_id, "succeeded", "failed_terminal", within=TO_ITS_END_SECONDS)
        assert await ended == "succeeded"
        ledger = await self.onceward.provider.ledger(self.operation_id)
        assert len(ledger["refunds"]) == 1, "effects"
        assert posts is None or len(ledger["posts"]) == posts, "posts"
        assert len({post["idempotency_key"] for post in ledger["posts"]}) == 1, "keys"
        assert await self._endings() == 1, "terminal results"
        first, second = await self.hand_in_again(), await self.hand_in_again()
        assert first.only["data"]["refund_id"] == ledger["refunds"][0]["refund_id"]
        assert first.only == second.only
        return first

    async def _endings(self) -> int:
        ended = select(events).where(
            events.c.operation_id == self.operation_id,
            events.c.what.in_(("succeeded", "failed_terminal", "failed_retryable")),
        )
        return len(await self.onceward.rows(ended))
