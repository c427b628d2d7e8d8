"""What was done so far, counted in our tables and in the provider's ledger."""

from typing import NamedTuple

from sqlalchemy import text

from adapters.postgres.engine import Database
from examples.demo.provider import Provider


class Tally(NamedTuple):
    """Calls of handlers, refund requests that reached the provider, effects there, questions to approvers."""

    handler_calls: int
    posts: int
    effects: int
    approvals: int


class Evidence:
    """Counts; changes nothing."""

    def __init__(self, database: Database, provider: Provider) -> None:
        self._database, self._provider = database, provider

    async def tally(self) -> Tally:
        """Everything until now."""
        handler_calls = await self._number("SELECT count(*) FROM handler_calls")
        approvals = await self._number("SELECT count(*) FROM approvals")
        ledger = await self._provider.ledger()
        return Tally(handler_calls, len(ledger.posts), ledger.effects, approvals)

    async def since(self, before: Tally) -> Tally:
        """What was added."""
        now = await self.tally()
        return Tally(*(later - earlier for later, earlier in zip(now, before, strict=True)))

    async def generation(self, operation_id: str) -> int:
        """Of the claim as it stands."""
        return await self._number("SELECT generation FROM claims WHERE operation_id = :id", id=operation_id)

    async def _number(self, query: str, **values: str) -> int:
        async with self._database.transaction() as connection:
            return int((await connection.execute(text(query), values)).scalar_one())
