"""Anthropic Messages: calls are `tool_use` blocks, answers are `tool_result` blocks in one user message.

In: `{"id", "content": [{"type": "tool_use", "id", "name", "input": {...}}, ...], "stop_reason"}`.
Out: `{"role": "user", "content": [{"type": "tool_result", "tool_use_id", "is_error", "content": "<json>"}]}`.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

from adapters import strict_json
from adapters.envelopes import stop_signal
from adapters.envelopes.envelope import ReadTurn, ToolDefinition
from adapters.envelopes.shape import (
    as_call_id,
    as_object,
    as_objects,
    as_word,
    refuse,
    require_distinct_ids,
    require_one_of,
    word_or_none,
)
from adapters.envelopes.stop_signal import Calls, Meaning, Signal
from workflows.domain.proposal import CallResult, Proposal, Status, require_complete_correlation

SURFACE: Final = "anthropic-messages"

STOP_REASONS: Final[Mapping[str, Signal]] = MappingProxyType(
    {
        "tool_use": Signal(Meaning.COMPLETE, Calls.ALWAYS),
        # Anthropic's own tool runner does not run a call beside these two either.
        "end_turn": Signal(Meaning.COMPLETE, Calls.NEVER),
        "stop_sequence": Signal(Meaning.COMPLETE, Calls.NEVER),
        "max_tokens": Signal(Meaning.CUT),
        "model_context_window_exceeded": Signal(Meaning.CUT),
        "refusal": Signal(Meaning.REFUSED),
        "pause_turn": Signal(Meaning.PAUSED),
        "compaction": Signal(Meaning.PAUSED),
    }
)

PROVIDER_RUN: Final = frozenset(
    {"server_tool_use", "mcp_tool_use", "mcp_tool_listing", "container_upload", "compaction", "fallback"}
)
"""Blocks of work that the provider does itself: never run here, never answered, echoed as they came."""
PLAIN: Final = frozenset({"text", "thinking", "redacted_thinking"})


def read(response: Any) -> ReadTurn:
    """Read one Message; see `Envelope.read`."""
    root = as_object(response, "")
    require_one_of(root.get("type"), (None, "message"), "/type")
    require_one_of(root.get("role"), (None, "assistant"), "/role")
    blocks = as_objects(root.get("content"), "/content")
    proposals = _proposals(blocks, stop_signal.look_up(STOP_REASONS, root.get("stop_reason")))
    echo = {"role": "assistant", "content": blocks}
    return ReadTurn(SURFACE, word_or_none(root.get("id")), proposals, (echo,))


def write(turn: ReadTurn, results: Iterable[CallResult]) -> list[dict[str, Any]]:
    """Return the assistant message and, if it holds calls, one user message; see `Envelope.write`."""
    answers = [_answer(result) for result in require_complete_correlation(turn.proposals, results)]
    return [*turn.echo, *([{"role": "user", "content": answers}] if answers else [])]


def render(definition: ToolDefinition) -> dict[str, Any]:
    """Return one entry of a request's `tools`."""
    return {
        "name": definition.name,
        "description": definition.description,
        "input_schema": dict(definition.parameters),
    }


def _proposals(blocks: list[dict[str, Any]], signal: Signal) -> tuple[Proposal, ...]:
    stop_signal.require_not_broken_off(signal, "/stop_reason")
    calls = [(f"/content/{index}", block) for index, block in enumerate(blocks) if _is_call(block, index)]
    proposals = tuple(_proposal(block, path) for path, block in calls)
    require_distinct_ids(proposals, "/content")
    stop_signal.require_agreement(signal, has_calls=bool(calls), path="/stop_reason", table=STOP_REASONS)
    return proposals


def _is_call(block: dict[str, Any], index: int) -> bool:
    kind = as_word(block.get("type"), f"/content/{index}/type", "malformed_envelope")
    if kind == "tool_use":
        return True
    if kind not in PLAIN | PROVIDER_RUN and not kind.endswith("_tool_result") and _might_be_call(kind, block):
        refuse("unknown_block_type", f"/content/{index}/type", "unknown_type", "a type that this surface defines")
    return False


def _might_be_call(kind: str, block: dict[str, Any]) -> bool:
    return kind.endswith("tool_use") or ("id" in block and ("name" in block or "input" in block))


def _proposal(block: dict[str, Any], path: str) -> Proposal:
    call_id = as_call_id(block.get("id"), f"{path}/id")
    name = as_word(block.get("name"), f"{path}/name", "malformed_tool_calls")
    given = as_object(block.get("input"), f"{path}/input", "malformed_tool_calls")
    if block.get("toolset_name") is not None:  # the name alone would not say which tool is meant
        refuse("unsupported_call_type", f"{path}/toolset_name", "toolset_call", "a call outside provider toolsets")
    try:
        return Proposal(call_id, name, strict_json.exact(given))
    except strict_json.StrictJsonError as error:
        return Proposal(call_id, name, None, "invalid_arguments_json", (error.detail(),))


def _answer(result: CallResult) -> dict[str, Any]:
    return {
        "type": "tool_result",
        "tool_use_id": result.call_id,
        "is_error": result.status is not Status.SUCCEEDED,
        "content": strict_json.dump(result.body()),
    }
