"""The ledger as tests use it: accounts of their own, credits on their way, evidence. Written as the tables' owner."""

from typing import Any

from sqlalchemy import select

from adapters.downstream.ledger import Credit
from adapters.downstream.ledger_tables import accounts, entries, fences
from adapters.postgres.engine import Database
from tests.support.proposals import fresh
from workflows.domain.effect import Dispatch
from workflows.domain.impact import Money

WON = Money(12_000, "KRW")


class LedgerAdmin:
    """Opens and closes accounts and counts what became of them."""

    def __init__(self, owner: Database) -> None:
        self._owner = owner

    async def open(self, **columns: Any) -> str:
        """A fresh account in KRW of tenant-a; returns its id."""
        account_id = fresh("CA")
        row = {"tenant": "tenant-a", "customer": "user-17", "currency": "KRW", "credit_limit": 1_000_000} | columns
        async with self._owner.transaction() as connection:
            await connection.execute(accounts.insert().values(account_id=account_id, **row))
        return account_id

    async def change(self, account_id: str, **columns: Any) -> None:
        async with self._owner.transaction() as connection:
            await connection.execute(accounts.update().where(accounts.c.account_id == account_id).values(**columns))

    async def balance(self, account_id: str) -> int:
        return int((await self._rows(select(accounts).where(accounts.c.account_id == account_id)))[0].balance)

    async def version(self, account_id: str) -> int:
        return int((await self._rows(select(accounts).where(accounts.c.account_id == account_id)))[0].version)

    async def entries(self, account_id: str) -> list[Any]:
        """The credits given to an account, the oldest first."""
        return await self._rows(select(entries).where(entries.c.account_id == account_id).order_by(entries.c.at))

    async def fence(self, operation_id: str) -> int | None:
        """The smallest generation that is let in, None before anybody came."""
        found = await self._rows(select(fences).where(fences.c.operation_id == operation_id))
        return int(found[0].generation) if found else None

    async def _rows(self, statement: Any) -> list[Any]:
        async with self._owner.transaction() as connection:
            return list(await connection.execute(statement))


def credit_to(account_id: str, money: Money = WON, reason: str = "late_delivery") -> Credit:
    return Credit(account_id, money, reason)


def dispatch_of(operation_id: str, generation: int = 1, tenant: str = "tenant-a") -> Dispatch:
    return Dispatch(operation_id, tenant, f"key-of-{operation_id}", generation)
