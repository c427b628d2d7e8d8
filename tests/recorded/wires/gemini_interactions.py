"""Gemini Interactions, as the documentation and the package `google-genai` have it."""

import copy
from collections.abc import Sequence
from typing import Any, Final

from google.genai import interactions
from pydantic import TypeAdapter

from adapters import strict_json
from tests.recorded.wire import Answer, Asked, Ending, objects

SURFACE: Final = "gemini-interactions"
NEEDED: Final = frozenset({"type", "call_id", "name", "result"})
RESUMED_BY_ECHO: Final = False

BROKEN_OFF: Final = frozenset({"incomplete", "budget_exceeded", "failed", "cancelled", "in_progress", "queued"})
STEP: Final[TypeAdapter[Any]] = TypeAdapter(interactions.Step)


def whole(events: Sequence[Any]) -> dict[str, Any] | None:
    steps: list[dict[str, Any]] = []
    begun: dict[int, dict[str, Any]] = {}
    texts: dict[int, str] = {}
    ends: list[dict[str, Any]] = []
    for event in objects(list(events)):
        kind = event.get("event_type")
        if kind == "step.start":
            begun[event["index"]] = copy.deepcopy(event["step"])
            steps.append(begun[event["index"]])
        elif kind == "step.delta" and event["delta"]["type"] == "arguments_delta":
            texts[event["index"]] = texts.get(event["index"], "") + event["delta"]["arguments"]
        elif kind == "step.delta":
            _grow(begun[event["index"]], event["delta"])
        elif kind == "step.stop" and event["index"] in texts:
            begun[event["index"]]["arguments"] = strict_json.parse(texts.pop(event["index"]))
        elif kind == "interaction.completed":
            ends.append(event["interaction"])
    broken = any(event.get("event_type") == "error" for event in objects(list(events)))
    return None if broken or not ends else {**ends[-1], "steps": steps}


def _grow(step: dict[str, Any], delta: dict[str, Any]) -> None:
    """Text goes on in the last text of a step; whatever else it is, a delta bears members of its step."""
    if delta["type"] == "thought_signature":
        step["signature"] = delta["signature"]
    elif delta["type"] == "thought_summary":
        _go_on(step.setdefault("summary", []), delta["content"])
    elif delta["type"] == step["type"]:
        step |= {key: value for key, value in delta.items() if value is not None}
    else:
        _go_on(step.setdefault("content", []), delta)


def _go_on(content: list[dict[str, Any]], piece: dict[str, Any]) -> None:
    if content and piece.get("type") == "text" == content[-1].get("type"):
        content[-1] = {**content[-1], "text": content[-1]["text"] + piece["text"]}
    elif content and piece.get("type") == "text_annotation_delta":
        content[-1] = {**content[-1], "annotations": [*(content[-1].get("annotations") or []), *piece["annotations"]]}
    else:
        content.append(copy.deepcopy(piece))


def ending(response: dict[str, Any]) -> Ending:
    status, calls = response["status"], _calls(response)
    if status in BROKEN_OFF:
        return Ending(frozenset({"incomplete_response"}))
    if status == "requires_continuation":
        return Ending(paused=True)
    if status == "requires_action":
        return Ending(frozenset(_faults(calls)))
    return Ending(frozenset({"unknown_stop_signal"} if calls else ()))


def _faults(calls: Sequence[dict[str, Any]]) -> set[str]:
    ids = [call.get("id") for call in calls]
    if not calls:
        return {"missing_tool_calls"}
    if not all(ids):
        return {"missing_call_id"}
    if not all(isinstance(call.get("arguments"), dict) for call in calls):
        return {"malformed_tool_calls"}
    return {"duplicate_call_id"} if len(set(ids)) < len(ids) else set()


def pieces(response: dict[str, Any]) -> list[Any]:
    return list(response.get("steps") or [])


def echoed(items: Sequence[dict[str, Any]]) -> list[Any]:
    return list(items)


def may_change(_came: Any, _went: Any) -> bool:
    return False


def may_go(_piece: Any) -> bool:
    return False


def asked(response: dict[str, Any]) -> list[Asked]:
    return [Asked(call["id"], call.get("name", "tool_search"), call["arguments"]) for call in _calls(response)]


def hosted(response: dict[str, Any]) -> set[str]:
    """Everything that is called, save for what we are asked for."""
    ours = {call.get("id") for call in _calls(response)}
    return {step["id"] for step in objects(response.get("steps")) if step["type"].endswith("_call")} - ours


def opening(response: dict[str, Any]) -> list[dict[str, Any]]:
    """With the calls, made up, of those results whose calls stood in an earlier response."""
    steps = objects(response.get("steps"))
    begun = {step["id"] for step in steps if step["type"].endswith("_call")}
    late = [step for step in steps if step["type"].endswith("_result") and step["call_id"] not in begun]
    return [{"type": "user_input", "content": [{"type": "text", "text": "Go on."}]}, *map(_begun, late)]


def _begun(result: dict[str, Any]) -> dict[str, Any]:
    kind = result["type"].removesuffix("_result") + "_call"
    return {"type": kind, "id": result["call_id"], "name": result.get("name") or "earlier", "arguments": {}}


def answers(items: Sequence[Any]) -> list[Answer]:
    return [
        Answer(item["call_id"], item.get("name"), (item["type"],), item)
        for item in objects(list(items))
        if item.get("type") == "function_result"
    ]


def official(item: dict[str, Any]) -> Any:
    """A type that the package does not know is no error to it."""
    step = interactions.FunctionResultStep if item["type"] == "function_result" else None
    made = step.model_validate(item) if step else STEP.validate_python(item)
    if "Unknown" in type(made).__name__:
        raise ValueError("the package knows no such step")
    return item


def came_well(response: dict[str, Any]) -> None:
    for step in pieces(response):
        STEP.validate_python(step)


def _calls(response: dict[str, Any]) -> list[dict[str, Any]]:
    """Functions, and a client's own tool search: those that have no result beside them."""
    steps = objects(response.get("steps"))
    done = {step.get("call_id") for step in steps if step["type"].endswith("_result")}
    kinds = ("function_call", "tool_search_call") if response.get("status") == "requires_action" else ("function_call",)
    return [step for step in steps if step["type"] in kinds and step.get("id") not in done]
