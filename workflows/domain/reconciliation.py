"""What a look at the downstream proves about an uncertain effect, and when to look again."""

from dataclasses import dataclass
from enum import StrEnum

from workflows.domain.contract import Idempotency, Recovery
from workflows.domain.effect import Effect, Outcome


class Conclusion(StrEnum):
    """What is known after a look."""

    APPLIED = "applied"
    """Found and finished."""
    REJECTED = "rejected"
    """Found, and the downstream says it will never happen."""
    SEND_AGAIN = "send_again"
    """Proven absent, or safe to repeat under the same key."""
    STILL_UNKNOWN = "still_unknown"


@dataclass(frozen=True)
class Uncertainty:
    """How long ago the first and the last send were, in seconds by the database's clock; None when nothing was sent."""

    since_first_send: float | None
    since_last_send: float | None


def conclude(found: Effect | None, idempotency: Idempotency, recovery: Recovery, sent: Uncertainty) -> Conclusion:
    """Say what a look-up proves. `found` is None when the downstream knows nothing of the operation.

    "Not found" counts only once a late commit is impossible, and even then a repeat must be harmless: under a key that
    the downstream still remembers, or behind a fence. Otherwise a person decides.
    """
    if found is not None:
        return {Outcome.APPLIED: Conclusion.APPLIED, Outcome.REJECTED: Conclusion.REJECTED}.get(
            found.outcome, Conclusion.STILL_UNKNOWN
        )
    if sent.since_first_send is None or sent.since_last_send is None:
        return Conclusion.SEND_AGAIN
    if sent.since_last_send < recovery.settle_seconds:
        return Conclusion.STILL_UNKNOWN
    return Conclusion.SEND_AGAIN if repeat_is_harmless(idempotency, recovery, sent) else Conclusion.STILL_UNKNOWN


LOOKUP_FAILED = "lookup_failed"
"""The downstream cannot be asked."""

PENDING = "downstream_pending"
"""The downstream has accepted the act and has not finished it."""


def why_unknown(found: Effect | None, idempotency: Idempotency, recovery: Recovery) -> str:
    """Why a look has proven nothing although the time for a late commit has passed: what an operator is told."""
    if found is not None:
        return found.code or PENDING
    if idempotency is Idempotency.KEYED and recovery.key_lifetime_seconds is not None:
        return "downstream_key_expired"
    return "absence_not_proven"


PROMISED_SECONDS = 900.0
"""How long to look at least for an answer that the downstream has promised for later."""


def patience(recovery: Recovery, why: str, *, promised: bool) -> float:
    """How long after a send to look before a person is asked, in seconds.

    Nobody could find out sooner what the downstream itself is still about to tell.
    """
    to_come = promised and why in (LOOKUP_FAILED, PENDING)
    return max(recovery.give_up_seconds, PROMISED_SECONDS) if to_come else recovery.give_up_seconds


def repeat_is_harmless(idempotency: Idempotency, recovery: Recovery, sent: Uncertainty) -> bool:
    """Whether sending once more cannot make a second effect."""
    if idempotency is Idempotency.FENCED:
        return True
    if idempotency is not Idempotency.KEYED or recovery.key_lifetime_seconds is None:
        return False
    return (sent.since_first_send or 0.0) < recovery.key_lifetime_seconds


def pause_before_send(sends: int) -> float:
    """Seconds before a refused-for-now write is sent again, after `sends` earlier ones: 5, 20, 80, 300.

    Five sends thus outlast an outage of several minutes.
    """
    return float(min(300, 5 * 4 ** min(sends, 5)))
