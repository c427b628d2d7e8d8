"""The kinds of output items, and whose business each item is."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

from adapters.envelopes.shape import as_word, refuse, word_or_none

FUNCTION: Final = "function_call"
CUSTOM: Final = "custom_tool_call"
SEARCH: Final = "tool_search_call"
APPROVAL: Final = "mcp_approval_request"

ANSWERED_HERE: Final = frozenset({FUNCTION, CUSTOM, SEARCH, APPROVAL})
NOT_CARRIED_OUT: Final = frozenset({"shell_call", "local_shell_call", "apply_patch_call", "computer_call"})
"""What only the caller's machine could run, and what has no tool here."""
PROVIDER_RUN: Final = frozenset(
    {
        "web_search_call",
        "file_search_call",
        "code_interpreter_call",
        "image_generation_call",
        "mcp_call",
        "mcp_list_tools",
        "program",
    }
)

ANSWERS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "function_call_output": (FUNCTION, "call_id"),
        "custom_tool_call_output": (CUSTOM, "call_id"),
        "tool_search_output": (SEARCH, "call_id"),
        "mcp_approval_response": (APPROVAL, "approval_request_id"),
        "shell_call_output": ("shell_call", "call_id"),
        "apply_patch_call_output": ("apply_patch_call", "call_id"),
        "computer_call_output": ("computer_call", "call_id"),
    }
)
"""What answers which kind of call, and the member that says which call."""

SAID: Final = frozenset(
    {"message", "reasoning", "program_output", "compaction", "additional_tools", "local_shell_call_output"}
    | ANSWERS.keys()
)
"""What asks for nothing, whatever stands in it."""


class Role(StrEnum):
    """Whose business an item is."""

    ASKED = "asked"
    """A call that waits for its answer from here."""
    HOSTED = "hosted"
    """What has been run at the provider's already."""
    SAID = "said"
    """Neither: it goes back into the conversation, and that is all."""


def roles_of(items: Sequence[dict[str, Any]]) -> list[Role]:
    """Return the role of each item of `output`.

    Raises:
        ResponseRefused: an item has no type, is a call that is not carried out here, or might be one unknown here.
    """
    answered = _answered(items)
    return [_role(item, f"/output/{index}", answered) for index, item in enumerate(items)]


def identity(namespace: str | None, name: str) -> str:
    """Return the name of the tool that a call or a definition means.

    A function that is in no namespace is called under one of its own name once a search has brought it up.
    """
    return name if namespace in (None, "", name) else f"{namespace}.{name}"


def _answered(items: Sequence[dict[str, Any]]) -> frozenset[tuple[str, str]]:
    """The calls whose answer stands in the same response: whoever sent it has run them."""
    answers = [(ANSWERS[kind], item) for item in items if (kind := _word(item, "type")) in ANSWERS]
    return frozenset((call, _word(item, key)) for (call, key), item in answers if _word(item, key))


def _role(item: dict[str, Any], path: str, answered: frozenset[tuple[str, str]]) -> Role:
    kind = as_word(item.get("type"), f"{path}/type", "malformed_envelope")
    if kind in ANSWERED_HERE | NOT_CARRIED_OUT:
        return _role_of_call(kind, item, path, answered)
    if kind in PROVIDER_RUN:
        return Role.HOSTED
    if kind not in SAID and _might_be_call(item):
        refuse("unknown_block_type", f"{path}/type", "unknown_type", "a type that this surface defines")
    return Role.SAID


def _role_of_call(kind: str, item: dict[str, Any], path: str, answered: frozenset[tuple[str, str]]) -> Role:
    if (kind, _word(item, "id" if kind == APPROVAL else "call_id")) in answered:
        return Role.SAID if kind == APPROVAL else Role.HOSTED
    if _runs_elsewhere(kind, item):
        return Role.HOSTED
    if kind in NOT_CARRIED_OUT:
        refuse("unsupported_call_type", path, kind, "a call of a function, a custom tool or a client's tool search")
    return Role.ASKED


def _runs_elsewhere(kind: str, item: dict[str, Any]) -> bool:
    if kind == SEARCH:
        return item.get("execution") == "server"
    environment = item.get("environment") if kind == "shell_call" else None
    return isinstance(environment, dict) and environment.get("type") == "container_reference"


def _word(item: dict[str, Any], key: str) -> str:
    return word_or_none(item.get(key)) or ""


def _might_be_call(item: dict[str, Any]) -> bool:
    return item.get("call_id") is not None or ("name" in item and ("arguments" in item or "input" in item))
