"""The parts of a content that ask for something."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Final

from adapters import strict_json
from adapters.envelopes.shape import as_call_id, as_object, as_word, refuse
from workflows.domain.proposal import Proposal

CALL: Final = "functionCall"

PLAIN: Final = frozenset(
    {
        "text",
        "thought",
        "thoughtSignature",
        "inlineData",
        "fileData",
        "functionResponse",
        "executableCode",
        "codeExecutionResult",
        "toolCall",
        "toolResponse",
        "audioTranscription",
        "partMetadata",
        "mediaResolution",
        "mediaProcessing",
        "videoMetadata",
        "speechMetadata",
        "documentMetadata",
        "spreadsheetMetadata",
        "audioMetadata",
    }
)
"""Members of a part that ask this side for nothing."""

ONE_DOUBLE_EACH: Final = 2**53
"""Below this magnitude every integer has a double of its own; from here on two share one."""

_INPUTS: Final = ("args", "arguments")

_NO_ID: Final[Mapping[str, Any]] = MappingProxyType({})


def asks(part: dict[str, Any]) -> bool:
    """Whether the part is a call."""
    return part.get(CALL) is not None


def proposals_of(parts: Sequence[dict[str, Any]], path: str) -> tuple[Proposal, ...]:
    """Return what `parts` ask for, in their order.

    A call without an id gets `part-<n>`, n counting the call parts alone: a stream may cut the text around them
    otherwise than the whole response, and the same call must have the same id in both.

    Raises:
        ResponseRefused: a call has no shape of this surface, is not whole, or a part might be a call and is unknown.
    """
    calls = [(f"{path}/{index}/{CALL}", part[CALL]) for index, part in enumerate(parts) if _is_call(part, path, index)]
    return tuple(_proposal(call, place, number) for number, (place, call) in enumerate(calls))


def id_given_to(proposal: Proposal) -> Mapping[str, Any]:
    """The members by which an answer names its call: none when the provider gave no id."""
    return proposal.carried


def _is_call(part: dict[str, Any], path: str, index: int) -> bool:
    for member, value in part.items():
        if member != CALL and member not in PLAIN and _might_be_call(member, value):
            refuse("unknown_block_type", f"{path}/{index}", "unknown_type", "parts that this surface defines")
    return asks(part)


def _might_be_call(member: str, value: Any) -> bool:
    """A call in the spelling of another library counts, so that it is not overlooked."""
    if value is None:
        return False
    return "call" in member.lower() or member in _INPUTS or (isinstance(value, dict) and "name" in value)


def _proposal(given: Any, path: str, number: int) -> Proposal:
    call = as_object(given, path, "malformed_tool_calls")
    _require_whole(call, path)
    name = as_word(call.get("name"), f"{path}/name", "malformed_tool_calls")
    call_id, carried = _identity(call.get("id"), f"{path}/id", number)
    args = as_object({} if call.get("args") is None else call["args"], f"{path}/args", "malformed_tool_calls")
    try:
        return Proposal(call_id, name, whole_numbers(strict_json.exact(args)), carried=carried)
    except strict_json.StrictJsonError as error:
        return Proposal(call_id, name, None, "invalid_arguments_json", (error.detail(),), carried=carried)


def _require_whole(call: dict[str, Any], path: str) -> None:
    """Refuse a piece of a call whose arguments are streamed one by one: nothing here puts such pieces together."""
    if call.get("partialArgs") or call.get("willContinue"):
        refuse("incomplete_response", path, "partial_arguments", "a whole call with all its args")


def _identity(given: Any, path: str, number: int) -> tuple[str, Mapping[str, Any]]:
    if given is None or given == "":
        return f"part-{number}", _NO_ID
    return as_call_id(given, path), {"id": given}


def whole_numbers(value: Any) -> Any:
    """Return `value` with every whole number as `int`: servers that hold JSON in protobuf send 3 as 3.0.

    That is a spelling of theirs and no choice of the model's, so the schema must not judge it. A number too large to
    have a double of its own may have been rounded already; it stays as it came.
    """
    if isinstance(value, dict):
        return {key: whole_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [whole_numbers(item) for item in value]
    if isinstance(value, Decimal) and abs(value) < ONE_DOUBLE_EACH and value == int(value):
        return int(value)
    return value
