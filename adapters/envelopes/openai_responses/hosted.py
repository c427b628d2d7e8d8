"""What the provider has done itself: its calls, and the tools that its search has brought up."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from adapters.envelopes.envelope import HostedCall
from adapters.envelopes.openai_responses.items import identity
from adapters.envelopes.shape import word_or_none

_ENDED: Final = {"completed": False, "failed": True}


def hosted_call(item: dict[str, Any]) -> HostedCall:
    """Return the record of one item that was run at the provider's."""
    return HostedCall(
        item_id=_word(item, "id") or _word(item, "call_id"),
        kind=item["type"],
        server=_word(item, "server_label"),
        tool=identity(_word(item, "namespace"), _word(item, "name")),
        failed=True if item.get("error") is not None else _ENDED.get(_word(item, "status")),
        approved_under=word_or_none(item.get("approval_request_id")),
        asks=item["type"] == "mcp_call",
        arguments=item.get("arguments") if item["type"] == "mcp_call" else None,
    )


def found_tools(items: Sequence[dict[str, Any]]) -> frozenset[str]:
    """Return the names of the tools in the results of the provider's own tool searches."""
    searches = (item for item in items if item["type"] == "tool_search_output" and item.get("execution") == "server")
    return frozenset(name for search in searches for name in _names(search.get("tools"), None))


def _names(tools: Any, namespace: str | None) -> Iterable[str]:
    """A namespace stands for its members; what has no name, such as a hosted tool, is none that is called here."""
    for tool in tools if isinstance(tools, list) else []:
        name = word_or_none(tool.get("name")) if isinstance(tool, dict) else None
        if name is None:
            continue
        if namespace is None and tool.get("type") == "namespace":
            yield from _names(tool.get("tools"), name)
        else:
            yield identity(namespace, name)


def _word(item: dict[str, Any], key: str) -> str:
    return word_or_none(item.get(key)) or ""
