"""Questions to the approvers: those that wait, one in full, and the one route that decides."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from adapters.http.back_office.audit_ports import AuditLog
from adapters.http.back_office.ports import ApprovalSheet, BackOfficeStore
from adapters.http.bodies import OPERATION_ID
from adapters.http.identity import caller_of
from adapters.http.office.answers import ApprovalAnswer, DecisionAnswer, VoteAnswer
from adapters.http.office.examples import HASH, example
from adapters.http.office.lists import ApprovalListAnswer, PendingFilter
from adapters.http.office.refusals import DecisionConflict, decision_refused, refused
from adapters.http.office.words import word_of
from adapters.http.office.writing import answer
from adapters.http.openapi import body_of, documented
from adapters.http.people import person_of
from workflows.domain.approval import Choice
from workflows.domain.errors import DecisionRefused
from workflows.domain.principal import Principal

MOST_REVISIONS = 2**31 - 1
"""What the store's column can hold."""


class DecisionBody(BaseModel):
    """The request body of `POST /v1/approvals/{approval_id}/decision`."""

    model_config = ConfigDict(extra="forbid", strict=True) | example(
        {"choice": "approve", "reason": "Seen the parcel.", "revision": 1, "intent_hash": HASH}
    )

    choice: Literal["approve", "deny"] = Field(description="This person's word.")
    reason: str = Field("", max_length=2000, description="Needed to deny.")
    revision: int = Field(ge=1, le=MOST_REVISIONS, description="The revision that was shown; never `the latest`.")
    intent_hash: str = Field(min_length=1, max_length=128, description="The intent hash that was shown.")


class ApprovalRoutes:
    """Routes about approvals."""

    def __init__(self, store: BackOfficeStore, audit: AuditLog) -> None:
        self._store, self._audit = store, audit

    def add_to(self, router: APIRouter) -> None:
        """Add the routes."""
        one = "/approvals/{approval_id}"
        router.add_api_route("/approvals", self.index, methods=["GET"], responses=documented(ApprovalListAnswer))
        router.add_api_route(one, self.show, methods=["GET"], responses=documented(ApprovalAnswer, 404))
        router.add_api_route(
            f"{one}/decision",
            self.decide,
            methods=["POST"],
            responses=documented(DecisionAnswer, 400, 404, 409, 413, conflict=DecisionConflict),
            openapi_extra=body_of(DecisionBody),
        )

    async def index(self, request: Request, asked: Annotated[PendingFilter, Query()]) -> Response:
        """What waits for a decision and has not expired, the nearest deadline first."""
        return answer(ApprovalListAnswer.of(await self._store.pending(person_of(request), asked.query())))

    async def show(self, request: Request, approval_id: str) -> Response:
        """One question in full: the server's own figures, what will be sent, who asks, the votes."""
        viewer = person_of(request)
        return answer(ApprovalAnswer.of(await self._sheet(viewer, approval_id), viewer))

    async def decide(self, request: Request, approval_id: str) -> Response:
        """Count one person's word on exactly the revision and intent that they were shown.

        The same word again is answered with the first one. What did not count is told with the approval as it is now.
        """
        viewer = caller_of(request)
        if not OPERATION_ID.fullmatch(approval_id):
            raise refused("not_found", 404)
        body = await word_of(request, DecisionBody, self._audit, viewer, "decision.refused")
        try:
            outcome = await self._store.decide(
                viewer, approval_id, Choice(body.choice), body.reason.strip(), body.revision, body.intent_hash
            )
        except DecisionRefused as refusal:
            raise await decision_refused(self._store, viewer, approval_id, refusal.code) from None
        return answer(
            DecisionAnswer(
                decision=VoteAnswer.model_validate(outcome.vote),
                state=outcome.state,
                approvals=outcome.approvals,
                quorum=outcome.quorum,
                repeated=outcome.repeated,
            )
        )

    async def _sheet(self, viewer: Principal, approval_id: str) -> ApprovalSheet:
        sheet = await self._store.approval(viewer, approval_id) if OPERATION_ID.fullmatch(approval_id) else None
        if sheet is None:
            raise refused("not_found", 404)
        return sheet
