"""What the ledger's tools share: its rules in our words, the arguments that they have in common, the ledger itself."""

from collections.abc import Collection, Mapping
from typing import Annotated, Literal, Protocol

from pydantic import Field

from adapters.downstream.ledger import Account, Credit
from workflows.domain.effect import Dispatch, Effect
from workflows.domain.errors import NextAction, refused

RULES = {
    "account_closed": refused(NextAction.ASK_USER, "The account is closed and takes no credit."),
    "account_currency_differs": refused(NextAction.FIX_ARGUMENTS, "The currency is not the account's currency."),
    "credit_of_nothing": refused(NextAction.FIX_ARGUMENTS, "The amount is zero; a credit adds something."),
    "credit_limit_exceeded": refused(
        NextAction.ASK_USER, "The balance would be more than this account may hold; see the account's credit limit."
    ),
    "credit_currencies_differ": refused(
        NextAction.FIX_ARGUMENTS, "The credits are in several currencies; make one call for each."
    ),
}
"""What the ledger says no to."""

AccountId = Annotated[
    str,
    Field(
        description="Credit account id as the shop issued it, such as CA-17. Not a customer's or an order's id.",
        examples=["CA-17"],
        pattern=r"^[A-Za-z0-9-]{1,40}$",
    ),
]
Reason = Annotated[
    Literal["late_delivery", "damaged_goods", "price_difference", "goodwill"],
    Field(description="Why the customer gets the credit; goodwill when nothing was wrong.", examples=["late_delivery"]),
]


class LedgerOfCredits(Protocol):
    """The ledger as these tools need it; see `adapters.downstream.ledger.Ledger`."""

    async def account(self, account_id: str) -> Account: ...  # noqa: D102
    async def accounts(self, account_ids: Collection[str]) -> Mapping[str, Account]: ...  # noqa: D102
    async def add(self, credit: Credit, dispatch: Dispatch) -> Effect: ...  # noqa: D102
    async def find(self, credit: Credit, dispatch: Dispatch) -> Effect | None: ...  # noqa: D102
