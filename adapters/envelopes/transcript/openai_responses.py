"""OpenAI Responses: each call item has its output item somewhere behind it, and each output its call before it.

Their order is free otherwise, and the model's own text may stand in between. What a server keeps under a
`previous_response_id` is not seen here, and what an `item_reference` stands for is not known.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from adapters.envelopes.transcript.pairing import Pairs
from adapters.envelopes.transcript.refusal import as_objects, as_word, refuse, require_text

SURFACE: Final = "openai-responses"

LONGEST_ID: Final = 64
"""Characters. The API says: "Invalid 'input[..].call_id': string too long. Expected .. maximum length 64"."""


@dataclass(frozen=True)
class Pair:
    """One kind of call with the kind of its result, and where either has the id, as `response_input_item_param` says.

    `content` is the member of the result that may not be null, if there is one.
    """

    call: str
    result: str
    asked: str = "call_id"
    answered: str = "call_id"
    content: str | None = "output"


PAIRS: Final = (
    Pair("function_call", "function_call_output"),
    Pair("custom_tool_call", "custom_tool_call_output"),
    Pair("computer_call", "computer_call_output"),
    Pair("shell_call", "shell_call_output"),
    Pair("local_shell_call", "local_shell_call_output", answered="id"),
    Pair("apply_patch_call", "apply_patch_call_output", content=None),
    Pair("tool_search_call", "tool_search_output", content="tools"),
    Pair("mcp_approval_request", "mcp_approval_response", "id", "approval_request_id", content="approve"),
)
_BY_CALL: Final = {pair.call: pair for pair in PAIRS}
_BY_RESULT: Final = {pair.result: pair for pair in PAIRS}

TEXT_OUTPUTS: Final = frozenset({"function_call_output", "custom_tool_call_output"})
"""Their output is text or a list of parts; an object has to be written as text first."""

_Item = tuple[str, dict[str, Any]]


def require_sound(items: Any) -> None:
    """Refuse `items` that the API would refuse; see `transcript.require_sound`."""
    conversation = as_objects(items, "")
    for path, item in conversation:
        if "type" in item:
            as_word(item["type"], f"{path}/type")
    _require_item_ids(conversation)
    _require_pairs(conversation)
    for position, (path, item) in enumerate(conversation):
        _require_content(path, item)
        if item.get("type") == "reasoning":
            _require_followed(path, conversation[position + 1 :])


def _require_item_ids(conversation: Sequence[_Item]) -> None:
    """The API says: "Duplicate item found with id ..", and: "Invalid 'input[..].id': string too long"."""
    seen: set[str] = set()
    for path, item in conversation:
        name = item.get("id")
        if not isinstance(name, str) or item.get("type") == "local_shell_call_output":  # there it is the call's id
            continue
        if len(name) > LONGEST_ID:
            refuse("item_id_too_long", f"{path}/id", f"at most {LONGEST_ID} characters")
        if name in seen:
            refuse("repeated_item_id", f"{path}/id", "each item once")
        seen.add(name)


def _require_pairs(conversation: Sequence[_Item]) -> None:
    pairs = Pairs({_asked(path, item) for path, item in conversation if _is_call(item)})
    referred, deferred = False, set()
    for path, item in conversation:
        referred = referred or _is_reference(item)
        if _is_call(item):
            pairs.ask(_asked(path, item), f"{path}/{_BY_CALL[item['type']].asked}")
            deferred |= {_asked(path, item)} if item.get("async") is True else set()
        elif _is_result(item):
            _answer(pairs, path, item, referred=referred)
    # "No tool output found for function call ..", says the API; what is async may be answered in a later request.
    for key, place in pairs.unanswered.items():
        if key not in deferred:
            refuse("unanswered_call", place, "an output behind it")


def _answer(pairs: Pairs, path: str, item: dict[str, Any], *, referred: bool) -> None:
    """The API says: "No tool call found for function call output with call_id .."."""
    key = _answered(path, item)
    if not (referred and pairs.unknown(key)):
        pairs.answer(key, f"{path}/{_BY_RESULT[item['type']].answered}")


def _is_call(item: dict[str, Any]) -> bool:
    """A search of the server's own names no call and is answered by the server itself."""
    kind = item.get("type")
    return kind in _BY_CALL and (kind != "tool_search_call" or item.get("call_id") is not None)


def _is_result(item: dict[str, Any]) -> bool:
    kind = item.get("type")
    return kind in _BY_RESULT and (kind != "tool_search_output" or item.get("call_id") is not None)


def _is_reference(item: dict[str, Any]) -> bool:
    return item.get("type") == "item_reference" or ("type" not in item and "role" not in item and "id" in item)


def _asked(path: str, item: dict[str, Any]) -> tuple[str, str]:
    pair = _BY_CALL[item["type"]]
    return pair.call, _call_id(item.get(pair.asked), f"{path}/{pair.asked}")


def _answered(path: str, item: dict[str, Any]) -> tuple[str, str]:
    pair = _BY_RESULT[item["type"]]
    return pair.call, _call_id(item.get(pair.answered), f"{path}/{pair.answered}")


def _call_id(value: Any, path: str) -> str:
    name = as_word(value, path, "missing_call_id")
    if len(name) > LONGEST_ID:
        refuse("call_id_too_long", path, f"at most {LONGEST_ID} characters")
    return name


def _require_content(path: str, item: dict[str, Any]) -> None:
    """The types have no null output and no message without content, and no object as an output of text."""
    kind = item.get("type", "message" if "role" in item else None)
    needed = "content" if kind == "message" else _BY_RESULT[kind].content if kind in _BY_RESULT else None
    if needed is not None and item.get(needed) is None:
        refuse("null_content", f"{path}/{needed}", "content")
    if kind in TEXT_OUTPUTS and not isinstance(item["output"], list):
        require_text(item["output"], f"{path}/output")


def _require_followed(path: str, later: Sequence[_Item]) -> None:
    """The API says: "Item .. of type 'reasoning' was provided without its required following item"."""
    following = next((item for _, item in later if item.get("type") != "reasoning"), None)
    if following is None or _is_ours(following):
        refuse("unfollowed_reasoning", path, "the item of the model that came behind it")


def _is_ours(item: dict[str, Any]) -> bool:
    kind = item.get("type", "message")
    return kind in _BY_RESULT or (kind == "message" and item.get("role") != "assistant")
