"""The provider's own work in a message: what it ran and how that ended, and the tools that it has searched up."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from adapters.envelopes.envelope import HostedCall
from adapters.envelopes.shape import word_or_none

_CALLS: Final = frozenset({"server_tool_use", "mcp_tool_use"})
_RESULT: Final = "_tool_result"


def hosted_in(blocks: Sequence[dict[str, Any]]) -> tuple[HostedCall, ...]:
    """Return every call that the provider made, in its order, each with its end if that stands in the message too.

    The end of a call that stands in an earlier message is told under the type of its result.
    """
    ends = {_text(block, "tool_use_id"): _failed(block) for block in blocks if is_result(block)}
    calls = [block for block in blocks if block.get("type") in _CALLS]
    begun = {_text(block, "id") for block in calls}
    late = (block for block in blocks if is_result(block) and _text(block, "tool_use_id") not in begun)
    return (
        *(_call(block, ends) for block in calls),
        *(HostedCall(_text(block, "tool_use_id"), block["type"], failed=_failed(block)) for block in late),
    )


def found_in(blocks: Iterable[dict[str, Any]]) -> frozenset[str]:
    """Return the names of the tools that the provider's tool search has brought up."""
    return frozenset(
        name
        for block in blocks
        if block.get("type") == "tool_search_tool_result"
        for reference in _references(block.get("content"))
        if (name := word_or_none(reference.get("tool_name")))
    )


def is_result(block: dict[str, Any]) -> bool:
    """Whether the block is how a call of the provider ended."""
    kind = block.get("type")
    return isinstance(kind, str) and kind.endswith(_RESULT)


def _call(block: dict[str, Any], ends: dict[str, bool]) -> HostedCall:
    item_id = _text(block, "id")
    return HostedCall(item_id, block["type"], _text(block, "server_name"), _text(block, "name"), ends.get(item_id))


def _failed(block: dict[str, Any]) -> bool:
    """The connector has a flag; the other tools say it by the type of what they bring."""
    content = block.get("content")
    kind = content.get("type") if isinstance(content, dict) else None
    return block.get("is_error") is True or (isinstance(kind, str) and kind.endswith("_error"))


def _references(content: Any) -> list[dict[str, Any]]:
    found = content.get("tool_references") if isinstance(content, dict) else None
    return [reference for reference in found if isinstance(reference, dict)] if isinstance(found, list) else []


def _text(block: dict[str, Any], key: str) -> str:
    return word_or_none(block.get(key)) or ""
