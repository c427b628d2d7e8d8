"""The agents' door over HTTP: hand in a model's response, get back the messages to append."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from adapters import strict_json
from adapters.http.bodies import OPERATION_ID, entries, read_body
from adapters.http.door_answers import CancelAnswer, StandingAnswer, ToolsAnswer, TurnAnswer
from adapters.http.identity import BearerIdentity, caller_of
from adapters.http.openapi import body_of, documented
from adapters.http.problems import Problem
from adapters.intake.answers import told_of
from adapters.intake.cancels import Cancels
from adapters.intake.offers import Offers
from adapters.intake.ports import Progress
from adapters.intake.searches import Shortlists
from adapters.intake.turns import TurnOrder, Turns
from workflows.domain.errors import ERRORS, ResponseRefused
from workflows.domain.proposal import CallError

LONGEST_BODY = 8 * 1024 * 1024
"""Bytes of one request body."""

LONGEST_WAIT = 60.0
"""Seconds that a caller may wait in one request; longer than this, ask again."""

CANCEL_WAIT = 5.0
"""Seconds that a wish to cancel is given to take effect before the caller is answered."""

_CALL: dict[str, Any] = {"type": "tool_use", "id": "call_1", "name": "get_order", "input": {"order_id": "O-17"}}
_EXAMPLE: dict[str, Any] = {
    "surface": "anthropic-messages",
    "response": {"id": "msg_1", "role": "assistant", "stop_reason": "tool_use", "content": [_CALL]},
    "wait_seconds": 10,
}


class TurnBody(BaseModel):
    """The request body of `POST /v1/turns`."""

    model_config = ConfigDict(extra="forbid", strict=True, json_schema_extra={"examples": [_EXAMPLE]})

    surface: str = Field(description="The provider API that the response came from.", examples=["anthropic-messages"])
    response: Any = Field(None, description="The provider's response, unchanged.")
    events: list[Any] | None = Field(
        None, min_length=1, description="In place of `response`: every event of its stream, in order, each as JSON."
    )
    output_limit: int | None = Field(
        None,
        ge=1,
        description="The most output tokens that the request allowed: a response that took them all may have been cut.",
    )
    request_id: str | None = Field(
        None, min_length=1, max_length=200, description="Names this model response; default: the response's own id."
    )
    wait_seconds: float | int = Field(10, ge=0, le=LONGEST_WAIT, description="How long to wait for results.")
    conversation: str = Field(
        "", max_length=200, description="Your conversation's id: failed corrections are counted together within it."
    )
    wait_for: Literal["progress", "end"] = Field(
        "progress", description="`progress`: answer as soon as only people are waited for. `end`: wait for them too."
    )

    @model_validator(mode="after")
    def _one_of_both(self) -> "TurnBody":
        if (self.response is None) is (self.events is None):
            raise PydanticCustomError("one_of_both", "either response or events")
        return self


DESCRIBED = (TurnBody, TurnAnswer, StandingAnswer, CancelAnswer, ToolsAnswer)
"""What the routes take and answer."""


class Doors:
    """The routes of the agents' door."""

    def __init__(
        self,
        turns: Turns,
        cancels: Cancels,
        offers: Offers,
        shortlists: Shortlists,
        progress: Progress,
        caller: BearerIdentity,
    ) -> None:
        self._turns, self._cancels, self._offers, self._progress = turns, cancels, offers, progress
        self._shortlists, self._caller = shortlists, caller

    def router(self) -> APIRouter:
        """The routes, for the application to include."""
        router = APIRouter(prefix="/v1", dependencies=[Depends(self._caller)], tags=["agents"])
        one = "/operations/{operation_id}"
        taken, body = documented(TurnAnswer, 400, 413), body_of(TurnBody)
        router.add_api_route("/turns", self.take_turn, methods=["POST"], responses=taken, openapi_extra=body)
        router.add_api_route(one, self.operation, methods=["GET"], responses=documented(StandingAnswer, 404))
        router.add_api_route(f"{one}/cancel", self.cancel, methods=["POST"], responses=documented(CancelAnswer, 404))
        router.add_api_route("/tools", self.tools, methods=["GET"], responses=documented(ToolsAnswer))
        return router

    async def take_turn(self, request: Request) -> Response:
        """Hand in a model's response; each call is judged, carried out and answered. Safe to repeat."""
        principal = caller_of(request)
        body = await read_body(request, TurnBody, LONGEST_BODY, _plain_wait)
        order = TurnOrder(
            surface=body.surface,
            response=body.response,
            events=body.events,
            output_limit=body.output_limit,
            request_id=body.request_id,
            wait_seconds=float(body.wait_seconds),
            wait_for_people=body.wait_for == "end",
            conversation=body.conversation,
        )
        try:
            answer = await self._turns.take(principal, order)
        except ResponseRefused as refused:
            raise _problem(refused) from None
        return _json(
            {
                "request_id": answer.request_id,
                "complete": answer.complete,
                "paused": answer.paused,
                "results": [told_of(each, answer.duplicates.get(each.call_id)) for each in answer.results],
                "append": list(answer.append),
                "answers": list(answer.answers),
                "tools": list(answer.tools),
            }
        )

    async def operation(self, request: Request, operation_id: str) -> Response:
        """Where an operation stands, and its result once it has ended."""
        principal = caller_of(request)
        known = [operation_id] if OPERATION_ID.fullmatch(operation_id) else []
        standing = (await self._progress.standings(principal, known)).get(operation_id)
        if standing is None:
            raise _absent()
        return _json(standing.as_json())

    async def cancel(self, request: Request, operation_id: str) -> Response:
        """Take an operation back. It stops if nothing was sent yet; `cancellation` says what came of the wish."""
        principal = caller_of(request)
        known = OPERATION_ID.fullmatch(operation_id)
        answer = await self._cancels.cancel(principal, operation_id, CANCEL_WAIT) if known else None
        if answer is None:
            raise _absent()
        return _json(answer.standing.as_json() | {"cancellation": CallError(answer.code).as_json()})

    async def tools(
        self,
        request: Request,
        surface: Annotated[str, Query(description="The provider API whose form is wanted, such as openai-responses.")],
        search: Annotated[str, Query(description="Who finds what is deferred: `ours`, or the `provider`.")] = "ours",
        query: Annotated[str, Query(description="What the user wants, in their words: only the few that fit.")] = "",
        limit: Annotated[int, Query(description="How many tools `query` finds at most, 1 to 10.", examples=[5])] = 5,
        conversation: Annotated[str, Query(description="Where the tools that `query` finds may be called.")] = "",
    ) -> Response:
        """The tools that may be offered to the model for this caller, in a surface's own form.

        With `query` only the few that fit it, 1 to 10 at most. `search` says who finds tools that are deferred: `ours`
        or the `provider`. `request` names what else the model's request must have, such as servers that the provider
        may call.
        """
        principal = caller_of(request)
        try:
            listing = (
                await self._shortlists.of(principal, surface, query, limit, conversation)
                if query
                else self._offers.to(principal, surface, search)
            )
        except ResponseRefused as refused:
            raise _problem(refused) from None
        return _json({"surface": surface, "tools": listing.tools, "request": listing.request})


def _absent() -> Problem:
    return Problem(404, "not_found", "There is no such operation for this caller.")


def _plain_wait(parsed: Any) -> Any:
    """A patience such as 2.5 may be written as a fraction; everything else stays as it was parsed."""
    if isinstance(parsed, dict) and "wait_seconds" in parsed and not isinstance(parsed["wait_seconds"], str | bool):
        try:
            return {**parsed, "wait_seconds": float(parsed["wait_seconds"])}
        except (TypeError, OverflowError):
            return parsed
    return parsed


def _problem(refused: ResponseRefused) -> Problem:
    entry = ERRORS[refused.code]
    return Problem(
        422,
        refused.code,
        entry.meaning,
        kind=entry.kind.value,
        next_action=entry.next_action.value,
        errors=entries(refused.details),
    )


def _json(value: Any) -> Response:
    return Response(strict_json.dump(value), media_type="application/json")
