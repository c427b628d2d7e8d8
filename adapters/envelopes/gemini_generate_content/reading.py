"""From a whole response to what it asks for."""

from typing import Any, Final

from adapters.envelopes import stop_signal
from adapters.envelopes.envelope import ReadTurn, Spent
from adapters.envelopes.gemini_generate_content.calls import asks, proposals_of
from adapters.envelopes.gemini_generate_content.finish_reasons import FINISH_REASONS, require_fit
from adapters.envelopes.gemini_generate_content.hosted import hosted_calls
from adapters.envelopes.shape import (
    as_object,
    as_objects,
    count_or_none,
    member,
    refuse,
    require_distinct_ids,
    require_one_of,
    word_or_none,
)
from adapters.envelopes.stop_signal import Meaning
from workflows.domain.proposal import Proposal

SURFACE: Final = "gemini-generate-content"

_FIRST: Final = "/candidates/0"
_PARTS: Final = f"{_FIRST}/content/parts"


def read(response: Any) -> ReadTurn:
    """Read one GenerateContentResponse; see `Envelope.read`.

    Paused: the caller sends its request again with the candidate's `continuationToken`.
    """
    root = as_object(response, "")
    require_not_blocked(root)
    candidate = _only_candidate(root)
    signal = require_fit(candidate.get("finishReason"), f"{_FIRST}/finishReason")
    content = content_of(candidate, _FIRST)
    parts = parts_of(content, _PARTS)
    paused = signal.meaning is Meaning.PAUSED
    proposals = () if paused else _proposals(parts, signal)
    request_id = word_or_none(root.get("responseId"))
    spent = _spent(root.get("usageMetadata"))
    return ReadTurn(
        SURFACE, request_id, proposals, _echo(content, parts), hosted_calls(parts), paused=paused, spent=spent
    )


def _spent(usage: Any) -> Spent:
    said, thought = (count_or_none(member(usage, name)) for name in ("candidatesTokenCount", "thoughtsTokenCount"))
    return Spent(None if said is None else said + (thought or 0))


def require_not_blocked(root: dict[str, Any]) -> None:
    """Refuse a response that says why there is none.

    Raises:
        ResponseRefused: refused_response.
    """
    feedback = root.get("promptFeedback")
    if isinstance(feedback, dict) and feedback.get("blockReason"):
        refuse("refused_response", "/promptFeedback/blockReason", "prompt_blocked", "a prompt that was not blocked")


def content_of(candidate: dict[str, Any], path: str) -> dict[str, Any]:
    """Return what the model said; a candidate that was stopped may have said nothing.

    Raises:
        ResponseRefused: malformed_envelope.
    """
    content = candidate.get("content")
    found = {} if content is None else as_object(content, f"{path}/content")
    require_one_of(found.get("role"), (None, "model"), f"{path}/content/role")
    return found


def parts_of(content: dict[str, Any], path: str) -> list[dict[str, Any]]:
    """Return the parts of a content; one that says nothing may have none.

    Raises:
        ResponseRefused: malformed_envelope.
    """
    return [] if content.get("parts") is None else as_objects(content["parts"], path)


def _only_candidate(root: dict[str, Any]) -> dict[str, Any]:
    """Return the candidate to act on: the first of several only if none of them asks for anything."""
    candidates = as_objects(root.get("candidates"), "/candidates")
    if not candidates:
        refuse("malformed_envelope", "/candidates", "empty", "one candidate")
    if len(candidates) > 1 and any(_has_calls(candidate) for candidate in candidates):
        refuse(
            "malformed_envelope", "/candidates", "several_candidates_with_calls", "one candidate when there are calls"
        )
    return candidates[0]


def _has_calls(candidate: dict[str, Any]) -> bool:
    content = candidate.get("content")
    parts = content.get("parts") if isinstance(content, dict) else None
    return isinstance(parts, list) and any(isinstance(part, dict) and asks(part) for part in parts)


def _proposals(parts: list[dict[str, Any]], signal: stop_signal.Signal) -> tuple[Proposal, ...]:
    proposals = proposals_of(parts, _PARTS)
    require_distinct_ids(proposals, _PARTS)
    reason = f"{_FIRST}/finishReason"
    stop_signal.require_agreement(signal, has_calls=bool(proposals), path=reason, table=FINISH_REASONS)
    return proposals


def _echo(content: dict[str, Any], parts: list[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
    """Return the content as it came. Without parts there is nothing to send back; without a role it is a user's."""
    return ({**content, "role": "model"},) if parts else ()
