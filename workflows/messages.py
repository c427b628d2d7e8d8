"""What goes into workflows and activities and comes out of them: ids, hashes, states and codes, nothing else.

These values are recorded in histories, so a field is only ever added, with a default.
"""

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True)
class OperationRef:
    """Names one operation and the meaning under which it was registered."""

    operation_id: str
    intent_hash: str


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

    GO: apply. WAIT: a person must decide, at the latest in `wait_seconds`. SETTLE: refused with `code`.
    """

    step: Step
    code: str | None = None
    wait_seconds: float = 0.0
    waiting_for: str = ""


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
