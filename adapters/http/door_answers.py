"""What the agents' door answers, for whoever reads its description; `adapters.intake` writes the answers."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from adapters.http.openapi import Fault
from workflows.domain.errors import ERRORS, Kind, NextAction
from workflows.domain.lifecycle import State
from workflows.domain.proposal import Status

_WAITS: dict[str, Any] = {
    "code": "approval_required",
    "kind": "not_started",
    "message": ERRORS["approval_required"].meaning,
    "next_action": "wait_and_query",
    "operation_id": "op_5f0c",
    "retry_after_seconds": 5.0,
}
_RESULT: dict[str, Any] = {
    "call_id": "call_1",
    "tool_name": "refund_payment",
    "status": "failed_retryable",
    "error": _WAITS,
    "operation_id": "op_5f0c",
    "final": False,
    "replayed": False,
    "duplicate_of": None,
    "ask_at": "/v1/operations/op_5f0c",
}
_DONE: dict[str, Any] = {
    "operation_id": "op_5f0c",
    "tool_name": "refund_payment",
    "state": "succeeded",
    "final": True,
    "data": {"refund_id": "rf-204"},
    "reference": "rf-204",
}


def _known_codes(schema: dict[str, Any]) -> None:
    """Name the catalogue in force; a tool that was taken away since may have left a code of its own."""
    schema["anyOf"] = [{"enum": sorted(ERRORS)}, {"type": "string"}]


class ErrorAnswer(BaseModel):
    """Why a call has no data, as the model is told it."""

    code: str = Field(json_schema_extra=_known_codes)
    kind: Kind
    message: str
    next_action: NextAction
    details: list[Fault] = []
    operation_id: str = ""
    retry_after_seconds: float = 0


class ResultAnswer(BaseModel):
    """One call's answer: `data` on success, `error` on failure, never both."""

    call_id: str
    tool_name: str
    status: Status
    data: Any = None
    about: dict[str, Any] = Field({}, description="Where the data come from, how old they are and what was cut.")
    error: ErrorAnswer | None = None
    operation_id: str | None
    final: bool = Field(description="false: asking again, or at `ask_at`, will tell more.")
    replayed: bool
    duplicate_of: str | None = Field(description="The call of the same turn that this one repeats.")
    ask_at: str | None


class TurnAnswer(BaseModel):
    """The answer to a turn."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "request_id": "msg_1",
                    "complete": False,
                    "paused": False,
                    "results": [_RESULT],
                    "append": [{"role": "assistant", "content": []}, {"role": "user", "content": []}],
                    "answers": [{"role": "user", "content": []}],
                    "tools": [],
                }
            ]
        }
    )

    request_id: str
    complete: bool = Field(description="Whether every result is final.")
    paused: bool = Field(description="The provider wants its response handed back as it is.")
    results: list[ResultAnswer]
    append: list[Any] = Field(description="What to append to the conversation, in the surface's own form.")
    answers: list[Any] = Field(description="The same without the model's own words.")
    tools: list[Any] = Field(description="Definitions that the next request needs too.")


class StandingAnswer(BaseModel):
    """Where an operation stands."""

    model_config = ConfigDict(json_schema_extra={"examples": [_DONE]})

    operation_id: str
    tool_name: str
    state: State
    final: bool
    data: Any = None
    error: ErrorAnswer | None = None
    reference: str | None = Field(None, description="The downstream's own id of the effect.")


class CancelAnswer(StandingAnswer):
    """Where an operation stands after a wish that it stop, and what came of the wish."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    **_DONE,
                    "cancellation": {
                        "code": "cancel_too_late",
                        "kind": "refused",
                        "message": ERRORS["cancel_too_late"].meaning,
                        "next_action": "do_not_retry",
                    },
                }
            ]
        }
    )

    cancellation: ErrorAnswer


class ToolsAnswer(BaseModel):
    """Tools in a surface's own form."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "surface": "anthropic-messages",
                    "tools": [{"name": "get_order", "description": "…", "input_schema": {"type": "object"}}],
                    "request": {},
                }
            ]
        }
    )

    surface: str
    tools: list[Any]
    request: dict[str, Any] = Field(description="What else the model's request must have.")
