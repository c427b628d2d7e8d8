"""Models' responses that hold the calls of a test, on each surface."""

import json
from typing import Any

from adapters import strict_json

Json = dict[str, Any]
Call = tuple[str, str, Json]
"""Call id, tool name, arguments."""

SURFACES = ("anthropic-messages", "openai-chat")
"""Those on which every hostile text is tried through the door."""


def call(tool: str, arguments: Json, call_id: str = "call-1") -> Call:
    return call_id, tool, arguments


def response_with(surface: str, *calls: Call, response_id: str = "response-1", stop: str = "") -> Json:
    """A whole response of that surface; `stop` overrides its stop signal."""
    return _RESPONSES[surface](calls, response_id, stop)


def results_in(surface: str, append: list[Json]) -> dict[str, Json]:
    """What the model is told, by call id, read back from the messages to append."""
    if surface == "openai-responses":
        outputs = [each for each in append if each["type"] == "function_call_output"]
        return {each["call_id"]: json.loads(each["output"]) for each in outputs}
    if surface == "gemini-interactions":
        return {each["call_id"]: each["result"] for each in append if each["type"] == "function_result"}
    if surface == "gemini-generate-content":
        parts = [part["functionResponse"] for each in append for part in each["parts"] if "functionResponse" in part]
        return {part["id"]: next(iter(part["response"].values())) for part in parts}
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


def _items(calls: tuple[Call, ...], response_id: str, stop: str) -> Json:
    asked = [
        {
            "type": "function_call",
            "id": f"fc_{call_id}",
            "call_id": call_id,
            "name": tool,
            "arguments": strict_json.dump(given),
            "status": "completed",
        }
        for call_id, tool, given in calls
    ]
    return {"id": response_id, "object": "response", "status": stop or "completed", "output": asked}


def _candidate(calls: tuple[Call, ...], response_id: str, stop: str) -> Json:
    parts = [{"functionCall": {"id": call_id, "name": tool, "args": given}} for call_id, tool, given in calls]
    said = {"content": {"role": "model", "parts": parts}, "finishReason": stop or "STOP", "index": 0}
    return {"responseId": response_id, "candidates": [said]}


def _interaction(calls: tuple[Call, ...], response_id: str, stop: str) -> Json:
    steps = [{"type": "function_call", "id": name, "name": tool, "arguments": given} for name, tool, given in calls]
    return {"id": response_id, "status": stop or "requires_action", "steps": steps}


_RESPONSES = {
    "anthropic-messages": _message,
    "openai-chat": _completion,
    "openai-responses": _items,
    "gemini-generate-content": _candidate,
    "gemini-interactions": _interaction,
}
ALL_SURFACES = tuple(_RESPONSES)
