"""The calls that wait for an answer, each as a proposal."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from adapters import strict_json
from adapters.envelopes.openai_responses.items import APPROVAL, CUSTOM, FUNCTION, SEARCH, identity
from adapters.envelopes.shape import as_call_id, as_object, as_word, refuse, require_one_of
from workflows.domain.proposal import Proposal

KIND: Final = "kind"
CALLER: Final = "caller"
NAMESPACE: Final = "namespace"
ASYNC: Final = "async"
"""What a proposal carries: the kind of its item, the two members that its answer gives back, and `async` if true."""

SEARCH_TOOL: Final = "tool_search"
"""The tool that a client's tool search means: the surface gives it no name."""

MAX_CALL_ID: Final = 64
"""Characters. The API hands longer ones out now and then, and refuses the answer to them."""

_UNFIT: Final = "malformed_tool_calls"


def proposal_of(item: dict[str, Any], path: str) -> Proposal:
    """Return what one item asks for; `path` is its place.

    Raises:
        ResponseRefused: the item has no shape of this surface, is not whole, or could not be answered.
    """
    return _READERS[item["type"]](item, path)


def _function(item: dict[str, Any], path: str) -> Proposal:
    _require_whole(item, path)
    text = _arguments_text(item, path)
    return _named(item, path, lambda: strict_json.parse(text))


def _custom(item: dict[str, Any], path: str) -> Proposal:
    """The input is free text, so it is the value of one argument: `{"input": "<text>"}`."""
    if not isinstance(item.get("input"), str):
        refuse(_UNFIT, f"{path}/input", "wrong_type", "a string")
    _require_whole(item, path)
    return _named(item, path, lambda: strict_json.exact({"input": item["input"]}))


def _search(item: dict[str, Any], path: str) -> Proposal:
    require_one_of(item.get("execution"), ("client", "server"), f"{path}/execution")
    _require_whole(item, path)
    given = {} if item.get("arguments") is None else as_object(item["arguments"], f"{path}/arguments", _UNFIT)
    call_id = _answerable(item.get("call_id"), f"{path}/call_id")
    return _judged(call_id, SEARCH_TOOL, lambda: strict_json.exact(given), {KIND: SEARCH})


def _approval(item: dict[str, Any], path: str) -> Proposal:
    request_id = _answerable(item.get("id"), f"{path}/id")
    server = as_word(item.get("server_label"), f"{path}/server_label", _UNFIT)
    name = as_word(item.get("name"), f"{path}/name", _UNFIT)
    text = _arguments_text(item, path)
    return _judged(request_id, f"{server}.{name}", lambda: strict_json.parse(text), {KIND: APPROVAL}, hosted=True)


def _named(item: dict[str, Any], path: str, arguments: Callable[[], Any]) -> Proposal:
    call_id = _answerable(item.get("call_id"), f"{path}/call_id")
    name = as_word(item.get("name"), f"{path}/name", _UNFIT)
    carried = {KIND: item["type"]} | _given_back(item, path)
    return _judged(call_id, identity(carried.get(NAMESPACE), name), arguments, carried)


def _given_back(item: dict[str, Any], path: str) -> dict[str, Any]:
    given: dict[str, Any] = {}
    if item.get(CALLER) is not None:
        given[CALLER] = as_object(item[CALLER], f"{path}/{CALLER}", _UNFIT)
    if item.get(NAMESPACE) is not None:
        given[NAMESPACE] = as_word(item[NAMESPACE], f"{path}/{NAMESPACE}", _UNFIT)
    if item.get(ASYNC) is True:
        given[ASYNC] = True
    return given


def _judged(
    call_id: str, name: str, arguments: Callable[[], Any], carried: Mapping[str, Any], *, hosted: bool = False
) -> Proposal:
    try:
        return Proposal(call_id, name, arguments(), hosted=hosted, carried=carried)
    except strict_json.StrictJsonError as error:
        fault = "invalid_arguments_json"
        return Proposal(call_id, name, None, fault, (error.detail(),), hosted=hosted, carried=carried)


def _answerable(value: Any, path: str) -> str:
    call_id = as_call_id(value, path)
    if len(call_id) > MAX_CALL_ID:
        refuse("id_too_long", path, "too_long", f"at most {MAX_CALL_ID} characters")
    return call_id


def _require_whole(item: dict[str, Any], path: str) -> None:
    """Refuse a call that was cut although the response says that it ended well."""
    if item.get("status") in ("incomplete", "in_progress"):
        refuse("incomplete_response", f"{path}/status", "cut_off", "a call that is completed")
    require_one_of(item.get("status"), (None, "completed"), f"{path}/status")


def _arguments_text(item: dict[str, Any], path: str) -> str:
    """Return the JSON text. None or an empty one is how a call without arguments is sent: the schema decides on it."""
    text = item.get("arguments")
    if text is None or text == "":
        return "{}"
    if not isinstance(text, str):
        refuse(_UNFIT, f"{path}/arguments", "wrong_type", "a string of JSON")
    return text


_READERS: Final[Mapping[str, Callable[[dict[str, Any], str], Proposal]]] = MappingProxyType(
    {FUNCTION: _function, CUSTOM: _custom, SEARCH: _search, APPROVAL: _approval}
)
