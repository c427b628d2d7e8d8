"""OpenAI Chat Completions: the messages of the role `tool` follow directly on the message with their `tool_calls`.

Many servers speak this surface, each with ids of its own length and some without the kind of a call, so neither is
asked for. Ids may come again in a later message: the results stand beside their calls, and models do repeat them.
"""

from collections.abc import Sequence
from typing import Any, Final

from adapters.envelopes.transcript.refusal import as_objects, as_word, refuse, require_text

SURFACE: Final = "openai-chat"

_Message = tuple[str, dict[str, Any]]


def require_sound(messages: Any) -> None:
    """Refuse `messages` that the API would refuse; see `transcript.require_sound`."""
    conversation = as_objects(messages, "")
    position = 0
    while position < len(conversation):
        path, message = conversation[position]
        calls = _calls(path, message)
        _require_content(path, message, calls=bool(calls))
        answers = _following_answers(conversation, position)
        _require_answers(calls, answers, conversation[position + 1 + len(answers) :])
        position += 1 + len(answers)


def _following_answers(conversation: Sequence[_Message], position: int) -> list[_Message]:
    """The tool messages that a message is followed by; a tool message itself is followed by none."""
    answers: list[_Message] = []
    if conversation[position][1].get("role") == "tool":
        # "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'", says the API.
        refuse("unasked_result", conversation[position][0], "a message with tool_calls before it")
    for path, message in conversation[position + 1 :]:
        if message.get("role") != "tool":
            break
        answers.append((path, message))
    return answers


def _calls(path: str, message: dict[str, Any]) -> dict[str, str]:
    """The ids of a message's calls, each with its path; what a call has: ChatCompletionMessageToolCallUnionParam."""
    as_word(message.get("role"), f"{path}/role")
    if message.get("tool_calls") is None:
        return {}
    place = f"{path}/tool_calls"
    if message["role"] != "assistant":
        refuse("misplaced_call", place, "calls in a message of the assistant")
    calls = as_objects(message["tool_calls"], place)
    if not calls:  # "Invalid 'messages[..].tool_calls': empty array", says the API
        refuse("empty_content", place, "at least one call, or no such member")
    return _ids(calls)


def _ids(calls: Sequence[_Message]) -> dict[str, str]:
    found: dict[str, str] = {}
    for path, call in calls:
        _require_function(path, call)
        name = as_word(call.get("id"), f"{path}/id", "missing_call_id")
        if name in found:  # servers refuse one id twice in a message: "Duplicate value for 'tool_call_id'"
            refuse("repeated_call_id", f"{path}/id", "an id that no other call of the message has")
        found[name] = f"{path}/id"
    return found


def _require_function(path: str, call: dict[str, Any]) -> None:
    kind = "custom" if call.get("type") == "custom" else "function"
    called = call.get(kind)
    if not isinstance(called, dict):
        refuse("malformed_item", f"{path}/{kind}", "an object")
    # "Invalid 'messages[..].tool_calls[..].function.name': empty string", says the API.
    as_word(called.get("name"), f"{path}/{kind}/name")


def _require_content(path: str, message: dict[str, Any], *, calls: bool) -> None:
    """The types let content be null beside calls, a refusal or audio, and in a message of the old role `function`."""
    if message["role"] == "function":
        as_word(message.get("name"), f"{path}/name")
    elif message.get("content") is None and not (
        message["role"] == "assistant" and _needs_no_words(message, calls=calls)
    ):
        refuse("null_content", f"{path}/content", "text")


def _needs_no_words(message: dict[str, Any], *, calls: bool) -> bool:
    return calls or any(message.get(key) for key in ("refusal", "audio", "function_call"))


def _require_answers(calls: dict[str, str], answers: Sequence[_Message], later: Sequence[_Message]) -> None:
    """One answer for each call before any other message.

    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'", says
    the API.
    """
    answered: set[str] = set()
    for path, answer in answers:
        answered.add(_answered(path, answer, calls, answered))
    for name, place in calls.items():
        if name not in answered:
            _refuse_unanswered(name, place, later)


def _answered(path: str, answer: dict[str, Any], calls: dict[str, str], answered: set[str]) -> str:
    place = f"{path}/tool_call_id"
    name = as_word(answer.get("tool_call_id"), place, "missing_call_id")
    if name in answered:  # "Duplicate value for 'tool_call_id'", says the API
        refuse("repeated_result", place, "one tool message for each call")
    if name not in calls:
        refuse("unasked_result", place, "the id of a call in the message before")
    _require_answer_content(answer.get("content"), f"{path}/content")
    return name


def _require_answer_content(content: Any, path: str) -> None:
    """Text alone, and never null: ChatCompletionToolMessageParam."""
    if not isinstance(content, list):
        return require_text(content, path)
    for place, part in as_objects(content, path):
        require_text(part.get("text"), f"{place}/text")
    return None


def _refuse_unanswered(name: str, path: str, later: Sequence[_Message]) -> None:
    for place, message in later:
        if message.get("role") == "tool" and message.get("tool_call_id") == name:
            refuse("misplaced_result", place, "the tool message before any other message")
    refuse("unanswered_call", path, "a tool message with this id directly behind")
