"""Operations: the search, what is stuck, one in full, and operators' words on what nobody could find out."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from adapters.http.back_office.audit_ports import AuditLog
from adapters.http.back_office.ports import BackOfficeStore
from adapters.http.bodies import OPERATION_ID
from adapters.http.identity import caller_of
from adapters.http.office.answers import OperationAnswer
from adapters.http.office.examples import example
from adapters.http.office.lists import OperationFilter, OperationListAnswer, StuckAnswer
from adapters.http.office.refusals import ResolutionConflict, refused, resolution_refused
from adapters.http.office.words import word_of
from adapters.http.office.writing import answer
from adapters.http.openapi import body_of, documented
from adapters.http.people import person_of
from workflows.domain.errors import ResolutionRefused
from workflows.domain.resolution import Finding, Resolution

MOST_GENERATIONS = 2**31 - 1
"""What the store's column can hold."""


class ResolutionBody(BaseModel):
    """The request body of `POST /v1/operations/{operation_id}/resolution`."""

    model_config = ConfigDict(extra="forbid", strict=True) | example(
        {"finding": "happened", "evidence": "The provider's own console.", "reference": "rf-204", "generation": 1}
    )

    finding: Literal["happened", "did_not_happen", "abandoned"] = Field(description="What has been found out.")
    evidence: str = Field(max_length=4000, description="Where you looked and what you saw.")
    reference: str = Field("", max_length=200, description="The downstream's own id of the effect, if it happened.")
    item: str = Field("", max_length=200, description="The item of a batch that the word is about.")
    generation: int = Field(
        ge=1, le=MOST_GENERATIONS, description="The claim's generation as it was shown to you.", examples=[1]
    )


class OperationRoutes:
    """Routes about operations."""

    def __init__(self, store: BackOfficeStore, audit: AuditLog) -> None:
        self._store, self._audit = store, audit

    def add_to(self, router: APIRouter) -> None:
        """Add the routes."""
        one = "/operations/{operation_id}"
        router.add_api_route("/operations", self.index, methods=["GET"], responses=documented(OperationListAnswer))
        router.add_api_route("/stuck", self.stuck, methods=["GET"], responses=documented(StuckAnswer))
        router.add_api_route(f"{one}/sheet", self.show, methods=["GET"], responses=documented(OperationAnswer, 404))
        router.add_api_route(
            f"{one}/resolution",
            self.resolve,
            methods=["POST"],
            status_code=204,
            responses=documented(None, 400, 404, 409, 413, conflict=ResolutionConflict),
            openapi_extra=body_of(ResolutionBody),
        )

    async def index(self, request: Request, asked: Annotated[OperationFilter, Query()]) -> Response:
        """The operations that are meant, the newest first."""
        return answer(OperationListAnswer.of(await self._store.operations(person_of(request), asked.query())))

    async def stuck(self, request: Request) -> Response:
        """What does not go on by itself: by reason, the oldest first, with the amounts that hang on it."""
        return answer(StuckAnswer.of(await self._store.stuck(person_of(request))))

    async def show(self, request: Request, operation_id: str) -> Response:
        """One operation in full: timeline, evidence, sends, generation, the downstream's reference, what was said."""
        viewer = person_of(request)
        sheet = await self._store.operation(viewer, operation_id) if OPERATION_ID.fullmatch(operation_id) else None
        if sheet is None:
            raise refused("not_found", 404)
        return answer(OperationAnswer.of(sheet, viewer))

    async def resolve(self, request: Request, operation_id: str) -> Response:
        """Say what became of an effect that nobody else could find out; only an operator who is a person may.

        The same word again changes nothing. What did not count is told with the operation as it is now.
        """
        operator = caller_of(request)
        if not OPERATION_ID.fullmatch(operation_id):
            raise refused("not_found", 404)
        body = await word_of(request, ResolutionBody, self._audit, operator, "resolution.refused")
        word = Resolution(Finding(body.finding), body.evidence, body.reference, body.generation, body.item)
        try:
            await self._store.resolve(operator, operation_id, word)
        except ResolutionRefused as refusal:
            raise await resolution_refused(self._store, operator, operation_id, refusal.code) from None
        return Response(status_code=204)
