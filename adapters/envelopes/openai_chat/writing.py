"""From results to the messages that go back."""

from collections.abc import Iterable
from typing import Any

from adapters import strict_json
from adapters.envelopes.envelope import ReadTurn
from adapters.envelopes.openai_chat.calls import is_legacy
from workflows.domain.proposal import CallResult, Proposal, require_complete_correlation


def write(turn: ReadTurn, results: Iterable[CallResult]) -> list[dict[str, Any]]:
    """Return the assistant message and one message for each of its calls; see `Envelope.write`."""
    answers = require_complete_correlation(turn.proposals, results)
    return [*turn.echo, *map(_answer, turn.proposals, answers)]


def _answer(proposal: Proposal, result: CallResult) -> dict[str, Any]:
    content = strict_json.dump(result.body())
    if is_legacy(proposal):
        return {"role": "function", "name": proposal.tool_name, "content": content}
    return {"role": "tool", "tool_call_id": result.call_id, "content": content}
