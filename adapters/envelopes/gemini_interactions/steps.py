"""The kinds of step, and those that ask for something."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from adapters import strict_json
from adapters.envelopes.shape import as_call_id, as_object, as_objects, as_word, refuse
from workflows.domain.proposal import Proposal

CALL: Final = "function_call"
RESULT: Final = "function_result"
SEARCH: Final = "tool_search_call"
"""Run by whoever declared it: by the caller, or by the provider, which puts the result in the same response."""
SEARCH_RESULT: Final = "tool_search_result"

SEARCH_TOOL: Final = "tool_search"
"""The tool that a search is a call of; the step has no name."""

PLAIN: Final = frozenset({"user_input", "model_output", "thought"})
PROVIDER_RUN: Final = frozenset(
    {
        "code_execution_call",
        "file_search_call",
        "google_maps_call",
        "google_search_call",
        "mcp_server_tool_call",
        "processing_call",
        "retrieval_call",
        "url_context_call",
    }
)
"""Work that the provider does itself: never run here, never answered, echoed as it came."""
RESULTS: Final = frozenset({RESULT, SEARCH_RESULT} | {kind.removesuffix("_call") + "_result" for kind in PROVIDER_RUN})

KNOWN: Final = PLAIN | PROVIDER_RUN | RESULTS | {CALL, SEARCH}

_FUNCTION: Final[Mapping[str, Any]] = MappingProxyType({"type": CALL})
_SEARCH: Final[Mapping[str, Any]] = MappingProxyType({"type": SEARCH})


def steps_of(root: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the steps of an interaction, each with a type; one that says nothing may have none.

    Raises:
        ResponseRefused: malformed_envelope.
    """
    steps = [] if root.get("steps") is None else as_objects(root["steps"], "/steps")
    for index, step in enumerate(steps):
        as_word(step.get("type"), f"/steps/{index}/type", "malformed_envelope")
    return steps


def proposals_of(steps: Sequence[dict[str, Any]], searches_here: bool) -> tuple[Proposal, ...]:
    """Return what `steps` ask for, in their order: each call whose result is not among them already.

    `searches_here`: a search without its result is the caller's to run.

    Raises:
        ResponseRefused: a call has no shape of this surface, or a step might be a call and is unknown.
    """
    wanted = {CALL, SEARCH} if searches_here else {CALL}
    answered = results_by_call(steps)
    return tuple(
        _proposal(step, f"/steps/{index}")
        for index, step in enumerate(steps)
        if _kind(step, f"/steps/{index}/type") in wanted and not is_answered(step, answered)
    )


def results_by_call(steps: Sequence[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return every result among `steps` under the id of its call."""
    results = [step for step in steps if step["type"] in RESULTS]
    return {step["call_id"]: step for step in results if isinstance(step.get("call_id"), str)}


def is_answered(step: dict[str, Any], results: Mapping[str, Any]) -> bool:
    """Whether the provider has put a result beside this call, so that nobody may run it again."""
    return isinstance(step.get("id"), str) and step["id"] in results


def is_search(proposal: Proposal) -> bool:
    """Whether the call is a search for tools."""
    return proposal.carried == _SEARCH


def _kind(step: dict[str, Any], path: str) -> str:
    kind: str = step["type"]
    if kind not in KNOWN and _might_be_call(kind, step):
        refuse("unknown_block_type", path, "unknown_type", "a type that this surface defines")
    return kind


def _might_be_call(kind: str, step: dict[str, Any]) -> bool:
    if kind.endswith("_result"):
        return False
    return "call" in kind or ("id" in step and ("name" in step or "arguments" in step))


def _proposal(step: dict[str, Any], path: str) -> Proposal:
    call_id = as_call_id(step.get("id"), f"{path}/id")
    name, carried = _identity(step, path)
    given = as_object(step.get("arguments"), f"{path}/arguments", "malformed_tool_calls")
    try:
        return Proposal(call_id, name, strict_json.exact(given), carried=carried)
    except strict_json.StrictJsonError as error:
        return Proposal(call_id, name, None, "invalid_arguments_json", (error.detail(),), carried=carried)


def _identity(step: dict[str, Any], path: str) -> tuple[str, Mapping[str, Any]]:
    if step["type"] == SEARCH:
        return SEARCH_TOOL, _SEARCH
    return as_word(step.get("name"), f"{path}/name", "malformed_tool_calls"), _FUNCTION
