"""OpenAI Chat Completions: calls are `message.tool_calls`, answers are messages of the role `tool`.

In: `{"id", "choices": [{"finish_reason", "message": {"tool_calls": [{"id", "type": "function",
"function": {"name", "arguments": "<json>"}}]}}]}`; a choice alone is read as well.
Out: `{"role": "tool", "tool_call_id", "content": "<json>"}`. The surface has no flag for errors: the content tells.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

from adapters import strict_json
from adapters.envelopes import stop_signal
from adapters.envelopes.envelope import ReadTurn, ToolDefinition
from adapters.envelopes.shape import (
    as_call_id,
    as_object,
    as_objects,
    as_word,
    refuse,
    require_distinct_ids,
    require_one_of,
    word_or_none,
)
from adapters.envelopes.stop_signal import Calls, Meaning, Signal
from workflows.domain.proposal import CallResult, Proposal, require_complete_correlation

SURFACE: Final = "openai-chat"

FINISH_REASONS: Final[Mapping[str, Signal]] = MappingProxyType(
    {
        "tool_calls": Signal(Meaning.COMPLETE, Calls.ALWAYS),
        "function_call": Signal(Meaning.COMPLETE, Calls.ALWAYS),
        # A forced tool choice ends with "stop" and holds calls all the same.
        "stop": Signal(Meaning.COMPLETE, Calls.MAYBE),
        "length": Signal(Meaning.CUT),
        "content_filter": Signal(Meaning.REFUSED),
    }
)


def read(response: Any) -> ReadTurn:
    """Read one ChatCompletion; see `Envelope.read`."""
    root = as_object(response, "")
    choice, path = _only_choice(root)
    message = as_object(choice.get("message"), f"{path}/message")
    require_one_of(message.get("role"), (None, "assistant"), f"{path}/message/role")
    proposals = _proposals(choice, message, path)
    return ReadTurn(SURFACE, word_or_none(root.get("id")), proposals, (_echo(message),))


def write(turn: ReadTurn, results: Iterable[CallResult]) -> list[dict[str, Any]]:
    """Return the assistant message and one tool message for each of its calls; see `Envelope.write`."""
    return [*turn.echo, *(_answer(result) for result in require_complete_correlation(turn.proposals, results))]


def render(definition: ToolDefinition) -> dict[str, Any]:
    """Return one entry of a request's `tools`; never `strict`, which would need another schema."""
    return {
        "type": "function",
        "function": {
            "name": definition.name,
            "description": definition.description,
            "parameters": dict(definition.parameters),
        },
    }


def _only_choice(root: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Return the choice to act on and its path: the first of several only if none of them asks for anything."""
    if "choices" not in root and "message" in root:
        return root, ""
    choices = as_objects(root.get("choices"), "/choices")
    if not choices:
        refuse("malformed_envelope", "/choices", "empty", "one choice")
    if len(choices) > 1 and any(_asks(choice) for choice in choices):
        refuse("malformed_envelope", "/choices", "several_choices_with_calls", "one choice when there are calls")
    return choices[0], "/choices/0"


def _asks(choice: dict[str, Any]) -> bool:
    message = choice.get("message")
    return isinstance(message, dict) and bool(message.get("tool_calls") or _legacy_call(message))


def _proposals(choice: dict[str, Any], message: dict[str, Any], path: str) -> tuple[Proposal, ...]:
    signal = stop_signal.look_up(FINISH_REASONS, choice.get("finish_reason"))
    stop_signal.require_not_broken_off(signal, f"{path}/finish_reason")
    calls = _calls(message, f"{path}/message")
    if calls and message.get("refusal"):
        refuse("refused_response", f"{path}/message/refusal", "refused", "calls or a refusal, not both")
    proposals = tuple(_proposal(call, f"{path}/message/tool_calls/{index}") for index, call in enumerate(calls))
    require_distinct_ids(proposals, f"{path}/message/tool_calls")
    reason = f"{path}/finish_reason"
    stop_signal.require_agreement(signal, has_calls=bool(calls), path=reason, table=FINISH_REASONS)
    return proposals


def _legacy_call(message: dict[str, Any]) -> bool:
    """Tell a call from the empty shell of one, which some servers send beside every answer."""
    call = message.get("function_call")
    return any(call.values()) if isinstance(call, dict) else call is not None


def _calls(message: dict[str, Any], path: str) -> list[dict[str, Any]]:
    if _legacy_call(message):  # has no id, so its answer could not be matched
        refuse("unsupported_call_type", f"{path}/function_call", "legacy_function_call", "calls in tool_calls")
    if message.get("tool_calls") is None:
        return []
    return as_objects(message["tool_calls"], f"{path}/tool_calls", "malformed_tool_calls")


def _proposal(call: dict[str, Any], path: str) -> Proposal:
    call_id = as_call_id(call.get("id"), f"{path}/id")
    _require_function(call.get("type"), f"{path}/type")
    function = as_object(call.get("function"), f"{path}/function", "malformed_tool_calls")
    name = as_word(function.get("name"), f"{path}/function/name", "malformed_tool_calls")
    text = _arguments_text(function.get("arguments"), f"{path}/function/arguments")
    try:
        return Proposal(call_id, name, strict_json.parse(text))
    except strict_json.StrictJsonError as error:
        return Proposal(call_id, name, None, "invalid_arguments_json", (error.detail(),))


def _require_function(kind: Any, path: str) -> None:
    """Refuse other kinds of call; servers that copy this surface often leave the kind out."""
    if kind == "custom":
        refuse("unsupported_call_type", path, "custom_tool_call", "a call of the type function")
    if kind not in (None, "function"):
        refuse("unknown_block_type", path, "unknown_type", "a call of the type function")


def _arguments_text(arguments: Any, path: str) -> str:
    """Return the JSON text. None or an empty one is how a call without arguments is sent: the schema decides on it."""
    if arguments is None or arguments == "":
        return "{}"
    if not isinstance(arguments, str):
        refuse("malformed_tool_calls", path, "wrong_type", "a string of JSON")
    return arguments


def _echo(message: dict[str, Any]) -> dict[str, Any]:
    """Return the message as it came, save for `tool_calls` that hold nothing: the API sends them and refuses them."""
    kept = {key: value for key, value in message.items() if key != "tool_calls" or value}
    return {"role": "assistant"} | kept


def _answer(result: CallResult) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": result.call_id, "content": strict_json.dump(result.body())}
