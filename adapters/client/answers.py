"""What the door answers. A member that this version does not know yet is left out."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Result:
    """The answer to one call.

    `status` is `succeeded` (then `data` is the tool's result), `failed_retryable` or `failed_terminal` (then `error`
    has `code`, `kind`, `message`, `next_action` and perhaps more). `final` False: the operation is still open, and the
    same response handed in again tells more. `replayed`: it had ended before this delivery.
    """

    call_id: str
    tool_name: str
    status: str
    data: Any = None
    error: Mapping[str, Any] | None = None
    operation_id: str | None = None
    final: bool = True
    replayed: bool = False

    @property
    def code(self) -> str | None:
        """The error's code, None after success."""
        return None if self.error is None else self.error["code"]


@dataclass(frozen=True)
class Turn:
    """The answer to one response of a model.

    `append` holds the exact messages to add to the conversation, the model's own included. `complete`: every result
    is final, so asking again tells nothing new.
    """

    request_id: str
    complete: bool
    results: tuple[Result, ...]
    append: list[dict[str, Any]]


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


def turn_from(body: Mapping[str, Any]) -> Turn:
    """Read the answer of `POST /v1/turns`."""
    results = tuple(_result(each) for each in body["results"])
    return Turn(body["request_id"], body["complete"], results, list(body["append"]))


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
    )
