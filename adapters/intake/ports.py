"""What a door needs behind it."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from workflows.domain.errors import Detail
from workflows.domain.gate import Verdict
from workflows.domain.intent import Intent
from workflows.domain.lifecycle import ENDS, State
from workflows.domain.principal import Principal
from workflows.domain.proposal import CallError, Proposal


@dataclass(frozen=True)
class Judged:
    """One proposal after the layers that need no look outside.

    `intent` is what it means when it may be registered, None when a layer refused. `fingerprint` covers the raw
    proposal, so that a second delivery with another content is noticed even when it was refused.
    """

    proposal: Proposal
    position: int
    fingerprint: str
    verdicts: tuple[Verdict, ...]
    intent: Intent | None = None
    writes: bool = False


@dataclass(frozen=True)
class Turn:
    """All calls of one response, judged. `lineage` names the conversation whose corrections are counted together."""

    principal: Principal
    surface: str
    request_id: str
    calls: Sequence[Judged]
    lineage: str = ""


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
        record is left as it is.
        """


class Starter(Protocol):
    """Starts the durable part."""

    async def start_write(self, operation_id: str, intent_hash: str, tool: str, tenant: str) -> None:
        """Start the operation's workflow, or find it running or done."""

    async def start_read(self, operation_id: str, intent_hash: str, tool: str, tenant: str) -> None:
        """Start the read's activity, or find it running or done."""


@dataclass(frozen=True)
class Standing:
    """Where an operation stands, with its terminal result when it has one."""

    operation_id: str
    tool: str
    state: State
    code: str | None = None
    details: tuple[Detail, ...] = ()
    data: Any = None
    reference: str | None = None

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
