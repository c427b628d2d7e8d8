"""What the door answers. A member that this version does not know yet is left out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Result:
    """The answer to one call.

    `status` is `succeeded` (then `data` is the tool's result), `failed_retryable` or `failed_terminal` (then `error`
    has `code`, `kind`, `message`, `next_action` and perhaps more). `final` False: the operation is still open, and the
    same response handed in again tells more. `replayed`: it had ended before this delivery. `duplicate_of` names the
    call of the same response that asked for the same act first; both have its answer.
    """

    call_id: str
    tool_name: str
    status: str
    data: Any = None
    error: Mapping[str, Any] | None = None
    operation_id: str | None = None
    final: bool = True
    replayed: bool = False
    duplicate_of: str | None = None

    @property
    def code(self) -> str | None:
        """The error's code, None after success."""
        return None if self.error is None else self.error["code"]


@dataclass(frozen=True)
class Turn:
    """The answer to one response of a model.

    `append` holds the exact messages to add to the conversation, the model's own included; `answers` holds them without
    the model's own, for a provider that keeps the conversation itself. `complete`: every result is final, so asking
    again tells nothing new. `paused`: the provider has stopped in the middle of its own work and goes on when it is
    sent what is to be appended. `tools` are definitions to add to the next request's tools: a search has found them.
    """

    request_id: str
    complete: bool
    results: tuple[Result, ...]
    append: list[dict[str, Any]]
    answers: list[dict[str, Any]] = field(default_factory=list)
    paused: bool = False
    tools: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class Operation:
    """Where an operation stands. `data`, or `error`, is there once it has ended; `reference` is the receipt."""

    operation_id: str
    tool_name: str
    state: str
    final: bool
    data: Any = None
    error: Mapping[str, Any] | None = None
    reference: str | None = None


@dataclass(frozen=True)
class Cancellation:
    """What came of the wish to cancel: `canceled`, `cancel_too_late` or `cancel_pending`, and the operation by then."""

    code: str
    operation: Operation


@dataclass(frozen=True)
class Offer:
    """What a request to the model may list: `tools`, and what else it must have (`request`, by the member's name)."""

    tools: list[dict[str, Any]]
    request: Mapping[str, list[dict[str, Any]]] = field(default_factory=dict)


def offer_from(body: Mapping[str, Any]) -> Offer:
    """Read the answer of `GET /v1/tools`."""
    return Offer(list(body["tools"]), dict(body.get("request", {})))


def turn_from(body: Mapping[str, Any]) -> Turn:
    """Read the answer of `POST /v1/turns`."""
    results = tuple(_result(each) for each in body["results"])
    return Turn(
        body["request_id"],
        body["complete"],
        results,
        list(body["append"]),
        list(body.get("answers", ())),
        body.get("paused", False),
        list(body.get("tools", ())),
    )


def operation_from(body: Mapping[str, Any]) -> Operation:
    """Read the answer of `GET /v1/operations/{id}`."""
    return Operation(
        body["operation_id"],
        body["tool_name"],
        body["state"],
        body["final"],
        body.get("data"),
        body.get("error"),
        body.get("reference"),
    )


def cancellation_from(body: Mapping[str, Any]) -> Cancellation:
    """Read the answer of `POST /v1/operations/{id}/cancel`."""
    return Cancellation(body["cancellation"]["code"], operation_from(body))


def _result(body: Mapping[str, Any]) -> Result:
    return Result(
        body["call_id"],
        body["tool_name"],
        body["status"],
        body.get("data"),
        body.get("error"),
        body.get("operation_id"),
        body["final"],
        body["replayed"],
        body.get("duplicate_of"),
    )
