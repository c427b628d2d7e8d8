"""What an act would do, computed by the server on the current state, for the gate and for a person to read."""

from dataclasses import dataclass, field

from workflows.domain.gate import Verdict


@dataclass(frozen=True)
class Money:
    """An amount in the currency's minor unit (KRW has none: 12000 is 12,000 won) with its ISO 4217 code."""

    minor_units: int
    currency: str


@dataclass(frozen=True)
class Fact:
    """One line that the approver reads, from the server's own look: a label with words or with an amount."""

    label: str
    value: str = ""
    money: Money | None = None


@dataclass(frozen=True)
class Resource:
    """The object that is acted on. `version` changes whenever anything does that the approver relied on."""

    kind: str
    id: str
    owner_tenant: str
    version: str


@dataclass(frozen=True)
class Impact:
    """The extent of the act.

    `money` is what leaves, None when none does; `count` the number of objects changed.
    """

    resource: Resource
    action: str
    money: Money | None = None
    count: int = 1
    reversible: bool = True
    facts: tuple[Fact, ...] = field(default_factory=tuple)


@dataclass(frozen=True)
class Inspection:
    """A write tool's look at the current state.

    `refusal` is the business rule that says no, None when all are content. `impact` is always there: without a
    resource there is nothing to inspect, and the tool raises `CallRefused("not_found")`.
    """

    impact: Impact
    refusal: Verdict | None = None
