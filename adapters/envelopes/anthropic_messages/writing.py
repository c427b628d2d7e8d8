"""From results to the messages that go back."""

from collections.abc import Iterable
from typing import Any, Final

from adapters import strict_json
from adapters.envelopes.envelope import ReadTurn
from adapters.envelopes.shape import word_or_none
from workflows.domain.proposal import CallResult, Proposal, Status, require_complete_correlation

TOOL_SEARCH: Final = "tool_search"
"""The tool whose findings the provider itself shall unfold into definitions."""


def write(turn: ReadTurn, results: Iterable[CallResult]) -> list[dict[str, Any]]:
    """Return the assistant message and, if it holds calls, one user message; see `Envelope.write`.

    That message holds answers alone: text beside them would end the turn while work of the provider is under way.
    """
    answers = list(map(_answer, turn.proposals, require_complete_correlation(turn.proposals, results)))
    return [*turn.echo, *([{"role": "user", "content": answers}] if answers else [])]


def _answer(proposal: Proposal, result: CallResult) -> dict[str, Any]:
    return {
        "type": "tool_result",
        "tool_use_id": result.call_id,
        "is_error": result.status is not Status.SUCCEEDED,
        "content": _references(result) or strict_json.dump(result.body()),
        **proposal.carried,
    }


def _references(result: CallResult) -> list[dict[str, Any]]:
    """Return what a tool search has found; nothing if it is no search, or one that failed or found nothing."""
    names = _found_names(result.data) if result.tool_name == TOOL_SEARCH else []
    return [{"type": "tool_reference", "tool_name": name} for name in names]


def _found_names(data: Any) -> list[str]:
    found = data.get("tools") if isinstance(data, dict) else None
    if not isinstance(found, list):
        return []
    return [tool["name"] for tool in found if isinstance(tool, dict) and word_or_none(tool.get("name"))]
