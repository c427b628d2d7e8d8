"""Anthropic Messages: the results of a message's calls come first in the next message, all of them, once each.

What the provider runs itself (`server_tool_use`, `mcp_tool_use`) has its result in the assistant's own words. Messages
are read as they stand: that the API joins two of one role is nothing to build on.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from adapters.envelopes.transcript.pairing import Key, Pairs
from adapters.envelopes.transcript.refusal import as_object, as_objects, as_word, refuse, require_text

SURFACE: Final = "anthropic-messages"

HOSTED_CALLS: Final = frozenset({"server_tool_use", "mcp_tool_use"})
SIGNED: Final = {"thinking": "signature", "redacted_thinking": "data"}
"""What the API finds its own thinking by: "messages.1.content.0.thinking.signature: Field required"."""

_Block = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class _Message:
    role: str
    path: str
    blocks: Sequence[_Block]

    def of(self, kind: str) -> list[_Block]:
        return [(path, block) for path, block in self.blocks if block["type"] == kind]

    @property
    def leading_results(self) -> list[_Block]:
        others = (position for position, (_, block) in enumerate(self.blocks) if block["type"] != "tool_result")
        return list(self.blocks[: next(others, len(self.blocks))])


def require_sound(messages: Any) -> None:
    """Refuse `messages` that the API would refuse; see `transcript.require_sound`."""
    found = as_objects(messages, "")
    conversation = [
        _message(path, message, last=position == len(found)) for position, (path, message) in enumerate(found, 1)
    ]
    for message in conversation:
        _require_own_places(message)
    _require_unique_ids(conversation)
    for position, message in enumerate(conversation):
        _require_asked(conversation[position - 1] if position else None, message)
        _require_answers(message, conversation[position + 1 :])
    _require_hosted_results(conversation)


# -- one message -------------------------------------------------------------------------------------------------------


def _message(path: str, message: dict[str, Any], *, last: bool) -> _Message:
    role = as_word(message.get("role"), f"{path}/role")
    place, content = f"{path}/content", message.get("content")
    if content is None:
        refuse("null_content", place, "a string or an array of blocks")
    # "all messages must have non-empty content except for the optional final assistant message", says the API.
    if content in ("", []) and not (last and role == "assistant"):
        refuse("empty_content", place, "at least one block")
    blocks = _blocks(content, place)
    _require_words(place, [block for _, block in blocks])
    return _Message(role, path, blocks)


def _blocks(content: Any, path: str) -> list[_Block]:
    """A string is one block of text, if there is anything in it."""
    if isinstance(content, str):
        return [(path, {"type": "text", "text": content})] if content else []
    blocks = as_objects(content, path)
    for place, block in blocks:
        _require_block(place, block)
    return blocks


def _require_block(path: str, block: dict[str, Any]) -> None:
    kind = as_word(block.get("type"), f"{path}/type")
    if kind == "text":
        _require_written(block.get("text"), f"{path}/text")
    elif kind in SIGNED:
        as_word(block.get(SIGNED[kind]), f"{path}/{SIGNED[kind]}", "missing_signature")
    elif kind == "tool_use" or kind in HOSTED_CALLS:
        _require_call(path, block)
    elif kind == "tool_result":
        _require_result(path, block)
    elif kind.endswith("_tool_result"):
        as_word(block.get("tool_use_id"), f"{path}/tool_use_id", "missing_call_id")


def _require_call(path: str, block: dict[str, Any]) -> None:
    as_word(block.get("id"), f"{path}/id", "missing_call_id")
    as_word(block.get("name"), f"{path}/name")
    as_object(block.get("input"), f"{path}/input")


def _require_result(path: str, block: dict[str, Any]) -> None:
    """`content` may be left out, but is neither null nor an object: ToolResultBlockParam."""
    as_word(block.get("tool_use_id"), f"{path}/tool_use_id", "missing_call_id")
    content, place = block.get("content", ""), f"{path}/content"
    if not isinstance(content, list):
        return require_text(content, place)
    for spot, part in as_objects(content, place):
        if part.get("type") == "text":
            _require_written(part.get("text"), f"{spot}/text")
    return None


def _require_written(text: Any, path: str) -> None:
    """The API says: "text content blocks must be non-empty"."""
    require_text(text, path)
    if not text:
        refuse("empty_text", path, "at least one character")


def _require_words(path: str, blocks: Sequence[dict[str, Any]]) -> None:
    """Of a message that holds nothing else the API says: "text content blocks must contain non-whitespace text"."""
    if blocks and all(block["type"] == "text" and not block["text"].strip() for block in blocks):
        refuse("empty_text", path, "something to read")


def _require_own_places(message: _Message) -> None:
    """Calls are the assistant's and results the user's: UserMessageParam and AssistantMessageParam."""
    if message.role != "assistant" and (calls := message.of("tool_use")):
        refuse("misplaced_call", calls[0][0], "calls in messages of the assistant")
    if message.role != "user" and (results := message.of("tool_result")):
        refuse("misplaced_result", results[0][0], "results in messages of the user")


# -- calls and their results -------------------------------------------------------------------------------------------


def _require_unique_ids(conversation: Sequence[_Message]) -> None:
    """The API says of the whole conversation: "`tool_use` ids must be unique"."""
    seen: set[str] = set()
    for path, call in (found for message in conversation for found in message.of("tool_use")):
        if call["id"] in seen:
            refuse("repeated_call_id", f"{path}/id", "an id that no other call has")
        seen.add(call["id"])


def _require_answers(message: _Message, later: Sequence[_Message]) -> None:
    """The API says: "Each `tool_use` block must have a corresponding `tool_result` block in the next message".

    And: "Messages following tool_use blocks must begin with a matching number of tool_result blocks".
    """
    leading = later[0].leading_results if later else []
    answered = {result["tool_use_id"] for _, result in leading}
    for path, call in message.of("tool_use"):
        if call["id"] not in answered:
            _refuse_unanswered(f"{path}/id", call["id"], later)


def _refuse_unanswered(path: str, name: str, later: Sequence[_Message]) -> None:
    for place, result in (found for message in later for found in message.of("tool_result")):
        if result["tool_use_id"] == name:
            refuse("misplaced_result", place, "the results of a message first in the next one")
    refuse("unanswered_call", path, "a result with this id in the next message")


def _require_asked(before: _Message | None, message: _Message) -> None:
    """The API says: "Each `tool_result` block must have a corresponding `tool_use` block in the previous message".

    A second one for the same call is refused as well: "each tool_use must have a single result".
    """
    calls = {call["id"]: call for _, call in before.of("tool_use")} if before else {}
    seen: set[str] = set()
    for path, result in message.of("tool_result"):
        name = result["tool_use_id"]
        if name in seen:
            refuse("repeated_result", f"{path}/tool_use_id", "one result for each call")
        if name not in calls:
            refuse("unasked_result", f"{path}/tool_use_id", "the id of a call in the message before")
        # "the toolset family of the paired tool_use": ToolResultBlockParam.
        if result.get("toolset_name") != calls[name].get("toolset_name"):
            refuse("name_mismatch", f"{path}/toolset_name", "the toolset of the call")
        seen.add(name)


# -- what the provider runs itself -------------------------------------------------------------------------------------


def _require_hosted_results(conversation: Sequence[_Message]) -> None:
    """Every call of the provider's own has its result behind it, unless the provider is still at it.

    The API says: "web_search tool use with id .. was found without a corresponding web_search_tool_result block", and
    "Each `advisor_tool_result` block must have a corresponding `server_tool_use` block before it".
    """
    pairs = Pairs({_hosted_key(block) for _, _, block in _hosted(conversation) if block["type"] in HOSTED_CALLS})
    asked: dict[Key, int] = {}
    for position, path, block in _hosted(conversation):
        if block["type"] in HOSTED_CALLS:
            pairs.ask(_hosted_key(block), f"{path}/id")
            asked[_hosted_key(block)] = position
        else:
            pairs.answer(_hosted_key(block), f"{path}/tool_use_id")
    for key, path in pairs.unanswered.items():
        _require_under_way(path, key[1], conversation[asked[key] + 1 :])


def _hosted(conversation: Sequence[_Message]) -> Iterator[tuple[int, str, dict[str, Any]]]:
    for position, message in enumerate(conversation):
        if message.role == "assistant":
            for path, block in message.blocks:
                if block["type"] in HOSTED_CALLS or block["type"].endswith("_tool_result"):
                    yield position, path, block


def _hosted_key(block: dict[str, Any]) -> Key:
    """MCP calls and results find each other, and all others do."""
    kind = "mcp" if block["type"].startswith("mcp_") else "server"
    return kind, block["id" if block["type"] in HOSTED_CALLS else "tool_use_id"]


def _require_under_way(path: str, name: str, later: Sequence[_Message]) -> None:
    """The result may be missing until the provider goes on: at the end, or while only results of calls came since.

    "Text after the results" makes the API refuse the conversation and name the server's tool. A program that the
    provider runs may call several times before it ends; such calls name it as their caller.
    """
    for message in later:
        others = [place for place, block in message.blocks if block["type"] != "tool_result"]
        if message.role == "assistant" and not _called_by(name, message):
            refuse("unanswered_call", path, "the provider's own result")
        if message.role != "assistant" and others:
            refuse("misplaced_part", others[0], "results alone while the provider's own call is under way")


def _called_by(name: str, message: _Message) -> bool:
    callers = [call.get("caller") for _, call in message.of("tool_use")]
    return any(isinstance(caller, dict) and caller.get("tool_id") == name for caller in callers)
