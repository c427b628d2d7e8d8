"""Anthropic Messages, as the documentation and the package `anthropic` have it."""

import copy
from collections.abc import Sequence
from typing import Any, Final

from anthropic.types import ContentBlock, MessageParam
from anthropic.types.beta import BetaContentBlock, BetaMessageParam
from pydantic import TypeAdapter, ValidationError

from tests.recorded.official import Shape
from tests.recorded.wire import UNREADABLE, Answer, Asked, Ending, objects, parsed

SURFACE: Final = "anthropic-messages"
NEEDED: Final = frozenset({"type", "tool_use_id", "content"})
RESUMED_BY_ECHO: Final = True

ENDS: Final = {
    "max_tokens": frozenset({"incomplete_response"}),
    "model_context_window_exceeded": frozenset({"incomplete_response"}),
    "refusal": frozenset({"refused_response"}),
}
PAUSES: Final = frozenset({"pause_turn", "compaction"})
UNREADABLE_KEY: Final = "INVALID_JSON"
"""Where the documentation puts the text of an input that is no JSON."""
HOSTED: Final = frozenset({"server_tool_use", "mcp_tool_use"})

SHAPE: Final = Shape(MessageParam)
BETA_SHAPE: Final = Shape(BetaMessageParam)
BLOCKS: Final[TypeAdapter[Any]] = TypeAdapter(list[ContentBlock])
BETA_BLOCKS: Final[TypeAdapter[Any]] = TypeAdapter(list[BetaContentBlock])


def whole(events: Sequence[Any]) -> dict[str, Any] | None:
    message: dict[str, Any] = {}
    blocks: dict[int, dict[str, Any]] = {}
    texts: dict[int, str] = {}
    for event in objects(list(events)):
        kind = event.get("type")
        if kind == "message_start":
            message = copy.deepcopy(event["message"])
        elif kind == "content_block_start":
            blocks[event["index"]] = copy.deepcopy(event["content_block"])
        elif kind == "content_block_delta" and event["delta"]["type"] == "input_json_delta":
            texts[event["index"]] = texts.get(event["index"], "") + event["delta"]["partial_json"]
        elif kind == "content_block_delta":
            _grow(blocks[event["index"]], event["delta"])
        elif kind == "message_delta":
            message |= event["delta"]
    for index, text in texts.items():
        blocks[index]["input"] = {UNREADABLE_KEY: text} if parsed(text) is UNREADABLE else parsed(text)
    ended = any(event.get("type") == "message_stop" for event in objects(list(events)))
    return {**message, "content": [blocks[index] for index in sorted(blocks)]} if ended else None


def _grow(block: dict[str, Any], delta: dict[str, Any]) -> None:
    """Texts go on, citations are gathered, and whatever else a piece brings counts as it is."""
    for key, value in delta.items():
        if key == "citation":
            block["citations"] = [*(block.get("citations") or []), value]
        elif key in ("text", "thinking"):
            block[key] = block.get(key, "") + value
        elif key != "type":
            block[key] = value


def ending(response: dict[str, Any]) -> Ending:
    reason, calls = response.get("stop_reason"), _calls(response)
    if reason in ENDS:
        return Ending(ENDS[reason])
    if reason in PAUSES:
        return Ending(paused=True)
    if reason == "tool_use":
        return Ending(frozenset(_faults(calls)))
    return Ending(frozenset({"unknown_stop_signal"} if calls else ()))


def _faults(calls: Sequence[dict[str, Any]]) -> set[str]:
    ids = [call.get("id") for call in calls]
    if not calls:
        return {"missing_tool_calls"}
    if not all(ids):
        return {"missing_call_id"}
    if not all(isinstance(call.get("input"), dict) and call.get("name") for call in calls):
        return {"malformed_tool_calls"}
    return {"duplicate_call_id"} if len(set(ids)) < len(ids) else set()


def pieces(response: dict[str, Any]) -> list[Any]:
    return list(response["content"])


def echoed(items: Sequence[dict[str, Any]]) -> list[Any]:
    return [block for item in items for block in item["content"]]


def may_change(_came: Any, _went: Any) -> bool:
    return False


def may_go(piece: Any) -> bool:
    """A text that is empty or blank: the API sends both, takes the first never and the other only beside words."""
    return isinstance(piece, dict) and piece.get("type") == "text" and not str(piece.get("text")).strip()


def asked(response: dict[str, Any]) -> list[Asked]:
    return [Asked(call["id"], call["name"], _arguments(call["input"])) for call in _calls(response)]


def _arguments(given: dict[str, Any]) -> Any:
    return UNREADABLE if given.keys() == {UNREADABLE_KEY} else given


def hosted(response: dict[str, Any]) -> set[str]:
    return {block["id"] for block in objects(response["content"]) if block["type"] in HOSTED}


def opening(response: dict[str, Any]) -> list[dict[str, Any]]:
    """With the calls, made up, of those results whose calls stood in an earlier message."""
    results = [block for block in objects(response["content"]) if block["type"].endswith("_tool_result")]
    begun = [_begun(block) for block in results if block["tool_use_id"] not in hosted(response)]
    earlier = [{"role": "assistant", "content": begun}] if begun else []
    return [{"role": "user", "content": "Go on."}, *earlier]


def _begun(result: dict[str, Any]) -> dict[str, Any]:
    kind = "mcp_tool_use" if result["type"] == "mcp_tool_result" else "server_tool_use"
    return {"type": kind, "id": result["tool_use_id"], "name": "earlier", "input": {}}


def answers(items: Sequence[Any]) -> list[Answer]:
    return [
        Answer(block["tool_use_id"], None, (block["type"], message["role"]), block)
        for message in objects(list(items))
        for block in objects(message.get("content"))
        if block.get("type") == "tool_result"
    ]


def official(item: dict[str, Any]) -> Any:
    """What is still in beta has types of its own."""
    try:
        return SHAPE.of(item)
    except ValidationError:
        return BETA_SHAPE.of(item)


def came_well(response: dict[str, Any]) -> None:
    try:
        BLOCKS.validate_python(response["content"])
    except ValidationError:
        BETA_BLOCKS.validate_python(response["content"])


def _calls(response: dict[str, Any]) -> list[dict[str, Any]]:
    return [block for block in objects(response["content"]) if block.get("type") == "tool_use"]
