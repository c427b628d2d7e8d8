"""The API for a company's own back office: list, show, decide, resolve. The pages' store, and no rule of its own.

    app.include_router(BackOfficeApi(store, PersonIdentity(verifier, audience), audit).router())

Only people come in here, with a token for this API; see `adapters.http.people`. Texts that others wrote are given as
they are: whoever shows them makes them inert.
"""

from fastapi import APIRouter, Depends

from adapters.http.back_office.audit_ports import AuditLog
from adapters.http.back_office.ports import BackOfficeStore
from adapters.http.office.answers import ApprovalAnswer, DecisionAnswer, OperationAnswer
from adapters.http.office.approvals import ApprovalRoutes, DecisionBody
from adapters.http.office.lists import ApprovalListAnswer, OperationListAnswer, StuckAnswer, each_once
from adapters.http.office.operations import OperationRoutes, ResolutionBody
from adapters.http.office.refusals import DecisionConflict, ResolutionConflict
from adapters.http.people import PersonIdentity

__all__ = ["DESCRIBED", "BackOfficeApi"]

DESCRIBED = (
    ApprovalListAnswer,
    ApprovalAnswer,
    DecisionBody,
    DecisionAnswer,
    DecisionConflict,
    OperationListAnswer,
    OperationAnswer,
    ResolutionBody,
    ResolutionConflict,
    StuckAnswer,
)
"""What its routes take and answer."""


class BackOfficeApi:
    """The routes."""

    def __init__(self, store: BackOfficeStore, person: PersonIdentity, audit: AuditLog) -> None:
        self._approvals, self._operations = ApprovalRoutes(store, audit), OperationRoutes(store, audit)
        self._person = person

    def router(self) -> APIRouter:
        """The routes, for the application to include. The token is looked at before anything else is."""
        router = APIRouter(prefix="/v1", dependencies=[Depends(self._person), Depends(each_once)], tags=["back office"])
        self._approvals.add_to(router)
        self._operations.add_to(router)
        return router
