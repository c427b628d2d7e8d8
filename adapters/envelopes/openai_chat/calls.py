"""The three forms of a call: of a function, of a custom tool, and the deprecated one without an id."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from adapters import strict_json
from adapters.envelopes.shape import as_call_id, as_object, as_objects, as_word, refuse
from workflows.domain.proposal import Proposal

LEGACY_CALL_ID: Final = "function_call"
"""Stands for the call of the deprecated form: there is only one in a message, and it has no id of its own."""

_FORM: Final = "form"
_CUSTOM: Final = "custom"


def proposals_of(message: dict[str, Any], path: str) -> tuple[Proposal, ...]:
    """Return what `message` asks for, in its order.

    Raises:
        ResponseRefused: a call has no shape of this surface or could not be answered.
    """
    calls = _calls(message, path)
    if not has_legacy_call(message):
        return tuple(_proposal(call, f"{path}/tool_calls/{index}") for index, call in enumerate(calls))
    if calls:
        refuse("malformed_tool_calls", f"{path}/function_call", "two_forms", "tool_calls or function_call, not both")
    return (_legacy_proposal(message["function_call"], f"{path}/function_call"),)


def has_legacy_call(message: dict[str, Any]) -> bool:
    """Tell a call from the empty shell of one, which some servers send beside every answer."""
    call = message.get("function_call")
    return any(call.values()) if isinstance(call, dict) else call is not None


def is_legacy(proposal: Proposal) -> bool:
    """Whether the call came in the deprecated form and is answered in it."""
    return proposal.carried.get(_FORM) == LEGACY_CALL_ID


def _calls(message: dict[str, Any], path: str) -> list[dict[str, Any]]:
    if message.get("tool_calls") is None:
        return []
    return as_objects(message["tool_calls"], f"{path}/tool_calls", "malformed_tool_calls")


def _proposal(call: dict[str, Any], path: str) -> Proposal:
    kind = call.get("type")
    if not isinstance(kind, str | None) or kind not in _FORMS:
        refuse("unknown_block_type", f"{path}/type", "unknown_type", "a call of the type function or custom")
    return _FORMS[kind](as_call_id(call.get("id"), f"{path}/id"), call, path)


def _function_proposal(call_id: str, call: dict[str, Any], path: str) -> Proposal:
    function = as_object(call.get("function"), f"{path}/function", "malformed_tool_calls")
    return _parsed(call_id, function, f"{path}/function", {})


def _legacy_proposal(call: Any, path: str) -> Proposal:
    function = as_object(call, path, "malformed_tool_calls")
    return _parsed(LEGACY_CALL_ID, function, path, {_FORM: LEGACY_CALL_ID})


def _custom_proposal(call_id: str, call: dict[str, Any], path: str) -> Proposal:
    """The input is free text, so it is the value of one argument: `{"input": "<text>"}`."""
    custom = as_object(call.get("custom"), f"{path}/custom", "malformed_tool_calls")
    name = as_word(custom.get("name"), f"{path}/custom/name", "malformed_tool_calls")
    if not isinstance(custom.get("input"), str):
        refuse("malformed_tool_calls", f"{path}/custom/input", "wrong_type", "a string")
    return _judged(call_id, name, lambda: strict_json.exact({"input": custom["input"]}), {_FORM: _CUSTOM})


def _parsed(call_id: str, function: dict[str, Any], path: str, carried: Mapping[str, Any]) -> Proposal:
    name = as_word(function.get("name"), f"{path}/name", "malformed_tool_calls")
    text = _arguments_text(function.get("arguments"), f"{path}/arguments")
    return _judged(call_id, name, lambda: strict_json.parse(text), carried)


def _judged(call_id: str, name: str, arguments: Callable[[], Any], carried: Mapping[str, Any]) -> Proposal:
    try:
        return Proposal(call_id, name, arguments(), carried=carried)
    except strict_json.StrictJsonError as error:
        return Proposal(call_id, name, None, "invalid_arguments_json", (error.detail(),), carried=carried)


def _arguments_text(arguments: Any, path: str) -> str:
    """Return the JSON text. None or an empty one is how a call without arguments is sent: the schema decides on it."""
    if arguments is None or arguments == "":
        return "{}"
    if not isinstance(arguments, str):
        refuse("malformed_tool_calls", path, "wrong_type", "a string of JSON")
    return arguments


_FORMS: Final[Mapping[str | None, Callable[[str, dict[str, Any], str], Proposal]]] = MappingProxyType(
    # Servers that copy this surface often leave the kind out.
    {None: _function_proposal, "function": _function_proposal, _CUSTOM: _custom_proposal}
)
