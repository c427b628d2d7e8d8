"""Operators' words over HTTP, for a company's own back office: the same rule as on our page, and no agent passes it."""

from typing import Literal, Protocol

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from adapters.http.bodies import OPERATION_ID, read_body
from adapters.http.identity import BearerIdentity
from adapters.http.problems import Problem
from workflows.domain.errors import ERRORS, ResolutionRefused
from workflows.domain.principal import Principal
from workflows.domain.resolution import Finding, Resolution

LONGEST_BODY = 64 * 1024
"""Bytes."""

MOST_GENERATIONS = 2**31 - 1
"""What the store's column can hold."""

STATUSES = {
    "not_found": 404,
    "operator_not_allowed": 403,
    "resolution_evidence_required": 422,
    "resolution_reference_required": 422,
}
"""HTTP status by code; every other refusal is a conflict with what is stored."""


class ResolutionBody(BaseModel):
    """The request body of `POST /v1/operations/{operation_id}/resolution`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    finding: Literal["happened", "did_not_happen", "abandoned"] = Field(description="What has been found out.")
    evidence: str = Field(max_length=4000, description="Where you looked and what you saw.")
    reference: str = Field("", max_length=200, description="The downstream's own id of the effect, if it happened.")
    item: str = Field("", max_length=200, description="The item of a batch that the word is about.")
    generation: int = Field(
        ge=1, le=MOST_GENERATIONS, description="The claim's generation as it was shown to you.", examples=[1]
    )


class Resolver(Protocol):
    """Takes the words; see `adapters.http.back_office.ports.BackOfficeStore`."""

    async def resolve(self, viewer: Principal, operation_id: str, word: Resolution) -> None: ...  # noqa: D102


class ResolutionDoor:
    """The route for operators' words."""

    def __init__(self, resolver: Resolver, caller: BearerIdentity) -> None:
        self._resolver, self._caller = resolver, caller

    def router(self) -> APIRouter:
        """The route, for the application to include."""
        router = APIRouter(prefix="/v1")
        schema = {"requestBody": {"required": True, "content": {"application/json": {"schema": _SCHEMA}}}}
        path = "/operations/{operation_id}/resolution"
        router.add_api_route(path, self.resolve, methods=["POST"], status_code=204, openapi_extra=schema)
        return router

    async def resolve(self, request: Request, operation_id: str) -> Response:
        """Say what became of an effect that nobody else could find out; only an operator who is a person may."""
        operator = await self._caller(request)
        if not OPERATION_ID.fullmatch(operation_id):
            raise _problem("not_found")
        body = await read_body(request, ResolutionBody, LONGEST_BODY)
        word = Resolution(Finding(body.finding), body.evidence, body.reference, body.generation, body.item)
        try:
            await self._resolver.resolve(operator, operation_id, word)
        except ResolutionRefused as refused:
            raise _problem(refused.code) from None
        return Response(status_code=204)


_SCHEMA = ResolutionBody.model_json_schema()


def _problem(code: str) -> Problem:
    entry = ERRORS[code]
    return Problem(
        STATUSES.get(code, 409), code, entry.meaning, kind=entry.kind.value, next_action=entry.next_action.value
    )
