"""From results to the steps that go back."""

from collections.abc import Iterable
from typing import Any

from adapters import strict_json
from adapters.envelopes.doubles import exactly
from adapters.envelopes.envelope import ReadTurn
from adapters.envelopes.gemini_interactions.steps import RESULT, is_search
from workflows.domain.proposal import CallResult, Proposal, Status, require_complete_correlation


def write(turn: ReadTurn, results: Iterable[CallResult]) -> list[dict[str, Any]]:
    """Return all steps as they came and one result for each call; see `Envelope.write`."""
    answers = require_complete_correlation(turn.proposals, results)
    return [*turn.echo, *map(_answer, turn.proposals, answers)]


def _answer(proposal: Proposal, result: CallResult) -> dict[str, Any]:
    told = _told(proposal, result)
    strict_json.dump(told)  # the surface takes objects; what has no JSON form must not be handed over as one
    return {
        "type": RESULT,
        "call_id": result.call_id,
        "name": result.tool_name,
        "result": exactly(told),
        "is_error": result.status is not Status.SUCCEEDED,
    }


def _told(proposal: Proposal, result: CallResult) -> Any:
    """Return what the model reads: the status with data or error. A search's list of definitions goes as it is.

    The provider takes the tools for its next turn from that list, which holds entries as `render` gives them.
    """
    found = is_search(proposal) and isinstance(result.data, list)
    return result.data if found else result.body()
