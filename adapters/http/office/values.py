"""Values that several answers of the back office's API have.

Moments are in UTC (RFC 3339). Amounts are whole numbers of the currency's minor unit.
"""

from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field

from workflows.domain.lifecycle import State


class Answer(BaseModel):
    """Read from the store's own values, attribute by attribute."""

    model_config = ConfigDict(from_attributes=True)


class MoneyAnswer(Answer):
    """An amount."""

    minor_units: int = Field(description="In the currency's minor unit: 12000 KRW is 12,000 won, 1250 USD is $12.50.")
    currency: str = Field(description="ISO 4217.")


class ResourceAnswer(Answer):
    """The object that is acted on."""

    kind: str
    id: str
    owner_tenant: str
    version: str = Field(description="Another one as soon as anything has changed that an approver relied on.")


class OperationLineAnswer(Answer):
    """One operation as lists show it."""

    operation_id: str
    tool: str
    action: str
    resource: ResourceAnswer
    money: MoneyAnswer | None
    state: State
    code: str | None = Field(description="Why it has ended, or what its caller is told meanwhile.")
    waiting_for: str = Field(description="What it waits for, in words; empty when it does not wait.")
    requester: str
    agent: str
    created_at: datetime
    updated_at: datetime
    writes: bool = Field(description="False: a read, which changes nothing.")
