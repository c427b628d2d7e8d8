"""Responses, as the documentation and the package `openai` have it."""

from collections.abc import Sequence
from typing import Any, Final

from openai.types.responses import ResponseInputItemParam, ResponseOutputItem, response_input_item_param
from openai.types.responses.response_custom_tool_call_output_param import ResponseCustomToolCallOutputParam
from openai.types.responses.response_tool_search_output_item_param_param import ResponseToolSearchOutputItemParamParam
from pydantic import TypeAdapter

from tests.recorded.official import Shape
from tests.recorded.sameness import same_but_for_nulls
from tests.recorded.wire import Answer, Asked, Ending, objects, parsed

SURFACE: Final = "openai-responses"
NEEDED: Final = frozenset({"type"})
RESUMED_BY_ECHO: Final = False

OURS: Final = frozenset({"function_call", "custom_tool_call", "mcp_approval_request", "tool_search_call"})
HOSTED: Final = frozenset(
    {
        "web_search_call",
        "file_search_call",
        "code_interpreter_call",
        "image_generation_call",
        "mcp_call",
        "tool_search_call",
    }
)
LOCAL: Final = frozenset({"shell_call", "local_shell_call", "apply_patch_call", "computer_call"})
"""What only a client's own machine could run."""
REFUSED: Final = frozenset({"content_filter", "invalid_prompt", "bio_policy", "misalignment_policy_violation"})
BROKEN_OFF: Final = frozenset({"incomplete", "failed", "cancelled", "queued", "in_progress"})

NEVER_TAKEN_BACK: Final = frozenset({"created_by", "status"})
"""Members that some items have and do not take, as the package's types say."""
SHAPES: Final = {
    "function_call_output": Shape(response_input_item_param.FunctionCallOutput),
    "custom_tool_call_output": Shape(ResponseCustomToolCallOutputParam),
    "mcp_approval_response": Shape(response_input_item_param.McpApprovalResponse),
    "tool_search_output": Shape(ResponseToolSearchOutputItemParamParam),
}
ANY_ITEM: Final = Shape(ResponseInputItemParam)
ITEMS: Final[TypeAdapter[Any]] = TypeAdapter(list[ResponseOutputItem])


def whole(events: Sequence[Any]) -> dict[str, Any] | None:
    """The last event has the response; each item's own last event counts more than its copy there."""
    last = [event for event in objects(list(events)) if event.get("type") in _ENDS]
    done = [event for event in objects(list(events)) if event.get("type") == "response.output_item.done"]
    if not last:
        return None
    items = [event["item"] for event in sorted(done, key=lambda event: event["output_index"])]
    return {**last[-1]["response"], **({"output": items} if items else {})}


_ENDS: Final = frozenset({"response.completed", "response.incomplete", "response.failed"})


def ending(response: dict[str, Any]) -> Ending:
    said = {(response.get("error") or {}).get("code"), (response.get("incomplete_details") or {}).get("reason")}
    if said & REFUSED:
        return Ending(frozenset({"refused_response"}))
    if said - {None} or response.get("status") in BROKEN_OFF:
        return Ending(frozenset({"incomplete_response"}))
    return Ending(frozenset(_faults(response)))


def _faults(response: dict[str, Any]) -> set[str]:
    calls = _calls(response)
    ids = [_id_of(call) for call in calls]
    if any(item["type"] in LOCAL for item in objects(response["output"])):
        return {"unsupported_call_type"}
    if not all(ids):
        return {"missing_call_id"}
    if any(len(call_id) > 64 for call_id in ids):
        return {"id_too_long"}
    if any(call.get("status") in BROKEN_OFF for call in calls):
        return {"incomplete_response"}
    if not all(isinstance(call.get("arguments"), str | dict | None) for call in calls):
        return {"malformed_tool_calls"}
    if len(set(ids)) < len(ids):
        return {"duplicate_call_id"}
    return {"unknown_stop_signal"} if calls and response.get("status") != "completed" else set()


def pieces(response: dict[str, Any]) -> list[Any]:
    return list(response["output"])


def echoed(items: Sequence[dict[str, Any]]) -> list[Any]:
    return list(items)


def may_change(came: Any, went: Any) -> bool:
    """Null members, and such as the API does not take, may be left out, at any depth."""
    return isinstance(came, dict) and same_but_for_nulls(_taken(came, went), went)


def _taken(came: Any, went: Any) -> Any:
    """`came` without what `went` has left out lawfully."""
    if isinstance(came, dict) and isinstance(went, dict):
        kept = {key for key in came if key in went or key not in NEVER_TAKEN_BACK}
        return {key: _taken(came[key], went.get(key)) for key in kept}
    if isinstance(came, list) and isinstance(went, list) and len(came) == len(went):
        return [_taken(one, other) for one, other in zip(came, went, strict=True)]
    return came


def may_go(piece: Any) -> bool:
    """Tools that somebody else than a developer has added: an input takes them from no other."""
    return isinstance(piece, dict) and piece.get("type") == "additional_tools" and piece.get("role") != "developer"


def asked(response: dict[str, Any]) -> list[Asked]:
    return [_asked(call) for call in _calls(response)]


def _asked(call: dict[str, Any]) -> Asked:
    if call["type"] == "custom_tool_call":
        return Asked(call["call_id"], call["name"], {"input": call["input"]})
    if call["type"] == "tool_search_call":
        return Asked(call["call_id"], "tool_search", call.get("arguments") or {})
    return Asked(_id_of(call), call["name"], parsed(call.get("arguments")))


def hosted(response: dict[str, Any]) -> set[str]:
    done = (item for item in objects(response["output"]) if item["type"] in HOSTED)
    return {item["id"] for item in done if item.get("execution") != "client"}


def opening(_: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"role": "user", "content": "Go on."}]


def answers(items: Sequence[Any]) -> list[Answer]:
    """The provider's own search has an output too; it belongs to no call of ours and names none."""
    return [
        Answer(item.get("call_id", item.get("approval_request_id")), None, (item["type"],), item)
        for item in objects(list(items))
        if item.get("type") in SHAPES and (item.get("call_id") or item.get("approval_request_id"))
    ]


def official(item: dict[str, Any]) -> Any:
    return SHAPES.get(item.get("type", ""), ANY_ITEM).of(item)


def came_well(response: dict[str, Any]) -> None:
    ITEMS.validate_python(response["output"])


def _calls(response: dict[str, Any]) -> list[dict[str, Any]]:
    calls = (item for item in objects(response.get("output")) if item.get("type") in OURS)
    return [call for call in calls if call["type"] != "tool_search_call" or call.get("execution") == "client"]


def _id_of(call: dict[str, Any]) -> Any:
    return call.get("id" if call["type"] == "mcp_approval_request" else "call_id")
