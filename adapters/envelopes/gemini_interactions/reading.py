"""From a whole interaction to what it asks for."""

from typing import Any, Final

from adapters.envelopes import stop_signal
from adapters.envelopes.envelope import ReadTurn, Spent
from adapters.envelopes.gemini_interactions.hosted import found_tools, hosted_calls
from adapters.envelopes.gemini_interactions.statuses import STATUSES
from adapters.envelopes.gemini_interactions.steps import SEARCH_TOOL, proposals_of, steps_of
from adapters.envelopes.shape import (
    as_object,
    as_word,
    count_or_none,
    member,
    require_distinct_ids,
    require_one_of,
    word_or_none,
)
from adapters.envelopes.stop_signal import Calls, Meaning, Signal
from workflows.domain.proposal import Proposal

SURFACE: Final = "gemini-interactions"


def read(response: Any) -> ReadTurn:
    """Read one Interaction; see `Envelope.read`.

    Paused: the caller goes on with the interaction's `continuation_token`.
    """
    root = as_object(response, "")
    require_one_of(root.get("object"), (None, "interaction"), "/object")
    signal = _signal(root)
    steps = steps_of(root)
    paused = signal.meaning is Meaning.PAUSED
    proposals = () if paused else _proposals(root, steps, signal)
    request_id = word_or_none(root.get("id"))
    spent = _spent(root.get("usage"))
    return ReadTurn(
        SURFACE, request_id, proposals, tuple(steps), hosted_calls(steps), found_tools(steps), paused, spent
    )


def _spent(usage: Any) -> Spent:
    said, thought = (count_or_none(member(usage, name)) for name in ("total_output_tokens", "total_thought_tokens"))
    return Spent(None if said is None else said + (thought or 0))


def _signal(root: dict[str, Any]) -> Signal:
    status = as_word(root.get("status"), "/status", "malformed_envelope")
    signal = stop_signal.look_up(STATUSES, status)
    stop_signal.require_not_broken_off(signal, "/status")
    return signal


def _proposals(root: dict[str, Any], steps: list[dict[str, Any]], signal: Signal) -> tuple[Proposal, ...]:
    searches_here = signal.calls is not Calls.NEVER and not _provider_searches(root)
    proposals = proposals_of(steps, searches_here)
    require_distinct_ids(proposals, "/steps")
    stop_signal.require_agreement(signal, has_calls=bool(proposals), path="/status", table=STATUSES)
    return proposals


def _provider_searches(root: dict[str, Any]) -> bool:
    """Whether the interaction repeats its tools and says of the search that it is the provider's."""
    tools = root.get("tools")
    declared = [tool for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []
    searches = [tool.get("execution") for tool in declared if tool.get("type") == SEARCH_TOOL]
    return bool(searches) and "client" not in searches
