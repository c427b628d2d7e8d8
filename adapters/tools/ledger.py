"""Store credit: look an account up, add credit to it.

The ledger compares generations, so a sender that was given up can never give a credit late; and it holds one entry for
each operation, so a repeat gets the first one's receipt. Another operation with equal arguments is another credit.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from pydantic import BaseModel, Field

from adapters.downstream.ledger import Account, Credit, Ledger, engine_for, refusal
from adapters.postgres_dsn import PostgresDsn
from adapters.tools.amounts import AmountGiven
from adapters.tools.family import Family, policy_beside
from adapters.tools.ledger_batch import CreditAccounts
from adapters.tools.ledger_words import RULES, AccountId, LedgerOfCredits, Reason
from workflows.domain.authorization import Admit
from workflows.domain.contract import (
    ApprovalRule,
    Arguments,
    Contract,
    EffectKind,
    Idempotency,
    Limits,
    Recovery,
    Repetition,
    Risk,
    ToolResult,
    Trust,
)
from workflows.domain.effect import Dispatch, Effect
from workflows.domain.errors import CallRefused
from workflows.domain.gate import Layer, Verdict
from workflows.domain.impact import Fact, Impact, Inspection, Money, Resource
from workflows.domain.principal import Principal


class AccountArguments(Arguments):
    """Which account to look at."""

    account_id: AccountId


class BalanceFound(ToolResult):
    """An account as the ledger has it now; amounts in the currency's minor unit, `observed_at` with its zone."""

    account_id: str
    currency: str
    balance: int
    credit_limit: int
    closed: bool
    observed_at: str


class GetCreditBalance:
    """Looks one account up."""

    contract = Contract(
        name="get_credit_balance",
        title="Look up a credit balance",
        description=(
            "Look up one store-credit account of the signed-in user's shop: currency, balance, the largest balance "
            "that it may hold, and whether it is closed. Use it before adding credit. It changes nothing. Not for "
            "payments or bank balances."
        ),
        version="1",
        effect=EffectKind.READ,
        idempotency=Idempotency.READ,
        risk=Risk.LOW,
        resource=("account", "account_id"),
        tags=frozenset({"points", "how much credit", "remaining credit", "적립금", "포인트", "적립금 조회", "잔액"}),
        arguments=AccountArguments,
        result=BalanceFound,
        trust=Trust.OWN,
        fresh_seconds=60.0,
    )

    def __init__(self, ledger: LedgerOfCredits) -> None:
        self._ledger = ledger

    async def read(self, arguments: AccountArguments, principal: Principal, admit: Admit) -> Mapping[str, Any]:
        """Return the account in `BalanceFound`'s shape; another tenant's account is `not_found`."""
        account = await own_account(self._ledger, arguments.account_id, principal)
        admit(_resource(account))
        return {
            "account_id": account.account_id,
            "currency": account.currency,
            "balance": account.balance,
            "credit_limit": account.credit_limit,
            "closed": account.closed,
            "observed_at": account.observed_at.isoformat(timespec="seconds"),
        }


class CreditArguments(Arguments):
    """How much to add to which account, and why."""

    account_id: AccountId
    amount: AmountGiven
    reason: Reason


class CreditMade(ToolResult):
    """A credit that stands in the ledger; `entry_id` is the receipt, amounts are in the currency's minor unit."""

    entry_id: str
    account_id: str
    amount: int
    currency: str
    reason: str
    balance_after: int


class CreditAccount:
    """Adds store credit."""

    contract = Contract(
        name="credit_account",
        title="Add store credit",
        description=(
            "Add store credit to one customer's credit account of the signed-in user's shop. It raises what the "
            "customer can spend; a person may have to approve it first. It does not pay money back: refund_payment "
            "does that. Never call it again for the same credit: ask for the operation's state instead."
        ),
        version="1",
        effect=EffectKind.WRITE,
        idempotency=Idempotency.FENCED,
        risk=Risk.MEDIUM,
        resource=("account", "account_id"),
        tags=frozenset({"goodwill", "compensation", "give points", "top up", "적립금 지급", "포인트 적립", "보상"}),
        arguments=CreditArguments,
        result=CreditMade,
        approval=ApprovalRule(approver_role="approver:credits"),
        # A look shuts out every send before it, so only who is still inside an attempt is waited for.
        recovery=Recovery(settle_seconds=6.0, give_up_seconds=900.0),
        limits=Limits(attempt_seconds=5.0, sends=5),
        rules=RULES,
        # The same amount for another reason is more likely a second try than a second credit.
        repetition=Repetition(arguments=("account_id", "amount"), seconds=600.0),
        trust=Trust.OWN,
    )

    def __init__(self, ledger: LedgerOfCredits) -> None:
        self._ledger = ledger

    async def inspect(self, arguments: CreditArguments, principal: Principal) -> Inspection:
        """Look at the account as it is now."""
        account = await own_account(self._ledger, arguments.account_id, principal)
        try:
            money = arguments.amount.money("/amount")
        except CallRefused as unfit:
            return Inspection(_impact(account, None), Verdict(Layer.BUSINESS, unfit.code, unfit.details))
        code = refusal(account, money)
        return Inspection(_impact(account, money), Verdict(Layer.BUSINESS, code) if code else None)

    async def apply(self, arguments: CreditArguments, dispatch: Dispatch) -> Effect:
        """Give the credit once."""
        return await self._ledger.add(_credit(arguments), dispatch)

    async def look_up(self, arguments: CreditArguments, dispatch: Dispatch) -> Effect | None:
        """Find the credit given for this operation; a send of this generation that arrives later is shut out."""
        return await self._ledger.find(_credit(arguments), dispatch)


async def own_account(ledger: LedgerOfCredits, account_id: str, principal: Principal) -> Account:
    """The account, if it belongs to the principal's tenant; otherwise it is absent."""
    account = await ledger.account(account_id)
    if account.tenant != principal.tenant:
        raise CallRefused("not_found")
    return account


def _impact(account: Account, money: Money | None) -> Impact:
    after = (
        () if money is None else (Fact("Balance afterwards", money=_in(account, account.balance + money.minor_units)),)
    )
    return Impact(
        resource=_resource(account),
        action="Add store credit",
        money=money,
        facts=(
            Fact("Customer", account.customer),
            Fact("Balance now", money=_in(account, account.balance)),
            *after,
            Fact("Largest balance", money=_in(account, account.credit_limit)),
        ),
    )


def _resource(account: Account) -> Resource:
    return Resource("account", account.account_id, account.tenant, version=str(account.version))


def _in(account: Account, minor_units: int) -> Money:
    return Money(minor_units, account.currency)


def _credit(arguments: CreditArguments) -> Credit:
    return Credit(arguments.account_id, arguments.amount.money("/amount"), arguments.reason)


class LedgerSettings(BaseModel):
    """How to reach the ledger."""

    dsn: PostgresDsn = Field(description="postgresql://user:password@host:port/database of the ledger")


@asynccontextmanager
async def connect(settings: LedgerSettings) -> AsyncIterator[Sequence[Any]]:
    """The tools, with one pool of connections for them all."""
    engine = engine_for(settings.dsn.get_secret_value())
    try:
        ledger = Ledger(engine)
        yield [GetCreditBalance(ledger), CreditAccount(ledger), CreditAccounts(ledger)]
    finally:
        await engine.dispose()


FAMILY = Family(
    name="ledger",
    contracts=(GetCreditBalance.contract, CreditAccount.contract, CreditAccounts.contract),
    connect=connect,
    settings=LedgerSettings,
    policy=policy_beside(__file__),
)
