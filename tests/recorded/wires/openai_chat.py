"""Chat Completions, as the documentation and the package `openai` have it."""

import copy
from collections.abc import Sequence
from typing import Any, Final

from openai.types.chat import (
    ChatCompletionAssistantMessageParam,
    ChatCompletionFunctionMessageParam,
    ChatCompletionMessage,
    ChatCompletionToolMessageParam,
)

from tests.recorded.official import Shape
from tests.recorded.sameness import same_but_for_nulls
from tests.recorded.wire import Answer, Asked, Ending, objects, parsed

SURFACE: Final = "openai-chat"
NEEDED: Final = frozenset({"role", "content"})
RESUMED_BY_ECHO: Final = False

ENDS: Final = {
    "length": frozenset({"incomplete_response"}),
    "content_filter": frozenset({"refused_response"}),
}
WITH_CALLS: Final = frozenset({"tool_calls", "function_call", "stop"})

SENT_WHOLE: Final = frozenset({"id", "type", "role", "name", "channel"})
"""Members that a stream never splits; some servers send them with every piece."""

SHAPES: Final = {
    "assistant": Shape(ChatCompletionAssistantMessageParam),
    "tool": Shape(ChatCompletionToolMessageParam),
    "function": Shape(ChatCompletionFunctionMessageParam),
}


def whole(events: Sequence[Any]) -> dict[str, Any] | None:
    """Every server sends the parts of a call in order; some number all calls 0 and tell them apart by their ids."""
    message: dict[str, Any] = {}
    reasons: list[str] = []
    for event in objects(copy.deepcopy(list(events))):
        for choice in objects(event.get("choices")):
            _grow(message, choice.get("delta") or {})
            reasons += [choice["finish_reason"]] if choice.get("finish_reason") else []
    if not reasons or any(event.get("error") for event in objects(list(events))):
        return None
    return {"choices": [{"finish_reason": reasons[-1], "message": message}]}


def _grow(value: dict[str, Any], piece: dict[str, Any]) -> None:
    for key, more in piece.items():
        if key == "tool_calls":
            for call in objects(more):
                _grow_call(value.setdefault(key, []), call)
        elif isinstance(more, dict) and isinstance(value.get(key), dict):
            _grow(value[key], more)
        elif isinstance(more, str) and isinstance(value.get(key), str) and key not in SENT_WHOLE:
            value[key] += more
        elif isinstance(more, list) and isinstance(value.get(key), list):
            value[key] = [*value[key], *more]
        elif more is not None or key not in value:
            value[key] = more if more or not value.get(key) else value[key]


def _grow_call(calls: list[dict[str, Any]], piece: dict[str, Any]) -> None:
    index, given = piece.get("index"), piece.get("id")
    open_calls = [call for call in calls if call["index"] == index and (not given or given == call.get("id"))]
    if not open_calls:
        open_calls = [{"index": index}]
        calls.extend(open_calls)
    _grow(open_calls[-1], piece)


def ending(response: dict[str, Any]) -> Ending:
    choice = _choice(response)
    reason = choice.get("finish_reason")
    if len(response["choices"]) > 1 and any(objects(each["message"].get("tool_calls")) for each in response["choices"]):
        return Ending(frozenset({"malformed_envelope"}))
    return Ending(ENDS[reason] if reason in ENDS else frozenset(_faults(choice["message"], _calls(response), reason)))


def _faults(message: dict[str, Any], calls: Sequence[dict[str, Any]], reason: Any) -> set[str]:
    ids = [call.get("id") for call in calls]
    if not all(ids):
        return {"missing_call_id"}
    if not all(map(_is_whole, calls)):
        return {"malformed_tool_calls"}
    if len(set(ids)) < len(ids):
        return {"duplicate_call_id"}
    if calls and message.get("refusal"):
        return {"refused_response"}
    if calls and reason not in WITH_CALLS:
        return {"unknown_stop_signal"}
    asks = calls or (message.get("function_call") or {}).get("name")
    return {"missing_tool_calls"} if reason == "tool_calls" and not asks else set()


def _is_whole(call: dict[str, Any]) -> bool:
    called = call["custom" if call.get("type") == "custom" else "function"]
    return bool(called["name"]) and isinstance(called.get("arguments"), str | None)


def pieces(response: dict[str, Any]) -> list[Any]:
    return _pieces(_choice(response)["message"])


def echoed(items: Sequence[dict[str, Any]]) -> list[Any]:
    return [piece for item in items for piece in _pieces(item)]


def _pieces(message: dict[str, Any]) -> list[Any]:
    """Each member for itself, in one order, and each call for itself; the place of a call in a stream is none of it."""
    said = [{key: message[key]} for key in sorted(message) if key not in ("tool_calls", "role")]
    calls = [
        {key: value for key, value in call.items() if key != "index"} for call in objects(message.get("tool_calls"))
    ]
    return [*said, *calls]


def may_change(came: Any, went: Any) -> bool:
    """A content that is null may go back as no words, and a null member not at all."""
    return same_but_for_nulls(came, went) or (came == {"content": None} and went == {"content": ""})


def may_go(piece: Any) -> bool:
    """A member without a value."""
    return all(value is None for value in piece.values())


def asked(response: dict[str, Any]) -> list[Asked]:
    legacy = _legacy(response)
    if legacy:
        return [Asked(None, legacy["name"], parsed(legacy.get("arguments")))]
    return [_asked(call) for call in _calls(response)]


def _asked(call: dict[str, Any]) -> Asked:
    if call.get("type") == "custom":
        return Asked(call["id"], call["custom"]["name"], {"input": call["custom"]["input"]})
    return Asked(call["id"], call["function"]["name"], parsed(call["function"].get("arguments")))


def hosted(_: dict[str, Any]) -> set[str]:
    return set()


def opening(_: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"role": "user", "content": "Go on."}]


def answers(items: Sequence[Any]) -> list[Answer]:
    return [
        Answer(item.get("tool_call_id"), item.get("name"), (item["role"],), item)
        for item in objects(list(items))
        if item.get("role") in ("tool", "function")
    ]


def official(item: dict[str, Any]) -> Any:
    return SHAPES[item["role"]].of(item)


def came_well(response: dict[str, Any]) -> None:
    ChatCompletionMessage.model_validate(_choice(response)["message"])


def _choice(response: dict[str, Any]) -> dict[str, Any]:
    choice: dict[str, Any] = response["choices"][0]
    return choice


def _calls(response: dict[str, Any]) -> list[dict[str, Any]]:
    return objects(_choice(response)["message"].get("tool_calls"))


def _legacy(response: dict[str, Any]) -> dict[str, Any]:
    call: dict[str, Any] = _choice(response)["message"].get("function_call") or {}
    return call if call.get("name") else {}
