"""A conversation as it is sent to the model, checked as strictly as the real API does.

The API's rules: a `tool_use` is answered by a `tool_result` in the very next message, once, and before anything else in
that message; a `tool_result` answers a `tool_use` of the message before it.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

Block = Mapping[str, Any]


class TranscriptRefused(Exception):
    """The conversation is unfit; the message says where, in the API's manner."""


class Transcript:
    """What was said so far."""

    def __init__(self, messages: Any) -> None:
        _check(messages)
        self._messages: Sequence[Mapping[str, Any]] = messages

    @property
    def question(self) -> str:
        """The newest words of the user's own."""
        texts = (text for message in reversed(self._messages) if (text := _user_words(message)))
        return next(texts, "")

    @property
    def steps(self) -> int:
        """How many messages the model has sent since that question."""
        roles = [bool(_user_words(message)) for message in self._messages]
        asked = len(roles) - roles[::-1].index(True) if True in roles else 0
        return sum(message["role"] == "assistant" for message in self._messages[asked:])

    def result(self, tool: str) -> Mapping[str, Any]:
        """The data of the newest success of a tool."""
        calls = {block["id"]: block["name"] for block in self._blocks("tool_use")}
        for block in reversed(self._blocks("tool_result")):
            if calls[block["tool_use_id"]] == tool and not block.get("is_error"):
                data: Mapping[str, Any] = _body(block)["data"]
                return data
        raise TranscriptRefused(f"the script needs a result of {tool}, and there is none")

    def failure(self) -> Mapping[str, Any] | None:
        """The first error among the answers in the last message."""
        failed = (block for block in blocks_of(self._messages[-1]) if block.get("is_error"))
        return next((_error(_body(block)) for block in failed), None)

    def _blocks(self, kind: str) -> list[Block]:
        return [block for message in self._messages for block in blocks_of(message) if block["type"] == kind]


def blocks_of(message: Mapping[str, Any]) -> Sequence[Block]:
    """A message's content as blocks; a plain string is one text block."""
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _user_words(message: Mapping[str, Any]) -> str:
    if message["role"] != "user":
        return ""
    return "".join(block["text"] for block in blocks_of(message) if block["type"] == "text")


def _body(block: Block) -> Mapping[str, Any]:
    content = block.get("content", "")
    text = content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
    try:
        body = json.loads(text)
    except ValueError:
        body = None
    return body if isinstance(body, dict) else {"data": {}, "error": {"code": "unreadable", "message": text}}


def _error(body: Mapping[str, Any]) -> Mapping[str, Any]:
    error: Mapping[str, Any] = body.get("error") or {"code": "unreadable", "message": ""}
    return error


# -- the rules ---------------------------------------------------------------------------------------------------------


def _check(messages: Any) -> None:
    if not isinstance(messages, list) or not messages:
        raise TranscriptRefused("messages: at least one message is required")
    for index, message in enumerate(messages):
        _check_shape(message, f"messages.{index}")
    if messages[0]["role"] != "user":
        raise TranscriptRefused("messages: first message must use the `user` role")
    _check_ids(messages)
    for index, message in enumerate(messages):
        following = messages[index + 1] if index + 1 < len(messages) else None
        _check_answers(message, following, index)
        _check_questions(messages[index - 1] if index else None, message, index)


def _check_shape(message: Any, place: str) -> None:
    if not isinstance(message, dict) or message.get("role") not in ("user", "assistant"):
        raise TranscriptRefused(f"{place}.role: Input should be 'user' or 'assistant'")
    content = message.get("content")
    if not isinstance(content, str | list) or not content:
        raise TranscriptRefused(f"{place}: content must not be empty")
    for index, block in enumerate(blocks_of(message)):
        _check_block(block, message["role"], f"{place}.content.{index}")


def _check_block(block: Any, role: str, place: str) -> None:
    kind = block.get("type") if isinstance(block, dict) else None
    needed = NEEDED.get((role, str(kind)))
    if needed is None:
        raise TranscriptRefused(f"{place}: `{kind}` blocks are not allowed in {role} messages")
    for name, wanted in needed.items():
        if not isinstance(block.get(name), wanted):
            raise TranscriptRefused(f"{place}.{kind}.{name}: Field required")


NEEDED: Mapping[tuple[str, str], Mapping[str, type]] = {
    ("user", "text"): {"text": str},
    ("assistant", "text"): {"text": str},
    ("assistant", "tool_use"): {"id": str, "name": str, "input": dict},
    ("user", "tool_result"): {"tool_use_id": str},
}
"""The blocks that this model can read, with the members that they must have."""


def _check_ids(messages: Sequence[Mapping[str, Any]]) -> None:
    ids = [block["id"] for message in messages for block in blocks_of(message) if block["type"] == "tool_use"]
    if len(set(ids)) != len(ids):
        raise TranscriptRefused("messages: `tool_use` ids must be unique")


def _check_answers(message: Mapping[str, Any], following: Mapping[str, Any] | None, index: int) -> None:
    """Every call is answered at once: the answers come first in the next message."""
    asked = [block["id"] for block in blocks_of(message) if block["type"] == "tool_use"]
    answered = _leading_answers(following)
    missing = [each for each in asked if each not in answered]
    if missing:
        raise TranscriptRefused(
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
            raise TranscriptRefused(
                f"messages.{index}.content.{place}: unexpected `tool_use_id` found in `tool_result` blocks: {name}. "
                "Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
            )
        if name in seen:
            raise TranscriptRefused(
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
