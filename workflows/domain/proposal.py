"""What a model asks for and what it gets back, in one normal form for every surface."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from workflows.domain.errors import CorrelationBroken, Detail, entry_of


@dataclass(frozen=True)
class Proposal:
    """One call that a model asks for. Not a command: nothing may run because of it alone.

    `arguments` is the parsed JSON value (integers exact, other numbers `Decimal`); `fault` is set when this call
    alone is unfit (its arguments are no strict JSON) so that its siblings keep their chance. `hosted`: the provider
    would run it itself and asks whether it may. `carried` is the surface's own: what its answer must give back
    untouched or be written by; nobody else reads it.
    """

    call_id: str
    tool_name: str
    arguments: Any
    fault: str | None = None
    fault_details: tuple[Detail, ...] = ()
    hosted: bool = False
    carried: Mapping[str, Any] = field(default_factory=dict, compare=False)


class Status(StrEnum):
    """The three ends of a call, as the surfaces are told."""

    SUCCEEDED = "succeeded"
    FAILED_RETRYABLE = "failed_retryable"
    FAILED_TERMINAL = "failed_terminal"


@dataclass(frozen=True)
class CallError:
    """Why a call has no data. Everything here may be shown to the model."""

    code: str
    details: tuple[Detail, ...] = ()
    operation_id: str | None = None
    retry_after_seconds: float | None = None

    def as_json(self) -> dict[str, Any]:
        """The envelope a model reads: code, kind, what it means, what to do next, and where to ask."""
        entry = entry_of(self.code)
        body: dict[str, Any] = {
            "code": self.code,
            "kind": entry.kind.value,
            "message": entry.meaning,
            "next_action": entry.next_action.value,
        }
        if self.details:
            body["details"] = [{"path": d.path, "code": d.code, "expected": d.expected} for d in self.details]
        if self.operation_id:
            body["operation_id"] = self.operation_id
        if self.retry_after_seconds is not None:
            body["retry_after_seconds"] = self.retry_after_seconds
        return body


@dataclass(frozen=True)
class CallResult:
    """One answer to one proposal: `data` on success, `error` on failure, never both.

    `final` is False while the operation behind the call is still open: the answer may be handed to a model, and the
    true one can be fetched later. `about` says of data where they come from, how old they are and what was cut.
    """

    call_id: str
    tool_name: str
    status: Status
    data: Any = None
    error: CallError | None = None
    operation_id: str | None = None
    final: bool = True
    about: Mapping[str, Any] = field(default_factory=dict)
    replayed: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        if (self.status is Status.SUCCEEDED) != (self.error is None):
            raise CorrelationBroken("non_terminal_result")

    def body(self) -> dict[str, Any]:
        """What every surface serialises: the status with data or error."""
        if self.error is None:
            about = {"about": dict(self.about)} if self.about else {}
            return {"status": self.status.value, "data": self.data, **about}
        return {"status": self.status.value, "error": self.error.as_json()}


def require_complete_correlation(proposals: Sequence[Proposal], results: Iterable[CallResult]) -> list[CallResult]:
    """Return the results in the order of their proposals, matched by call id alone.

    Raises:
        CorrelationBroken: a result is missing, doubled, unasked for or names another tool.
    """
    expected = {proposal.call_id: proposal.tool_name for proposal in proposals}
    found: dict[str, CallResult] = {}
    for result in results:
        _require_expected(result, expected, found)
        found[result.call_id] = result
    if found.keys() != expected.keys():
        raise CorrelationBroken("missing_result")
    return [found[proposal.call_id] for proposal in proposals]


def _require_expected(result: CallResult, expected: dict[str, str], found: dict[str, CallResult]) -> None:
    if not isinstance(result.status, Status):
        raise CorrelationBroken("non_terminal_result")
    if result.call_id in found:
        raise CorrelationBroken("duplicate_result")
    if result.call_id not in expected:
        raise CorrelationBroken("extra_result")
    if expected[result.call_id] != result.tool_name:
        raise CorrelationBroken("tool_name_mismatch")
