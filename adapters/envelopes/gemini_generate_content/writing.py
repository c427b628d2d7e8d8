"""From results to the contents that go back."""

from collections.abc import Iterable
from typing import Any

from adapters import strict_json
from adapters.envelopes.doubles import exactly
from adapters.envelopes.envelope import ReadTurn
from adapters.envelopes.gemini_generate_content.calls import id_given_to
from workflows.domain.proposal import CallResult, Proposal, Status, require_complete_correlation


def write(turn: ReadTurn, results: Iterable[CallResult]) -> list[dict[str, Any]]:
    """Return the model's content and, if it holds calls, one user content with an answer to each; see `Envelope.write`.

    Calls without an id are told apart by their order alone, and any other part would break the count: nothing may be
    added to that content.
    """
    answers = require_complete_correlation(turn.proposals, results)
    parts = [_part(proposal, answer) for proposal, answer in zip(turn.proposals, answers, strict=True)]
    return [*turn.echo, *([{"role": "user", "parts": parts}] if parts else [])]


def _part(proposal: Proposal, result: CallResult) -> dict[str, Any]:
    told = {**id_given_to(proposal), "name": result.tool_name, "response": _response(result)}
    return {"functionResponse": told}


def _response(result: CallResult) -> dict[str, Any]:
    """Return the object under the one key that the model reads: `output` for a success, `error` for a failure.

    What stands beside these two keys need not reach the model, so the status is told inside.
    """
    body = result.body()
    strict_json.dump(body)  # the surface takes an object; what has no JSON form must not be handed over as one
    return {"output" if result.status is Status.SUCCEEDED else "error": exactly(body)}
