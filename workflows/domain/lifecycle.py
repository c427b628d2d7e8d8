"""The life of an operation, as data.

proposed ──▶ awaiting_approval ──▶ started ──▶ unconfirmed ──▶ manual_review
    │               │                 │             │               │
    └───────────────┴──────▶ succeeded · failed_terminal · failed_retryable
"""

from enum import StrEnum

from workflows.domain.errors import IllegalTransition


class State(StrEnum):
    """Where an operation stands; the value is what is stored and shown."""

    PROPOSED = "proposed"
    AWAITING_APPROVAL = "awaiting_approval"
    STARTED = "started"
    UNCONFIRMED = "unconfirmed"
    MANUAL_REVIEW = "manual_review"
    SUCCEEDED = "succeeded"
    FAILED_TERMINAL = "failed_terminal"
    FAILED_RETRYABLE = "failed_retryable"


ENDS = frozenset({State.SUCCEEDED, State.FAILED_TERMINAL, State.FAILED_RETRYABLE})
"""States in which an operation's workflow has nothing left to do."""

MAY_HAVE_EFFECT = frozenset({State.STARTED, State.UNCONFIRMED, State.MANUAL_REVIEW})
"""Open states in which the effect may already be in the world."""

NEXT: dict[State, frozenset[State]] = {
    State.PROPOSED: frozenset({State.AWAITING_APPROVAL, State.STARTED, State.FAILED_TERMINAL, State.FAILED_RETRYABLE}),
    State.AWAITING_APPROVAL: frozenset({State.STARTED, State.FAILED_TERMINAL, State.FAILED_RETRYABLE}),
    State.STARTED: frozenset({State.UNCONFIRMED, *ENDS}),
    State.UNCONFIRMED: frozenset({State.STARTED, State.MANUAL_REVIEW, *ENDS}),
    State.MANUAL_REVIEW: frozenset({State.STARTED, *ENDS}),
    State.SUCCEEDED: frozenset(),
    State.FAILED_TERMINAL: frozenset(),
    # No effect, proven: the same operation may be taken up again under its own id.
    State.FAILED_RETRYABLE: frozenset({State.PROPOSED}),
}


def advance(current: State, following: State) -> State:
    """Return `following` if the step is legal.

    Raises:
        IllegalTransition: the lifecycle has no such step.
    """
    if following not in NEXT[current]:
        raise IllegalTransition(current, following)
    return following
