"""One `tools/call` of an MCP host: the call is the whole turn, its answer a `CallToolResult`.

In: `{"request_id", "call_id", "name", "arguments"}`, put together by the server, which knows who says what: a host
names no call, so the ids are its own key for the request or ours.
Out: `{"content": [{"type": "text", "text": "<json>"}], "structuredContent": {...}, "isError": bool}`. A call that waits
is no error: it says for what, and what to do meanwhile.

No model's response is read here, so this is no surface that a caller of `/v1/turns` can name.
"""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from adapters import strict_json
from adapters.envelopes.envelope import Findings, Listing, Offer, ReadTurn, ToolDefinition
from adapters.envelopes.envelope import takes_any as takes
from adapters.envelopes.shape import as_object, as_word, refuse
from adapters.envelopes.strict import Inexpressible, StrictForm
from workflows.domain.proposal import CallResult, Proposal, Status, require_complete_correlation

__all__ = ["SURFACE", "forms", "found", "offer", "read", "read_stream", "render", "takes", "write"]

SURFACE: Final = "mcp"

WAITING: Final = "waiting"
"""The status of a call whose operation has not ended: neither a success nor a failure."""

NEXT_STEP: Final = (
    "Nothing has failed. Do not make this call again: ask get_operation with this operation_id for what came of it."
)


def read(response: Any) -> ReadTurn:
    """Return the one call; arguments that are no strict JSON are its fault. See `Envelope.read`."""
    call = as_object(response, "")
    request_id = as_word(call.get("request_id"), "/request_id", "missing_request_id")
    call_id = as_word(call.get("call_id"), "/call_id", "missing_call_id")
    name = as_word(call.get("name"), "/name", "malformed_tool_calls")
    given = as_object(call.get("arguments"), "/arguments", "malformed_tool_calls")
    return ReadTurn(SURFACE, request_id, (_proposal(call_id, name, given),), ())


def read_stream(events: Sequence[Any]) -> ReadTurn:
    """Refuse: a host's call comes whole."""
    del events
    refuse("malformed_envelope", "", "unexpected_value", "one call")


def write(turn: ReadTurn, results: Iterable[CallResult]) -> list[dict[str, Any]]:
    """Return one `CallToolResult` for each call; see `Envelope.write`."""
    return list(map(_answer, require_complete_correlation(turn.proposals, results)))


def render(definition: ToolDefinition) -> dict[str, Any]:
    """Return the definition as `tools/list` has it, without what only the contract says of the tool."""
    return {
        "name": definition.name,
        "description": definition.description,
        "inputSchema": dict(definition.parameters),
    }


def offer(offer: Offer) -> Listing:
    """Return every tool: to find the few that fit among many is the host's affair."""
    return Listing([render(each) for each in offer.tools])


def found(definitions: Sequence[ToolDefinition]) -> Findings:
    """Return what a search has found; nobody here is offered one."""
    return Findings({"tools": [each.name for each in definitions]})


def forms(schemas: Sequence[Mapping[str, Any]]) -> Sequence[StrictForm | Inexpressible]:
    """Return no strict form: no provider is asked to hold a model to a schema here."""
    return [Inexpressible("no_strict_form") for _ in schemas]


def _proposal(call_id: str, name: str, given: dict[str, Any]) -> Proposal:
    try:
        return Proposal(call_id, name, strict_json.exact(given))
    except strict_json.StrictJsonError as error:
        return Proposal(call_id, name, None, fault="invalid_arguments_json", fault_details=(error.detail(),))


def _answer(result: CallResult) -> dict[str, Any]:
    body = _body(result)
    return {
        "resultType": "complete",
        "content": [{"type": "text", "text": strict_json.dump(body)}],
        "structuredContent": _plain(body),
        "isError": result.final and result.status is not Status.SUCCEEDED,
    }


def _body(result: CallResult) -> dict[str, Any]:
    body: dict[str, Any] = {"status": result.status.value if result.final else WAITING}
    if result.operation_id is not None:
        body["operation_id"] = result.operation_id
    if result.error is None:
        # What was cut no longer has the form that the tool declares.
        name = "loose_result" if result.about.get("truncated") else "result"
        return body | {name: result.data, "about": dict(result.about)}
    told = result.error.as_json()
    return body | ({"error": told} if result.final else {"waiting": told, "next_step": NEXT_STEP})


def _plain(value: Any) -> Any:
    """As a host's JSON has numbers: the text beside it keeps every digit."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
