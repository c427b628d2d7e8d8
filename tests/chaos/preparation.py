"""What must be there before a run: orders, quotes, accounts, and with them the arguments of every call."""

import asyncio
from typing import Any

from sqlalchemy import text

from adapters.postgres.engine import Database
from tests.chaos.acts import Act, Turn
from tests.chaos.plan import Plan
from tests.chaos.provider import FAULTS, Provider

Json = dict[str, Any]

AT_ONCE = 8

LIMIT = 10**12

OTHER = {"tenant-a": "tenant-b", "tenant-b": "tenant-a"}

ON = {"refund_payment": "refund", "get_order": "order"}

ACCOUNT = text(
    "INSERT INTO ledger_accounts (account_id, tenant, customer, currency, credit_limit) "
    "VALUES (:account_id, :tenant, 'user-17', 'KRW', :credit_limit) ON CONFLICT DO NOTHING"
)


class Preparation:
    """The arguments of every call, by call id; `again` those of a second proposal of the same act."""

    def __init__(self) -> None:
        self.first: dict[str, Json] = {}
        self.again: dict[str, Json] = {}

    @classmethod
    async def made(cls, plan: Plan, provider: Provider, owner: Database) -> "Preparation":
        """Put everything there and switch the faults of single acts on."""
        preparation, slots = cls(), asyncio.Semaphore(AT_ONCE)
        await _open_accounts(plan, owner)
        async with asyncio.TaskGroup() as tasks:
            for turn in plan.turns:
                for act in turn.acts:
                    tasks.create_task(preparation._prepare(turn, act, provider, slots))
        await provider.arm([_fault(act) for act in plan.acts if act.fault and not act.review])
        return preparation

    def tampered(self, act: Act) -> Json:
        """Other arguments, to be handed in under the ids of the first ones."""
        given = self.first[act.call_id]
        if act.items:
            return {**given, "credits": given["credits"][:-1]}
        if act.tool == "credit_account":
            return {**given, "amount": {**given["amount"], "value": str(act.amount + 1)}}
        if "amount" in given:
            return {**given, "amount": act.amount + 1}
        return {name: f"{value}-other" for name, value in given.items()}

    async def _prepare(self, turn: Turn, act: Act, provider: Provider, slots: asyncio.Semaphore) -> None:
        async with slots:
            if _is_about_an_order(act):
                await provider.add_order(act.target, _owner(turn, act), act.amount * 4)
            self.first[act.call_id] = self.again[act.call_id] = _arguments(act)
            if act.tool == "refund_payment":
                self.first[act.call_id] = _arguments(act) | await provider.quote(act.target, act.amount)
                # Half of the second proposals rest on a quote of their own, as a model that starts over would have it.
                anew = turn.delivery == "again"
                quote = await provider.quote(act.target, act.amount) if anew else self.first[act.call_id]
                self.again[act.call_id] = self.first[act.call_id] | quote


def _owner(turn: Turn, act: Act) -> str:
    return turn.tenant if act.allowed else OTHER[turn.tenant]


def _is_about_an_order(act: Act) -> bool:
    return act.tool in ("refund_payment", "get_order", "prepare_refund")


def _arguments(act: Act) -> Json:
    if act.tool in ("refund_payment", "prepare_refund"):
        return {"order_id": act.target, "amount": act.amount, "currency": "KRW"}
    amount = {"value": str(act.amount), "currency": "KRW"}
    if act.items:
        return {"credits": [{"account_id": item, "amount": amount} for item in act.items], "reason": "goodwill"}
    if act.tool == "credit_account":
        return {"account_id": act.target, "amount": amount, "reason": "goodwill"}
    return {"order_id": act.target} if act.tool == "get_order" else {"account_id": act.target}


def _fault(act: Act) -> Json:
    return {**FAULTS[act.fault], "on": ON[act.tool], "match": {"order_id": act.target}}


async def _open_accounts(plan: Plan, owner: Database) -> None:
    pairs = [(turn, act) for turn in plan.turns for act in turn.acts if not _is_about_an_order(act)]
    rows = [
        {"account_id": account, "tenant": _owner(turn, act), "credit_limit": LIMIT}
        for turn, act in pairs
        for account in act.items or (act.target,)
    ]
    async with owner.transaction() as connection:
        await connection.execute(ACCOUNT, rows)
