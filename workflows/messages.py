"""What goes into workflows and activities and comes out of them: ids, hashes, states and codes, nothing else.

These values are recorded in histories, so a field is only ever added, with a default.
"""

from dataclasses import dataclass, field
from enum import StrEnum


@dataclass(frozen=True)
class OperationRef:
    """Names one operation and the meaning under which it was registered.

    `fast_path`: its workflow may take the steps within one workflow task for as long as all goes well. A run keeps the
    answer that it was started with, so that a history from before there was one replays as it was lived.
    """

    operation_id: str
    intent_hash: str
    fast_path: bool = False


class Step(StrEnum):
    """What an activity says comes next."""

    GO = "go"
    WAIT = "wait"
    VALIDATE = "validate"
    SEND_AGAIN = "send_again"
    RECONCILE = "reconcile"
    SETTLE = "settle"


@dataclass(frozen=True)
class Judgement:
    """The gate's answer on the current state.

    GO: apply. WAIT: a person must decide, at the latest in `wait_seconds`. SETTLE: refused with `code`. `swift`: the
    tool's contract lets its effect be made within the workflow task.
    """

    step: Step
    code: str | None = None
    wait_seconds: float = 0.0
    waiting_for: str = ""
    swift: bool = False


@dataclass(frozen=True)
class Report:
    """What an attempt at the effect, or a look at it, came to.

    SETTLE: an outcome is on record, or nothing was sent and `code` says why. RECONCILE: unknown, look (again) after
    `pause_seconds`. VALIDATE, SEND_AGAIN: nothing has happened, go through the gate (again) after `pause_seconds`.
    `needs_person` when looking has lasted longer than the contract says. `progress` is that of a batch, in words.
    """

    step: Step
    code: str | None = None
    pause_seconds: float = 0.0
    generation: int = 0
    needs_person: bool = False
    progress: str = ""


@dataclass(frozen=True)
class SettleOrder:
    """End the operation: with a refusal's `code`, or by the effect on record when it is None."""

    ref: OperationRef
    code: str | None = None


@dataclass(frozen=True)
class Ending:
    """How the operation ended."""

    state: str
    code: str | None = None


@dataclass(frozen=True)
class TurnRef:
    """The calls of one turn, reads and writes apart, each in the order in which the model gave them.

    `tools` names the tool of each write. `one_by_one`: nothing runs side by side, so the reads are carried out here
    as well, each after the other.
    """

    reads: list[OperationRef] = field(default_factory=list)
    writes: list[OperationRef] = field(default_factory=list)
    tools: list[str] = field(default_factory=list)
    tenant: str = ""
    one_by_one: bool = False


@dataclass(frozen=True)
class FollowOrder:
    """Wait for the end of all these operations, for at most so long."""

    operation_ids: list[str]
    patience_seconds: float


@dataclass(frozen=True)
class Followed:
    """The states in which they ended, in their order; empty when not all have."""

    states: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class TurnEnding:
    """How the writes of a turn ended: the state of each, in their order."""

    states: list[str] = field(default_factory=list)
