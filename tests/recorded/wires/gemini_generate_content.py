"""Gemini generateContent, as the documentation and the package `google-genai` have it."""

from collections.abc import Sequence
from typing import Any, Final

from google.genai import types

from tests.recorded.wire import Answer, Asked, Ending, objects

SURFACE: Final = "gemini-generate-content"
NEEDED: Final = frozenset({"name", "response"})
RESUMED_BY_ECHO: Final = False

FAULTS: Final = {
    "MAX_TOKENS": "incomplete_response",
    "MALFORMED_RESPONSE": "incomplete_response",
    "MALFORMED_FUNCTION_CALL": "malformed_tool_calls",
    "UNEXPECTED_TOOL_CALL": "tool_not_allowed",
    "TOO_MANY_TOOL_CALLS": "too_many_calls",
}
UNSAID: Final = frozenset({None, "", "FINISH_REASON_UNSPECIFIED"})


def whole(events: Sequence[Any]) -> dict[str, Any] | None:
    """Each chunk has whole parts; the last one says how it ended."""
    chunks = objects(list(events))
    firsts = [candidate for chunk in chunks for candidate in objects(chunk.get("candidates"))[:1]]
    reasons = [first["finishReason"] for first in firsts if first.get("finishReason")]
    if not reasons or any(chunk.get("error") for chunk in chunks):
        return None
    parts = [part for first in firsts for part in (first.get("content") or {}).get("parts") or []]
    content = {"role": "model", "parts": parts}
    return {**chunks[0], "candidates": [{"content": content, "finishReason": reasons[-1]}]}


def ending(response: dict[str, Any]) -> Ending:
    if (response.get("promptFeedback") or {}).get("blockReason"):
        return Ending(frozenset({"refused_response"}))
    candidates = objects(response["candidates"])
    if len(candidates) > 1 and any(_calls({"candidates": [candidate]}) for candidate in candidates):
        return Ending(frozenset({"malformed_envelope"}))
    reason = candidates[0].get("finishReason")
    if reason == "CONTINUATION":
        return Ending(paused=True)
    if reason == "STOP" or reason in UNSAID:
        return Ending(frozenset(_faults(_calls(response), reason)))
    return Ending(frozenset({FAULTS.get(str(reason), "refused_response")}))


def _faults(calls: Sequence[dict[str, Any]], reason: Any) -> set[str]:
    ids = [call["id"] for call in calls if call.get("id")]
    if any(call.get("partialArgs") or call.get("willContinue") for call in calls):
        return {"incomplete_response"}
    if not all(isinstance(call.get("args"), dict | None) and call.get("name") for call in calls):
        return {"malformed_tool_calls"}
    if len(set(ids)) < len(ids):
        return {"duplicate_call_id"}
    return {"unknown_stop_signal"} if calls and reason in UNSAID else set()


def pieces(response: dict[str, Any]) -> list[Any]:
    return list(_content(response).get("parts") or [])


def echoed(items: Sequence[dict[str, Any]]) -> list[Any]:
    return [part for item in items for part in item["parts"]]


def may_change(_came: Any, _went: Any) -> bool:
    return False


def may_go(_piece: Any) -> bool:
    return False


def asked(response: dict[str, Any]) -> list[Asked]:
    return [Asked(call.get("id") or None, call["name"], call.get("args") or {}) for call in _calls(response)]


def hosted(response: dict[str, Any]) -> set[str]:
    calls = (part.get("toolCall") or {} for part in objects(pieces(response)))
    return {call["id"] for call in calls if call.get("id")}


def opening(_: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"role": "user", "parts": [{"text": "Go on."}]}]


def answers(items: Sequence[Any]) -> list[Answer]:
    return [
        Answer(result.get("id"), result.get("name"), ("functionResponse", str(content.get("role"))), result)
        for content in objects(list(items))
        for result in (part.get("functionResponse") for part in objects(content.get("parts")))
        if result is not None
    ]


def official(item: dict[str, Any]) -> Any:
    """The package keeps nothing that it does not know, so that it was accepted says enough."""
    types.Content.model_validate(item)
    return item


def came_well(response: dict[str, Any]) -> None:
    types.Content.model_validate(_content(response))


def _content(response: dict[str, Any]) -> dict[str, Any]:
    candidates = objects(response.get("candidates"))
    content: dict[str, Any] = (candidates[0].get("content") if candidates else None) or {}
    return content


def _calls(response: dict[str, Any]) -> list[dict[str, Any]]:
    return [part["functionCall"] for part in objects(_content(response).get("parts")) if part.get("functionCall")]
