"""The blocks that ask for something."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

from adapters import strict_json
from adapters.envelopes.anthropic_messages.hosted import is_result
from adapters.envelopes.shape import as_call_id, as_object, as_word, refuse
from workflows.domain.errors import Detail
from workflows.domain.proposal import Proposal

PROVIDER_RUN: Final = frozenset(
    {"server_tool_use", "mcp_tool_use", "mcp_tool_listing", "container_upload", "compaction", "fallback"}
)
"""Blocks of work that the provider does itself: never run here, never answered, echoed as they came."""
PLAIN: Final = frozenset({"text", "thinking", "redacted_thinking"})

NO_FAULTS: Final[Mapping[int, Detail]] = MappingProxyType({})


def proposals_of(blocks: Sequence[dict[str, Any]], faults: Mapping[int, Detail]) -> tuple[Proposal, ...]:
    """Return what the blocks ask for; `faults` tells by its place in `blocks` which call came with a broken input.

    Raises:
        ResponseRefused: a call has no shape of this surface or could not be answered, or a block might be one.
    """
    return tuple(
        _proposal(block, f"/content/{index}", faults.get(index))
        for index, block in enumerate(blocks)
        if _is_call(block, index)
    )


def _is_call(block: dict[str, Any], index: int) -> bool:
    kind = as_word(block.get("type"), f"/content/{index}/type", "malformed_envelope")
    if kind == "tool_use":
        return True
    if kind not in PLAIN | PROVIDER_RUN and not is_result(block) and might_be_call(kind, block):
        refuse("unknown_block_type", f"/content/{index}/type", "unknown_type", "a type that this surface defines")
    return False


def might_be_call(kind: Any, block: dict[str, Any]) -> bool:
    """Whether a block of a type that nobody knows asks for something, or an unknown piece of it could."""
    return str(kind).endswith("tool_use") or ("id" in block and ("name" in block or "input" in block))


def _proposal(block: dict[str, Any], path: str, fault: Detail | None) -> Proposal:
    call_id = as_call_id(block.get("id"), f"{path}/id")
    name = as_word(block.get("name"), f"{path}/name", "malformed_tool_calls")
    given = as_object(block.get("input"), f"{path}/input", "malformed_tool_calls")
    toolset = _toolset(block, path)
    return _judged(Proposal(call_id, ".".join((*toolset.values(), name)), None, carried=toolset), given, fault)


def _toolset(block: dict[str, Any], path: str) -> dict[str, str]:
    """Return the part of a call's identity that its answer has to repeat."""
    if block.get("toolset_name") is None:
        return {}
    return {"toolset_name": as_word(block["toolset_name"], f"{path}/toolset_name", "malformed_tool_calls")}


def _judged(proposal: Proposal, given: dict[str, Any], fault: Detail | None) -> Proposal:
    if fault is not None:
        return replace(proposal, fault="invalid_arguments_json", fault_details=(fault,))
    try:
        return replace(proposal, arguments=strict_json.exact(given))
    except strict_json.StrictJsonError as error:
        return replace(proposal, fault="invalid_arguments_json", fault_details=(error.detail(),))
