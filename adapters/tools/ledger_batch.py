"""Store credit for many accounts at once: one question to people, one effect for each account."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from adapters.downstream.ledger import Account, Credit, refusal
from adapters.tools.amounts import AmountGiven
from adapters.tools.ledger_words import RULES, AccountId, LedgerOfCredits, Reason
from workflows.domain.batch import BatchResult
from workflows.domain.contract import (
    ApprovalRule,
    Arguments,
    Batch,
    Contract,
    EffectKind,
    Idempotency,
    Limits,
    Recovery,
    Repetition,
    Risk,
    Trust,
)
from workflows.domain.effect import Dispatch, Effect
from workflows.domain.errors import CallRefused, Detail, entry_of
from workflows.domain.gate import Layer, Verdict
from workflows.domain.impact import Fact, Impact, Inspection, Item, Money, Resource, version_of
from workflows.domain.principal import Principal

MOST_ACCOUNTS = 10_000
"""Accounts in one call."""

MOST_DETAILS = 100
"""Accounts at fault that a refusal names one by one."""


class CreditGiven(Arguments):
    """How much one account gets."""

    account_id: AccountId
    amount: AmountGiven


class CreditsArguments(Arguments):
    """The accounts with their amounts, and why."""

    credits: Annotated[
        list[CreditGiven],
        Field(
            description="The accounts, each once, with what each of them gets; all in one currency.",
            examples=[[{"account_id": "CA-17", "amount": {"value": "12000", "currency": "KRW"}}]],
            min_length=1,
            max_length=MOST_ACCOUNTS,
        ),
    ]
    reason: Reason


class CreditAccounts:
    """Adds store credit to many accounts."""

    contract = Contract(
        name="credit_accounts",
        title="Add store credit to many accounts",
        description=(
            "Add store credit to several customers' credit accounts of the signed-in user's shop in one act that a "
            "person decides on as a whole. Each account gets its credit or not by itself, and the result lists which. "
            "For one account use credit_account. Never call it again for the same accounts: ask for the operation's "
            "state instead, and name only those that failed in a new call."
        ),
        version="1",
        effect=EffectKind.WRITE,
        idempotency=Idempotency.FENCED,
        risk=Risk.HIGH,
        resource=("account", "credits"),
        tags=frozenset(
            {"bulk credit", "all these customers", "mass compensation", "일괄 지급", "여러 고객", "단체 보상"}
        ),
        arguments=CreditsArguments,
        result=BatchResult,
        approval=ApprovalRule(approver_role="approver:credits"),
        recovery=Recovery(settle_seconds=6.0, give_up_seconds=900.0),
        limits=Limits(attempt_seconds=5.0, sends=5),
        rules=RULES,
        trust=Trust.OWN,
        batch=Batch("credits", "account_id"),
        # As of one credit: the same amounts for another reason are more likely a second try.
        repetition=Repetition(arguments=("credits",), seconds=600.0),
    )

    def __init__(self, ledger: LedgerOfCredits) -> None:
        self._ledger = ledger

    async def inspect(self, arguments: CreditsArguments, principal: Principal) -> Inspection:
        """Look at all the accounts as they are now; another tenant's looks absent."""
        found = await self._ledger.accounts([each.account_id for each in arguments.credits])
        accounts = {name: account for name, account in found.items() if account.tenant == principal.tenant}
        if not accounts:
            raise CallRefused("not_found")
        monies, refused = _monies_and_refusals(arguments, accounts)
        impact = _impact(arguments, accounts, monies, principal)
        if len({money.currency for money in monies.values()}) > 1:
            return Inspection(impact, Verdict(Layer.BUSINESS, "credit_currencies_differ"))
        return Inspection(impact, _verdict(arguments, refused), refused)

    async def apply(self, arguments: CreditsArguments, dispatch: Dispatch) -> Effect:
        """Give the one credit of this dispatch once."""
        return await self._ledger.add(_credit(arguments), dispatch)

    async def look_up(self, arguments: CreditsArguments, dispatch: Dispatch) -> Effect | None:
        """Find the one credit of this dispatch; a send of this generation that arrives later is shut out."""
        return await self._ledger.find(_credit(arguments), dispatch)


def _monies_and_refusals(
    arguments: CreditsArguments, accounts: Mapping[str, Account]
) -> tuple[dict[str, Money], dict[str, str]]:
    """The amount of each account that is there, and the code of each that a rule is against."""
    monies: dict[str, Money] = {}
    refused: dict[str, str] = {}
    for each in arguments.credits:
        account = accounts.get(each.account_id)
        if account is None:
            refused[each.account_id] = "not_found"
            continue
        try:
            monies[each.account_id] = each.amount.money("/amount")
            code = refusal(account, monies[each.account_id])
        except CallRefused as unfit:
            code = unfit.code
        if code is not None:
            refused[each.account_id] = code
    return monies, refused


def _verdict(arguments: CreditsArguments, refused: Mapping[str, str]) -> Verdict | None:
    """What is against the whole before it has begun. About accounts that are absent no rule speaks."""
    if not refused:
        return None
    absent = "not_found" in refused.values()
    details = [
        Detail(f"/credits/{position}", refused[each.account_id], entry_of(refused[each.account_id]).meaning)
        for position, each in enumerate(arguments.credits)
        if each.account_id in refused and (not absent or refused[each.account_id] == "not_found")
    ]
    layer = Layer.AUTHORIZATION if absent else Layer.BUSINESS
    return Verdict(layer, details[0].code, tuple(details[:MOST_DETAILS]))


def _impact(
    arguments: CreditsArguments, accounts: Mapping[str, Account], monies: Mapping[str, Money], principal: Principal
) -> Impact:
    own = [each.account_id for each in arguments.credits if each.account_id in accounts]
    items = tuple(Item(account, str(accounts[account].version)) for account in own)
    total = sum(money.minor_units for money in monies.values())
    currency = next((money.currency for money in monies.values()), "")
    return Impact(
        resource=Resource("account", f"{len(items)} of them", principal.tenant, version_of(items)),
        action="Add store credit to many accounts",
        money=Money(total, currency) if currency else None,
        count=len(items),
        facts=tuple(
            Fact(f"{account} ({accounts[account].customer})", money=money) for account, money in monies.items()
        ),
        items=items,
    )


def _credit(arguments: CreditsArguments) -> Credit:
    (each,) = arguments.credits
    return Credit(each.account_id, each.amount.money("/amount"), arguments.reason)
