"""The tools that are measured: a write that passes unasked, one that people are asked about, and a read.

Behind them is one provider for all contestants alike. It runs in the process of whoever calls it, so that no HTTP
client is counted as an orchestrator's work, and answers after a fixed delay.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Annotated, Any, Final

from pydantic import Field

from adapters.tools.family import Family, policy_beside
from workflows.domain.authorization import Admit
from workflows.domain.contract import (
    ApprovalRule,
    Arguments,
    Contract,
    EffectKind,
    Idempotency,
    Limits,
    Recovery,
    Risk,
    ToolResult,
    Trust,
)
from workflows.domain.effect import Dispatch, Effect
from workflows.domain.impact import Impact, Inspection, Resource
from workflows.domain.principal import Principal

PROVIDER_SECONDS: Final = 0.005
"""What the provider takes for one call, a write or a read."""

APPROVER_ROLE: Final = "approver:parcels"
ROLE: Final = "packer"

ParcelId = Annotated[
    str, Field(description="Parcel id as the depot issued it.", examples=["P-17"], pattern=r"^P-[a-z0-9]{1,40}$")
]


class ParcelArguments(Arguments):
    """Which parcel."""

    parcel_id: ParcelId


class ParcelSent(ToolResult):
    """A parcel that is on its way; `receipt` is the depot's own reference."""

    receipt: str


class ParcelSeen(ToolResult):
    """Where a parcel is."""

    parcel_id: str
    place: str


SEND: Final = Contract(
    name="send_parcel",
    title="Send a parcel",
    description="Send one parcel of the depot on its way. Use it once for each parcel; it does not pack anything.",
    version="1",
    effect=EffectKind.WRITE,
    idempotency=Idempotency.KEYED,
    risk=Risk.LOW,
    resource=("parcel", "parcel_id"),
    arguments=ParcelArguments,
    result=ParcelSent,
    recovery=Recovery(settle_seconds=5.0, key_lifetime_seconds=24 * 3600.0),
    limits=Limits(attempt_seconds=5.0),
    trust=Trust.OWN,
)
SEND_APPROVED: Final = replace(
    SEND,
    name="send_valuable_parcel",
    title="Send a valuable parcel",
    description="Send one valuable parcel on its way once a person has approved it. It does not pack anything.",
    risk=Risk.HIGH,
    approval=ApprovalRule(approver_role=APPROVER_ROLE),
)
LOCATE: Final = Contract(
    name="locate_parcel",
    title="Locate a parcel",
    description="Look up where one parcel of the depot is at the moment. It changes nothing and sends nothing.",
    version="1",
    effect=EffectKind.READ,
    idempotency=Idempotency.READ,
    risk=Risk.LOW,
    resource=("parcel", "parcel_id"),
    arguments=ParcelArguments,
    result=ParcelSeen,
    limits=Limits(attempt_seconds=5.0),
    trust=Trust.OWN,
)


class SendParcel:
    """Sends; the depot knows every key for ever, so a repeat is answered with the first one's receipt."""

    def __init__(self, contract: Contract) -> None:
        self.contract = contract

    async def inspect(self, arguments: ParcelArguments, principal: Principal) -> Inspection:
        """The parcel is there, and it is the principal's."""
        return Inspection(Impact(_resource(arguments, principal), self.contract.title))

    async def apply(self, arguments: ParcelArguments, dispatch: Dispatch) -> Effect:
        """Send once."""
        await asyncio.sleep(PROVIDER_SECONDS)
        receipt = f"r-{dispatch.idempotency_key}"
        return Effect.applied(receipt, {"receipt": receipt})

    async def look_up(self, arguments: ParcelArguments, dispatch: Dispatch) -> Effect | None:
        """The same answer: what is looked for was sent."""
        return await self.apply(arguments, dispatch)


class LocateParcel:
    """Looks a parcel up."""

    contract = LOCATE

    async def read(self, arguments: ParcelArguments, principal: Principal, admit: Admit) -> Mapping[str, Any]:
        """Return in `ParcelSeen`'s shape where it is."""
        admit(_resource(arguments, principal))
        await asyncio.sleep(PROVIDER_SECONDS)
        return {"parcel_id": arguments.parcel_id, "place": "depot"}


def _resource(arguments: ParcelArguments, principal: Principal) -> Resource:
    return Resource("parcel", arguments.parcel_id, principal.tenant, version="1")


@asynccontextmanager
async def connect(_: Any) -> AsyncIterator[Sequence[Any]]:
    """All three; nothing has to be reached for them."""
    yield [SendParcel(SEND), SendParcel(SEND_APPROVED), LocateParcel()]


FAMILY = Family(
    name="parcels", contracts=(SEND, SEND_APPROVED, LOCATE), connect=connect, policy=policy_beside(__file__)
)
