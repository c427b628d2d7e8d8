"""Gemini Interactions: each `function_call` step has one `function_result` step behind it, found by `call_id`.

The steps that the provider runs itself come in pairs of the same make; they are the provider's to answer.
"""

from collections.abc import Collection, Sequence
from typing import Any, Final

from adapters.envelopes.transcript.pairing import Key, Pairs
from adapters.envelopes.transcript.refusal import as_object, as_objects, as_word, refuse

SURFACE: Final = "gemini-interactions"

_Step = tuple[str, dict[str, Any]]


def require_sound(steps: Any) -> None:
    """Refuse `steps` that the API would refuse; see `transcript.require_sound`."""
    conversation = as_objects(steps, "")
    for path, step in conversation:
        _require_step(path, step)
    _require_pairs(conversation)
    _require_names(conversation)


def _require_step(path: str, step: dict[str, Any]) -> None:
    """What FunctionCallStep and FunctionResultStep require."""
    kind = as_word(step.get("type"), f"{path}/type")
    if kind.endswith("_call"):
        as_word(step.get("id"), f"{path}/id", "missing_call_id")
    if kind.endswith("_result"):
        as_word(step.get("call_id"), f"{path}/call_id", "missing_call_id")
    if kind == "function_call":
        as_word(step.get("name"), f"{path}/name")
        as_object(step.get("arguments"), f"{path}/arguments")
    if kind == "function_result":
        _require_result(step.get("result"), f"{path}/result")


def _require_result(result: Any, path: str) -> None:
    if result is None:
        refuse("null_content", path, "an object, a string or an array")
    if not isinstance(result, dict | str | list):
        refuse("malformed_item", path, "an object, a string or an array")


def _require_pairs(conversation: Sequence[_Step]) -> None:
    """The types say of every result: "ID to match the ID from the function call block"."""
    searches = {step["id"] for _, step in conversation if step["type"] == "tool_search_call"}
    pairs = Pairs({(_kind(step), step["id"]) for _, step in conversation if _is_call(step)})
    for path, step in conversation:
        if _is_call(step):
            pairs.ask((_kind(step), step["id"]), f"{path}/id")
        elif step["type"].endswith("_result"):
            pairs.answer(_answered(step, searches), f"{path}/call_id")
    for (kind, _), path in pairs.unanswered.items():
        if kind == "function":
            refuse("unanswered_call", path, "a function_result behind it")


def _is_call(step: dict[str, Any]) -> bool:
    return bool(step["type"].endswith("_call"))


def _kind(step: dict[str, Any]) -> str:
    """`function` of a function_call and of a function_result, and so on."""
    kind: str = step["type"]
    return kind.rpartition("_")[0]


def _answered(step: dict[str, Any], searches: Collection[str]) -> Key:
    """A client answers its tool search with a function_result; the provider answers its own with one of its kind."""
    if step["type"] == "function_result" and step["call_id"] in searches:
        return "tool_search", step["call_id"]
    return _kind(step), step["call_id"]


def _require_names(conversation: Sequence[_Step]) -> None:
    """The type lets the name be left out; the API answers 400 to a result without it."""
    names = {step["id"]: step["name"] for _, step in conversation if step["type"] == "function_call"}
    for path, step in conversation:
        if step["type"] == "function_result":
            name = as_word(step.get("name"), f"{path}/name", "name_mismatch")
            if name != names.get(step["call_id"], name):
                refuse("name_mismatch", f"{path}/name", "the name of the call")
