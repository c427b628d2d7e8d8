"""Output items as input items: as they came, save for what the API itself sends and does not take back."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

OUTPUT_ONLY: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        # The input type has it, and yet the API has refused it as an unknown parameter.
        "reasoning": ("status",),
        "function_call_output": ("created_by",),
        "custom_tool_call_output": ("created_by", "status"),
        "tool_search_call": ("created_by",),
        "tool_search_output": ("created_by",),
        "compaction": ("created_by",),
        "shell_call": ("created_by",),
        "shell_call_output": ("created_by", "output/created_by"),
        "apply_patch_call": ("created_by",),
        "apply_patch_call_output": ("created_by",),
        "computer_call_output": ("created_by", "status"),
    }
)
"""Members that input items do not have; the API refuses unknown ones. Behind a slash: of each member in an array."""

_OF_A_TOOL: Final = (
    *("async", "defer_loading", "description", "format"),
    *("authorization", "connector_id", "server_description", "server_url", "tunnel_id"),
)
_OF_TOOLS: Final = tuple(f"{place}/{member}" for place in ("tools", "tools/tools") for member in _OF_A_TOOL)

NEVER_NULL: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "message": ("content/logprobs",),
        "reasoning": ("content",),
        "function_call": ("id", "async", "namespace", "status"),
        "custom_tool_call": ("id", "async", "namespace"),
        "mcp_call": ("status",),
        "web_search_call": ("action/queries", "action/query", "action/sources"),
        "file_search_call": ("results/file_id", "results/filename", "results/score", "results/text"),
        "image_generation_call": ("error", "svg_usage"),
        "computer_call": ("action", "actions"),
        "computer_call_output": ("output/file_id", "output/image_url"),
        "tool_search_output": _OF_TOOLS,
        "additional_tools": _OF_TOOLS,
    }
)
"""Members that output items have as null and that input items have with a value or not at all."""

NEVER_ABSENT: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {"code_interpreter_call": ("code", "outputs"), "image_generation_call": ("result",)}
)
"""Members that output items may leave out and that input items have, if only as null."""


def as_input(items: Sequence[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
    """Return the items as the next request's input holds them, in their order."""
    return tuple(_as_input(item) for item in items if _is_taken_back(item))


def _is_taken_back(item: dict[str, Any]) -> bool:
    """Tools are added by developers alone: as another's they are refused, and made theirs they would gain authority."""
    return item["type"] != "additional_tools" or item.get("role") == "developer"


def _as_input(item: dict[str, Any]) -> dict[str, Any]:
    kind = item["type"]
    for place in OUTPUT_ONLY.get(kind, ()):
        item = _without(item, place.split("/"), only_null=False)
    for place in NEVER_NULL.get(kind, ()):
        item = _without(item, place.split("/"), only_null=True)
    return dict.fromkeys(NEVER_ABSENT.get(kind, ())) | item


def _without(value: Any, place: Sequence[str], *, only_null: bool) -> Any:
    if isinstance(value, list):
        return [_without(each, place, only_null=only_null) for each in value]
    if not isinstance(value, dict) or place[0] not in value:
        return value
    key, *deeper = place
    if deeper:
        return value | {key: _without(value[key], deeper, only_null=only_null)}
    return value if only_null and value[key] is not None else {k: v for k, v in value.items() if k != key}
