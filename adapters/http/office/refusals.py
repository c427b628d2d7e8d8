"""Words that did not count, told with what is true instead."""

from typing import Any

from adapters.http.back_office.ports import ApprovalSheet, BackOfficeStore
from adapters.http.office.answers import ApprovalAnswer, OperationAnswer, VoteAnswer, vote_answer
from adapters.http.office.examples import ASKED, OPERATION, VOTE, example, told
from adapters.http.openapi import CONFLICT, ProblemDocument
from adapters.http.problems import Problem
from workflows.domain.approval import ApprovalState
from workflows.domain.errors import ERRORS
from workflows.domain.principal import Principal

STATUSES = {
    "not_found": 404,
    "approver_not_allowed": 403,
    "operator_not_allowed": 403,
    "decision_reason_required": 422,
    "resolution_evidence_required": 422,
    "resolution_reference_required": 422,
    "resolution_reference_unclear": 422,
}
"""HTTP status by code; every other refusal is a conflict with what is stored."""


class DecisionConflict(ProblemDocument):
    """A decision that did not count, with the approval as it is now and the vote that stands, if there is one."""

    model_config = example(
        told(
            "approval_already_decided",
            409,
            ERRORS["approval_already_decided"].meaning,
            kind="refused",
            next_action="do_not_retry",
            approval={**ASKED, "state": "granted", "votes": [VOTE]},
            decision=VOTE,
        )
    )

    approval: ApprovalAnswer
    decision: VoteAnswer | None


class ResolutionConflict(ProblemDocument):
    """An operator's word that did not count, with the operation as it is now."""

    model_config = example(
        told(
            "resolution_stale",
            409,
            ERRORS["resolution_stale"].meaning,
            kind="refused",
            next_action="do_not_retry",
            operation={**OPERATION, "generation": 2},
        )
    )

    operation: OperationAnswer


def refused(code: str, status: int, **extra: Any) -> Problem:
    """A refusal with the catalogue's words."""
    entry = ERRORS[code]
    told = {"kind": entry.kind.value, "next_action": entry.next_action.value, **extra}
    return Problem(status, code, entry.meaning, **told)


async def decision_refused(store: BackOfficeStore, viewer: Principal, approval_id: str, code: str) -> Problem:
    """Say why a decision did not count; of a conflict also the approval as it is now and the vote that stands."""
    status = STATUSES.get(code, CONFLICT)
    # Read after the refusal, so that the person is told what is true now.
    sheet = await _current(store, viewer, approval_id) if status == CONFLICT else None
    if sheet is None:
        return refused(code, status)
    vote = sheet.vote_of(viewer.subject) if code == "vote_already_cast" else sheet.ending_vote
    now = ApprovalAnswer.of(sheet, viewer).model_dump(mode="json")
    standing = vote_answer(vote)
    return refused(code, status, approval=now, decision=standing and standing.model_dump(mode="json"))


async def resolution_refused(store: BackOfficeStore, viewer: Principal, operation_id: str, code: str) -> Problem:
    """Say why an operator's word did not count; of a conflict also the operation as it is now."""
    status = STATUSES.get(code, CONFLICT)
    sheet = await store.operation(viewer, operation_id) if status == CONFLICT else None
    if sheet is None:
        return refused(code, status)
    return refused(code, status, operation=OperationAnswer.of(sheet, viewer).model_dump(mode="json"))


async def _current(store: BackOfficeStore, viewer: Principal, approval_id: str) -> ApprovalSheet | None:
    """The question that was decided on; the one that has taken its place when its content has changed since."""
    sheet = await store.approval(viewer, approval_id)
    if sheet is None or sheet.approval.state is not ApprovalState.VOID:
        return sheet
    operation = await store.operation(viewer, sheet.approval.operation_id)
    newest = max(operation.approvals if operation else (), key=lambda each: each.revision, default=None)
    return sheet if newest is None else await store.approval(viewer, newest.approval_id)
