"""A proposed write that waits for a person; the response that holds it can be handed in again."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from adapters.postgres.tables import claims
from tests.support.onceward import Onceward, Reply
from tests.support.responses import Call


@dataclass(frozen=True)
class Parked:
    """What every such write has, whichever tool it is for."""

    onceward: Onceward
    request_id: str
    asked: Call
    operation_id: str

    async def hand_in_again(self, **patience: Any) -> Reply:
        """The same response once more."""
        return await self.onceward.turn(self.asked, request_id=self.request_id, **patience)

    async def sends(self) -> int:
        """Sends that the claim knows of; -1 before there is a claim."""
        rows = await self.onceward.rows(select(claims.c.sends).where(claims.c.operation_id == self.operation_id))
        return int(rows[0].sends) if rows else -1
