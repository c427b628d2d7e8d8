"""Models' responses that hold the calls of a test, on each surface."""

import json
from typing import Any

from adapters import strict_json

Json = dict[str, Any]
Call = tuple[str, str, Json]
"""Call id, tool name, arguments."""

SURFACES = ("anthropic-messages", "openai-chat")


def call(tool: str, arguments: Json, call_id: str = "call-1") -> Call:
    return call_id, tool, arguments


def response_with(surface: str, *calls: Call, response_id: str = "response-1", stop: str = "") -> Json:
    """A whole response of that surface; `stop` overrides its stop signal."""
    return _RESPONSES[surface](calls, response_id, stop)


def results_in(surface: str, append: list[Json]) -> dict[str, Json]:
    """What the model is told, by call id, read back from the messages to append."""
    if surface == "openai-chat":
        return {each["tool_call_id"]: json.loads(each["content"]) for each in append if each["role"] == "tool"}
    blocks = [block for each in append if each["role"] == "user" for block in each["content"]]
    return {block["tool_use_id"]: json.loads(block["content"]) for block in blocks}


def _message(calls: tuple[Call, ...], response_id: str, stop: str) -> Json:
    blocks = [{"type": "tool_use", "id": call_id, "name": tool, "input": given} for call_id, tool, given in calls]
    return {
        "id": response_id,
        "type": "message",
        "role": "assistant",
        "model": "scripted",
        "content": [{"type": "text", "text": "One moment."}, *blocks],
        "stop_reason": stop or "tool_use",
    }


def _completion(calls: tuple[Call, ...], response_id: str, stop: str) -> Json:
    asked = [
        {"id": call_id, "type": "function", "function": {"name": tool, "arguments": strict_json.dump(given)}}
        for call_id, tool, given in calls
    ]
    said = {"role": "assistant", "content": None, "tool_calls": asked}
    choice = {"index": 0, "finish_reason": stop or "tool_calls", "message": said}
    return {"id": response_id, "object": "chat.completion", "model": "scripted", "choices": [choice]}


_RESPONSES = {"anthropic-messages": _message, "openai-chat": _completion}
