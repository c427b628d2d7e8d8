"""Gemini Interactions: each `function_call` step has one `function_result` step behind it, found by `call_id`.

The steps that the provider runs itself come in pairs of the same make; they are the provider's to answer.
"""

from collections.abc import Sequence
from typing import Any, Final

from adapters.envelopes.transcript.pairing import Pairs
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
    pairs = Pairs({_key(step) for _, step in conversation if step["type"].endswith("_call")})
    for path, step in conversation:
        if step["type"].endswith("_call"):
            pairs.ask(_key(step), f"{path}/id")
        elif step["type"].endswith("_result"):
            pairs.answer(_key(step), f"{path}/call_id")
    for key, path in pairs.unanswered.items():
        if key[0] == "function":
            refuse("unanswered_call", path, "a function_result behind it")


def _key(step: dict[str, Any]) -> tuple[str, str]:
    kind = step["type"]
    if kind.endswith("_call"):
        return kind.removesuffix("_call"), step["id"]
    return kind.removesuffix("_result"), step["call_id"]


def _require_names(conversation: Sequence[_Step]) -> None:
    """The type lets the name be left out; the API answers 400 to a result without it."""
    names = {step["id"]: step["name"] for _, step in conversation if step["type"] == "function_call"}
    for path, step in conversation:
        if step["type"] == "function_result" and step.get("name") != names[step["call_id"]]:
            refuse("name_mismatch", f"{path}/name", "the name of the call")
