"""What the downstream did: three outcomes, never two."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Outcome(StrEnum):
    """`UNKNOWN` is a state of its own: only evidence or an operator turns it into one of the others."""

    APPLIED = "applied"
    REJECTED = "rejected"
    UNKNOWN = "unknown"


MISMATCH = "effect_mismatch"
"""The code of what was found under our key or reference and is not what was asked for."""

ABANDONED = "outcome_abandoned"
"""The code of an effect that an operator has given up finding out; it may have happened."""


@dataclass(frozen=True)
class Effect:
    """One look at the downstream.

    `reference` is the downstream's own id (its receipt), `data` the tool's raw result in its result model's shape.
    `REJECTED` is a proof that nothing happened; `retryable` then says that the same operation may be sent again, not
    before `retry_after_seconds`. `UNKNOWN` may carry a reference when the downstream has accepted but not finished.
    """

    outcome: Outcome
    reference: str | None = None
    data: dict[str, Any] = field(default_factory=dict)
    code: str | None = None
    retryable: bool = False
    retry_after_seconds: float | None = None

    @classmethod
    def applied(cls, reference: str, data: dict[str, Any]) -> "Effect":
        """It happened and the downstream's own state says so."""
        return cls(Outcome.APPLIED, reference=reference, data=data)

    @classmethod
    def rejected(cls, code: str, *, retryable: bool = False, retry_after_seconds: float | None = None) -> "Effect":
        """It did not happen, proven by the downstream's answer."""
        return cls(Outcome.REJECTED, code=code, retryable=retryable, retry_after_seconds=retry_after_seconds)

    @classmethod
    def unknown(cls, reference: str | None = None, code: str | None = None) -> "Effect":
        """Sent, or perhaps sent; nobody can say yet. `code` says what stands in the way, such as `effect_mismatch`."""
        return cls(Outcome.UNKNOWN, reference=reference, code=code)


@dataclass(frozen=True)
class Dispatch:
    """What accompanies a write to the downstream, and what it is looked up by afterwards.

    `generation` is the fence: a downstream that can compare it refuses a smaller one. `item` tells the effects of a
    batch apart, empty for an operation with one effect. `task_id` is what the downstream has promised the answer of the
    last send as; empty where it promised none, and whenever something is about to be sent.
    """

    operation_id: str
    tenant: str
    idempotency_key: str
    generation: int
    item: str = ""
    task_id: str = ""
