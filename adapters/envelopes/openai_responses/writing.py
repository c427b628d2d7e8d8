"""From results to the items that go back."""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

from adapters import strict_json
from adapters.envelopes.envelope import ReadTurn
from adapters.envelopes.openai_responses.calls import ASYNC, CALLER, KIND, NAMESPACE
from adapters.envelopes.openai_responses.definitions import found_definitions
from adapters.envelopes.openai_responses.items import APPROVAL, CUSTOM, FUNCTION, SEARCH
from workflows.domain.proposal import CallError, CallResult, Proposal, Status, require_complete_correlation

MAX_REASON: Final = 200
"""Characters of the reason for not approving; a model reads it."""


def write(turn: ReadTurn, results: Iterable[CallResult]) -> list[dict[str, Any]]:
    """Return the output items and one answer to each call that is answered now; see `Envelope.write`.

    While its result is not final, a call that is `async` and a request for approval have no answer: the provider takes
    it later, and one that was given stands for ever.
    """
    ordered = require_complete_correlation(turn.proposals, results)
    answered = [(call, result) for call, result in zip(turn.proposals, ordered, strict=True) if _is_due(call, result)]
    return [*turn.echo, *(_ANSWERS[call.carried[KIND]](call, result) for call, result in answered)]


def _is_due(proposal: Proposal, result: CallResult) -> bool:
    return result.final or not (proposal.hosted or proposal.carried.get(ASYNC))


def _function(proposal: Proposal, result: CallResult) -> dict[str, Any]:
    return _output("function_call_output", proposal, result, (CALLER, NAMESPACE))


def _custom(proposal: Proposal, result: CallResult) -> dict[str, Any]:
    return _output("custom_tool_call_output", proposal, result, (CALLER,))


def _output(kind: str, proposal: Proposal, result: CallResult, given_back: tuple[str, ...]) -> dict[str, Any]:
    answer = {"type": kind, "call_id": result.call_id, "output": strict_json.dump(result.body())}
    return answer | {key: proposal.carried[key] for key in given_back if key in proposal.carried}


def _search(_: Proposal, result: CallResult) -> dict[str, Any]:
    """The surface cannot tell that a search failed: one without data has found nothing."""
    strict_json.dump(result.body())  # it is no text here, and is held to the rules of text
    return {
        "type": "tool_search_output",
        "call_id": result.call_id,
        "execution": "client",
        "status": "completed",
        "tools": found_definitions(result.data),
    }


def _approval(_: Proposal, result: CallResult) -> dict[str, Any]:
    answer = {"type": "mcp_approval_response", "approval_request_id": result.call_id}
    if result.status is Status.SUCCEEDED:
        return answer | {"approve": True}
    return answer | {"approve": False, "reason": _reason(result.error)}


def _reason(error: CallError | None) -> str:
    told = {} if error is None else error.as_json()
    return f"{told.get('code')}: {told.get('message')}"[:MAX_REASON]


_ANSWERS: Final[Mapping[str, Callable[[Proposal, CallResult], dict[str, Any]]]] = MappingProxyType(
    {FUNCTION: _function, CUSTOM: _custom, SEARCH: _search, APPROVAL: _approval}
)
