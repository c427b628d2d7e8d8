"""From where an operation stands to what a model is told."""

from datetime import datetime
from typing import Any

from adapters.intake.ports import Receipt, Registered, Standing
from adapters.intake.results import told
from workflows.domain.contract import Contract
from workflows.domain.errors import CallRefused, OncewardError, entry_of
from workflows.domain.lifecycle import State
from workflows.domain.proposal import CallError, CallResult, Proposal, Status

OPEN_CODES: dict[State, str] = {
    State.PROPOSED: "operation_in_progress",
    State.AWAITING_APPROVAL: "approval_required",
    State.STARTED: "operation_in_progress",
    State.UNCONFIRMED: "reconciliation_pending",
    State.MANUAL_REVIEW: "reconciliation_pending",
}
"""What an open operation's call is answered meanwhile; each tells the model not to issue it again."""

BEHIND = "earlier_call_open"
"""What the call of an operation is answered while an earlier one of its turn has not ended."""

ASK_AGAIN_SECONDS = 5.0


def answer_to(
    proposal: Proposal, found: Registered, standing: Standing | None, contract: Contract | None, now: datetime
) -> CallResult:
    """The result of one call: a refusal, the operation's terminal result, or where it stands meanwhile.

    `contract` is None for a tool that this deployment no longer has.
    """
    if standing is None:
        if found.code is None:
            raise OncewardError("internal_error")
        return _refused(proposal, found, found.code)
    if standing.state in OPEN_CODES:
        return _open(proposal, standing)
    replayed = found.receipt is Receipt.KNOWN
    if standing.state is State.SUCCEEDED:
        return _succeeded(proposal, standing, contract, now, replayed)
    error = CallError(standing.code or "internal_error", standing.details, standing.operation_id)
    return _failed(proposal, error, Status(standing.state.value), replayed=replayed)


def refused_call(proposal: Proposal, refused: CallRefused) -> CallResult:
    """The result of a call that is refused on the spot and stands for no operation."""
    status = Status.FAILED_RETRYABLE if entry_of(refused.code).retryable else Status.FAILED_TERMINAL
    return _failed(proposal, CallError(refused.code, refused.details), status)


def told_of(result: CallResult, duplicate_of: str | None = None) -> dict[str, Any]:
    """One result as a caller of a door reads it.

    `final` False means that asking again, or at `ask_at`, will tell more. `duplicate_of` is the call id of the same
    turn's call that this one repeats: both were answered with one execution.
    """
    return {
        "call_id": result.call_id,
        "tool_name": result.tool_name,
        **result.body(),
        "operation_id": result.operation_id,
        "final": result.final,
        "replayed": result.replayed,
        "duplicate_of": duplicate_of,
        "ask_at": None if result.final or result.operation_id is None else f"/v1/operations/{result.operation_id}",
    }


def _succeeded(
    proposal: Proposal, standing: Standing, contract: Contract | None, now: datetime, replayed: bool
) -> CallResult:
    data: Any = standing.data
    about: dict[str, Any] = {}
    if contract is not None:
        data, about = told(standing.data, contract, standing.operation_id, now)
    return CallResult(
        proposal.call_id,
        proposal.tool_name,
        Status.SUCCEEDED,
        data=data,
        operation_id=standing.operation_id,
        about=about,
        replayed=replayed,
    )


def _open(proposal: Proposal, standing: Standing) -> CallResult:
    code = BEHIND if standing.behind else OPEN_CODES[standing.state]
    error = CallError(code, (), standing.operation_id, retry_after_seconds=ASK_AGAIN_SECONDS)
    return _failed(proposal, error, Status.FAILED_RETRYABLE, final=False)


def _refused(proposal: Proposal, found: Registered, code: str) -> CallResult:
    status = Status.FAILED_RETRYABLE if entry_of(code).retryable else Status.FAILED_TERMINAL
    return _failed(proposal, CallError(code, found.details), status)


def _failed(
    proposal: Proposal, error: CallError, status: Status, *, final: bool = True, replayed: bool = False
) -> CallResult:
    return CallResult(
        proposal.call_id,
        proposal.tool_name,
        status,
        error=error,
        operation_id=error.operation_id,
        final=final,
        replayed=replayed,
    )
