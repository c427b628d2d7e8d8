"""Gemini generateContent: a model's content with calls, then one content with just as many results.

Ids are optional on either side: a result without one belongs to the call in its own place. Members are read in the
form of the wire (`functionCall`) and in that of the package (`function_call`); the API takes both.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from adapters.envelopes.transcript.refusal import as_object, as_objects, as_word, refuse

SURFACE: Final = "gemini-generate-content"

DATA: Final = (
    "text",
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
    "audioTranscription",
)
"""What a part can be, as `google.genai.types.Part` lists it; the rest of its members only say more about it."""
_SNAKE: Final = {
    name: "".join(f"_{c.lower()}" if c.isupper() else c for c in name) for name in (*DATA, "thoughtSignature")
}

_Part = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class _Content:
    role: str
    path: str
    parts: Sequence[_Part]

    def of(self, name: str) -> list[_Part]:
        """The values of one member, each with its path."""
        found = ((f"{path}/{name}", _member(part, name)) for path, part in self.parts)
        return [(path, as_object(value, path)) for path, value in found if value is not None]


def require_sound(contents: Any) -> None:
    """Refuse `contents` that the API would refuse; see `transcript.require_sound`."""
    conversation = [_content(path, content) for path, content in as_objects(contents, "")]
    for position, content in enumerate(conversation):
        before = conversation[position - 1] if position else None
        calls = content.of("functionCall")
        if calls:
            _require_place(calls, content, before)
            _require_unique_ids(calls)
            _require_answers(calls, conversation[position + 1 :])
        _require_results(content, before)
    _require_signatures(_current_turn(conversation))


def _content(path: str, content: dict[str, Any]) -> _Content:
    """A content "must include at least one parts field", and of a part one "data" field "must be initialized"."""
    parts = as_objects(content.get("parts"), f"{path}/parts")
    if not parts:
        refuse("empty_content", f"{path}/parts", "at least one part")
    for place, part in parts:
        if all(_member(part, name) is None for name in DATA):
            refuse("empty_content", place, "a part that holds something")
    # "If not set, the service will default to 'user'": google.genai.types.Content.
    return _Content(content.get("role") or "user", path, parts)


def _member(part: dict[str, Any], name: str) -> Any:
    return part.get(name, part.get(_SNAKE[name]))


# -- calls and their results -------------------------------------------------------------------------------------------


def _require_place(calls: Sequence[_Part], content: _Content, before: _Content | None) -> None:
    """The API says: a "function call turn comes immediately after a user turn or after a function response turn"."""
    if content.role != "model" or before is None or before.role == "model":
        refuse("misplaced_call", calls[0][0], "calls in a content of the model, behind one of the user")


def _require_unique_ids(calls: Sequence[_Part]) -> None:
    """An id, if there is one, is "the unique id of the function call": google.genai.types.FunctionCall."""
    seen: set[str] = set()
    for path, call in calls:
        name = _given_id(call, path)
        if name in seen:
            refuse("repeated_call_id", f"{path}/id", "an id that no other call of the content has")
        seen |= {name} if name else set()


def _given_id(value: dict[str, Any], path: str) -> str | None:
    """An empty id is the absence of one, as everywhere on this surface."""
    return as_word(value["id"], f"{path}/id") if value.get("id") else None


def _require_answers(calls: Sequence[_Part], later: Sequence[_Content]) -> None:
    """The API wants "the number of function response parts" to be "equal to the number of function call parts"."""
    results = later[0].of("functionResponse") if later else []
    if not results and any(content.of("functionResponse") for content in later):
        refuse("misplaced_result", later[0].path, "the results directly behind their calls")
    if not results:
        refuse("unanswered_call", calls[0][0], "a content with the results behind it")
    if len(results) != len(calls):
        refuse("wrong_count", f"{later[0].path}/parts", "as many results as there are calls")


def _require_results(content: _Content, before: _Content | None) -> None:
    results = content.of("functionResponse")
    if not results:
        return
    if content.role == "model":
        refuse("misplaced_result", results[0][0], "results in a content of the user")
    calls = before.of("functionCall") if before else []
    if not calls:  # "function response turn comes immediately after a function call turn", says the API
        refuse("unasked_result", results[0][0], "a content with calls before it")
    _require_results_alone(content)
    _require_pairs(calls, results)


def _require_results_alone(content: _Content) -> None:
    """Other parts break the API's count; what belongs to a result goes into its own `parts`."""
    for path, part in content.parts:
        if _member(part, "functionResponse") is None:
            refuse("misplaced_part", path, "results alone")


def _require_pairs(calls: Sequence[_Part], results: Sequence[_Part]) -> None:
    """An id that is given must be the call's: "functionResponse.id does not match functionCall.id", says the API."""
    places = {call["id"]: position for position, (_, call) in enumerate(calls) if call.get("id")}
    taken: set[int] = set()
    for index, (path, result) in enumerate(results):
        name = _given_id(result, path)
        if name and name not in places:
            refuse("unasked_result", f"{path}/id", "the id of a call, or none where the call has none")
        position = places[name] if name else index
        if position in taken:
            refuse("repeated_result", path, "one result for each call")
        taken.add(position)
        _require_result(path, result, calls[position][1])


def _require_result(path: str, result: dict[str, Any], call: dict[str, Any]) -> None:
    """FunctionResponse: both are required, `response` in "JSON object format"; `name` matches FunctionCall.name."""
    if as_word(result.get("name"), f"{path}/name") != call.get("name"):
        refuse("name_mismatch", f"{path}/name", "the name of the call")
    if result.get("response") is None:
        refuse("null_content", f"{path}/response", "an object")
    as_object(result["response"], f"{path}/response")


# -- signatures --------------------------------------------------------------------------------------------------------


def _current_turn(conversation: Sequence[_Content]) -> list[_Content]:
    """The steps of the model since the user last said something; the API looks no further back."""
    said = [position for position, content in enumerate(conversation) if _is_said(content)]
    return [content for content in conversation[said[-1] + 1 if said else 0 :] if content.role == "model"]


def _is_said(content: _Content) -> bool:
    return content.role != "model" and not content.of("functionResponse")


def _require_signatures(steps: Sequence[_Content]) -> None:
    """The API says: "Function call is missing a thought_signature in functionCall parts".

    Where the model signs, it signs each step, at its first call or before that; calls beside the first bear none. A
    model that signs nothing is not asked to.
    """
    if not any(_is_signed(part) for step in steps for _, part in step.parts):
        return
    for step in steps:
        first = next((i for i, (_, part) in enumerate(step.parts) if _member(part, "functionCall") is not None), None)
        if first is not None and not any(_is_signed(part) for _, part in step.parts[: first + 1]):
            refuse("missing_signature", step.parts[first][0], "the signature that came with the call")


def _is_signed(part: dict[str, Any]) -> bool:
    return bool(_member(part, "thoughtSignature"))
