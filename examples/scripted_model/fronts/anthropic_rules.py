"""What the Anthropic Messages API refuses in a conversation, in its own words.

A `tool_use` is answered by a `tool_result` in the very next message, once, and before anything else in that message; a
`tool_result` answers a `tool_use` of the message before it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from examples.scripted_model.refusal import Refused

Block = Mapping[str, Any]


def require_sound(messages: Any) -> None:
    """Refuse a conversation that the real API would refuse."""
    if not isinstance(messages, list) or not messages:
        raise Refused("messages: at least one message is required")
    for index, message in enumerate(messages):
        _check_shape(message, f"messages.{index}")
    if messages[0]["role"] != "user":
        raise Refused("messages: first message must use the `user` role")
    _check_ids(messages)
    for index, message in enumerate(messages):
        following = messages[index + 1] if index + 1 < len(messages) else None
        _check_answers(message, following, index)
        _check_questions(messages[index - 1] if index else None, message, index)


def blocks_of(message: Mapping[str, Any]) -> Sequence[Block]:
    """A message's content as blocks; a plain string is one text block."""
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _check_shape(message: Any, place: str) -> None:
    if not isinstance(message, dict) or message.get("role") not in ("user", "assistant"):
        raise Refused(f"{place}.role: Input should be 'user' or 'assistant'")
    content = message.get("content")
    if not isinstance(content, str | list) or not content:
        raise Refused(f"{place}: content must not be empty")
    for index, block in enumerate(blocks_of(message)):
        _check_block(block, message["role"], f"{place}.content.{index}")


def _check_block(block: Any, role: str, place: str) -> None:
    kind = block.get("type") if isinstance(block, dict) else None
    needed = NEEDED.get((role, str(kind)))
    if needed is None:
        raise Refused(f"{place}: `{kind}` blocks are not allowed in {role} messages")
    for name, wanted in needed.items():
        if not isinstance(block.get(name), wanted):
            raise Refused(f"{place}.{kind}.{name}: Field required")


NEEDED: Mapping[tuple[str, str], Mapping[str, type]] = {
    ("user", "text"): {"text": str},
    ("assistant", "text"): {"text": str},
    ("assistant", "tool_use"): {"id": str, "name": str, "input": dict},
    ("assistant", "server_tool_use"): {"id": str, "name": str, "input": dict},
    ("assistant", "web_search_tool_result"): {"tool_use_id": str},
    ("user", "tool_result"): {"tool_use_id": str},
}
"""The blocks that this model can read, with the members that they must have."""


def _check_ids(messages: Sequence[Mapping[str, Any]]) -> None:
    ids = [block["id"] for message in messages for block in blocks_of(message) if block["type"] == "tool_use"]
    if len(set(ids)) != len(ids):
        raise Refused("messages: `tool_use` ids must be unique")


def _check_answers(message: Mapping[str, Any], following: Mapping[str, Any] | None, index: int) -> None:
    """Every call is answered at once: the answers come first in the next message."""
    asked = [block["id"] for block in blocks_of(message) if block["type"] == "tool_use"]
    answered = _leading_answers(following)
    missing = [each for each in asked if each not in answered]
    if missing:
        raise Refused(
            f"messages.{index}: `tool_use` ids were found without `tool_result` blocks immediately after: "
            f"{', '.join(missing)}. Each `tool_use` block must have a corresponding `tool_result` block in the next "
            "message."
        )


def _check_questions(before: Mapping[str, Any] | None, message: Mapping[str, Any], index: int) -> None:
    """Every answer belongs to one call of the message before, and each call has one answer."""
    asked = [block["id"] for block in blocks_of(before or {"content": []}) if block["type"] == "tool_use"]
    seen: set[str] = set()
    for place, block in enumerate(blocks_of(message)):
        if block["type"] != "tool_result":
            continue
        name = block["tool_use_id"]
        if name not in asked:
            raise Refused(
                f"messages.{index}.content.{place}: unexpected `tool_use_id` found in `tool_result` blocks: {name}. "
                "Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
            )
        if name in seen:
            raise Refused(
                f"messages.{index}.content.{place}: each tool_use must have a single result. Found multiple "
                f"`tool_result` blocks with id: {name}"
            )
        seen.add(name)


def _leading_answers(message: Mapping[str, Any] | None) -> set[str]:
    found: set[str] = set()
    for block in blocks_of(message or {"content": []}):
        if block["type"] != "tool_result":
            break
        found.add(block["tool_use_id"])
    return found
