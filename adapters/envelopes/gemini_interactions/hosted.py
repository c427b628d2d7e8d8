"""What the provider has done itself."""

from collections.abc import Mapping, Sequence, Set
from typing import Any

from adapters.envelopes.envelope import HostedCall
from adapters.envelopes.gemini_interactions.steps import (
    CALL,
    PROVIDER_RUN,
    RESULT,
    RESULTS,
    SEARCH,
    SEARCH_RESULT,
    is_answered,
    results_by_call,
)
from adapters.envelopes.shape import word_or_none


def hosted_calls(steps: Sequence[dict[str, Any]]) -> tuple[HostedCall, ...]:
    """Return the provider's own calls in their order, each with what its result says.

    A result whose call came in an earlier response is told under its own kind.
    """
    results = results_by_call(steps)
    calls = {word_or_none(step.get("id")) for step in steps}
    return tuple(
        _hosted(step, index, results)
        for index, step in enumerate(steps)
        if _is_hosted_call(step, results) or _is_late_result(step, calls)
    )


def found_tools(steps: Sequence[dict[str, Any]]) -> frozenset[str]:
    """Return the names of the tools that the provider's own search has brought up."""
    found = [step.get("result") for step in steps if step["type"] == SEARCH_RESULT]
    tools = [tool for result in found if isinstance(result, list) for tool in result if isinstance(tool, dict)]
    return frozenset(name for tool in tools if (name := word_or_none(tool.get("name"))))


def _is_hosted_call(step: dict[str, Any], results: Mapping[str, Any]) -> bool:
    """What both sides can run was run by the provider if the result is there."""
    return step["type"] in PROVIDER_RUN or (step["type"] in (CALL, SEARCH) and is_answered(step, results))


def _is_late_result(step: dict[str, Any], calls: Set[str | None]) -> bool:
    """Results of functions are left out: in a conversation as a whole they are our own answers."""
    return step["type"] in RESULTS - {RESULT} and word_or_none(step.get("call_id")) not in calls


def _hosted(step: dict[str, Any], index: int, results: Mapping[str, Any]) -> HostedCall:
    item_id = word_or_none(step.get("id")) or word_or_none(step.get("call_id")) or f"step-{index}"
    said = results.get(item_id, step).get("is_error")
    return HostedCall(
        item_id,
        step["type"],
        server=word_or_none(step.get("server_name")) or "",
        tool=word_or_none(step.get("name")) or "",
        failed=said if isinstance(said, bool) else None,
    )
