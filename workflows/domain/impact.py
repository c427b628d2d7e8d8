"""What an act would do, computed by the server on the current state, for the gate and for a person to read."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from workflows.domain.gate import Verdict
from workflows.domain.intent import digest


@dataclass(frozen=True)
class Money:
    """An amount in the currency's minor unit (KRW has none: 12000 is 12,000 won) with its ISO 4217 code."""

    minor_units: int
    currency: str


@dataclass(frozen=True)
class Fact:
    """One line that the approver reads, from the server's own look: a label with words or with an amount.

    Never an argument of the call: pages tell people that no model wrote it. They are shown beside, as what is sent.
    """

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
class Item:
    """One object of a batch: its id, and its version as in `Resource`."""

    id: str
    version: str


def version_of(items: Iterable[Item]) -> str:
    """The version of a whole batch: another one as soon as any of its objects has changed."""
    return digest(sorted([item.id, item.version] for item in items))[:16]


@dataclass(frozen=True)
class Impact:
    """The extent of the act.

    `money` is what leaves, None when none does; `count` the number of objects changed. `items` are those of a batch.
    """

    resource: Resource
    action: str
    money: Money | None = None
    count: int = 1
    reversible: bool = True
    facts: tuple[Fact, ...] = field(default_factory=tuple)
    items: tuple[Item, ...] = ()


@dataclass(frozen=True)
class Inspection:
    """A write tool's look at the current state.

    `refusal` is the business rule that says no, None when all are content. `impact` is always there: without a
    resource there is nothing to inspect, and the tool raises `CallRefused("not_found")`. `refused` gives the code of
    each item of a batch that a rule is against: before the batch has begun that is the `refusal` of the whole, once it
    has begun only those items are left out.
    """

    impact: Impact
    refusal: Verdict | None = None
    refused: Mapping[str, str] = field(default_factory=dict)
