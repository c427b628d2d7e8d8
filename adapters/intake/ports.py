"""What a door needs behind it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol

from workflows.domain.errors import Detail
from workflows.domain.gate import Verdict
from workflows.domain.intent import Intent
from workflows.domain.lifecycle import ENDS, State
from workflows.domain.principal import Principal
from workflows.domain.proposal import CallError, Proposal
from workflows.messages import TurnRef


@dataclass(frozen=True)
class Judged:
    """One proposal after the layers that need no look outside.

    `intent` is what it means when it may be registered, None when a layer refused. `fingerprint` covers the raw
    proposal, so that a second delivery with another content is noticed even when it was refused. `writes`: it could
    change something, as far as is known; what nobody knows might have been meant to. `tool` is its name in the
    catalog, or what the model called it when there is none.
    """

    proposal: Proposal
    position: int
    fingerprint: str
    verdicts: tuple[Verdict, ...]
    intent: Intent | None = None
    writes: bool = True
    tool: str = ""


@dataclass(frozen=True)
class HostedSeen:
    """One call that the provider has run itself. `tool` is its name in the catalog where it is a hosted tool.

    `code` says what is wrong with it as far as the catalog tells; `approved_under` names the request to approve it,
    and `needs_approval` says that it should have been one. `fingerprint` is that of the proposal which would be this
    very call.
    """

    item_id: str
    kind: str
    server: str
    tool: str
    failed: bool | None = None
    code: str | None = None
    approved_under: str | None = None
    needs_approval: bool = False
    fingerprint: str = ""


@dataclass(frozen=True)
class Budget:
    """How much one conversation may ask for: calls in all, and equal answers to the same call one after another."""

    calls: int = 200
    same_answers: int = 4


@dataclass(frozen=True)
class Turn:
    """All calls of one response, judged.

    `lineage` names the conversation whose corrections are counted together, `budget` is None when the caller has not
    said which conversation it is. `one_by_one`: nothing of it may run side by side. `hosted` is what the provider has
    done itself, `found` the tools that a search has brought up in it. `namespace`: whose ids they are, where they are
    not a response's; the same id in another is another.
    """

    principal: Principal
    surface: str
    request_id: str
    calls: Sequence[Judged]
    lineage: str = ""
    budget: Budget | None = None
    one_by_one: bool = False
    hosted: Sequence[HostedSeen] = ()
    found: frozenset[str] = frozenset()
    namespace: str = ""


class Receipt(StrEnum):
    """What registering one call came to."""

    REGISTERED = "registered"
    KNOWN = "known"
    REFUSED = "refused"
    CONFLICT = "conflict"


@dataclass(frozen=True)
class Registered:
    """The inbox's answer for one call. `writes` is the stored operation's; `code` and `details` speak of a refusal."""

    call_id: str
    receipt: Receipt
    operation_id: str | None = None
    intent_hash: str = ""
    writes: bool = False
    code: str | None = None
    details: tuple[Detail, ...] = ()


class Inbox(Protocol):
    """Where deliveries are kept."""

    async def register(self, turn: Turn) -> list[Registered]:
        """Register each call once, in one transaction: operation, intent and outbox row together.

        The same delivery finds what it found before; the same ids with another content are a conflict, and the stored
        record is left as it is. What the provider ran and what searches found is kept once beside them.
        """

    async def discovered(self, lineage: str) -> frozenset[str]:
        """The tools that searches have brought up in this conversation."""

    async def discover(self, lineage: str, tools: Collection[str]) -> None:
        """Remember tools that a search has brought up."""


class Starter(Protocol):
    """Starts the durable part."""

    async def start_write(self, operation_id: str, intent_hash: str, tool: str, tenant: str) -> None:
        """Start the operation's workflow, or find it running or done."""

    async def start_read(self, operation_id: str, intent_hash: str, tool: str, tenant: str) -> None:
        """Start the read's activity, or find it running or done."""

    async def start_turn(self, turn_id: str, ref: TurnRef) -> bool:
        """Start the workflow that keeps the order of a turn's calls, or find it running; False when it is over."""


@dataclass(frozen=True)
class Standing:
    """Where an operation stands, with its terminal result when it has one.

    `behind`: it has not begun, and an earlier call of its turn has not ended. `created_at` and `updated_at` are when it
    was registered and when its state last changed.
    """

    operation_id: str
    tool: str
    state: State
    code: str | None = None
    details: tuple[Detail, ...] = ()
    data: Any = None
    reference: str | None = None
    behind: bool = False
    created_at: datetime | None = None
    updated_at: datetime | None = None

    def as_json(self) -> dict[str, Any]:
        """What a caller may read about it."""
        body: dict[str, Any] = {
            "operation_id": self.operation_id,
            "tool_name": self.tool,
            "state": self.state.value,
            "final": self.state in ENDS,
        }
        if self.data is not None:
            body["data"] = self.data
        if self.code is not None:
            body["error"] = CallError(self.code, self.details).as_json()
        if self.reference is not None:
            body["reference"] = self.reference
        return body


class Cancellations(Protocol):
    """Where callers' wishes that an operation stop are kept."""

    async def want(self, principal: Principal, operation_id: str) -> bool:
        """Keep the wish once and wake the operation; False when it is not the principal's."""


class Progress(Protocol):
    """Watches operations."""

    async def standings(self, principal: Principal, operation_ids: Sequence[str]) -> dict[str, Standing]:
        """Return where these operations stand; those that are not the principal's are left out."""
