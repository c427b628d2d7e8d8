"""From a whole response to what it asks for."""

from typing import Any, Final

from adapters.envelopes import stop_signal
from adapters.envelopes.envelope import ReadTurn, Spent
from adapters.envelopes.openai_chat.calls import has_legacy_call, proposals_of
from adapters.envelopes.openai_chat.finish_reasons import FINISH_REASONS
from adapters.envelopes.shape import (
    as_object,
    as_objects,
    count_or_none,
    member,
    refuse,
    require_distinct_ids,
    require_one_of,
    word_or_none,
)
from workflows.domain.proposal import Proposal

SURFACE: Final = "openai-chat"

INSTEAD_OF_CONTENT: Final = ("tool_calls", "function_call", "refusal", "audio")
"""Beside any of these the content of a message may be null."""


def read(response: Any) -> ReadTurn:
    """Read one ChatCompletion; see `Envelope.read`."""
    root = as_object(response, "")
    choice, path = _only_choice(root)
    if root.get("error") is not None:
        refuse("incomplete_response", "/error", "broken_off", "a response that ended by itself")
    message = as_object(choice.get("message"), f"{path}/message")
    require_one_of(message.get("role"), (None, "assistant"), f"{path}/message/role")
    proposals = _proposals(choice, message, path)
    spent = Spent(count_or_none(member(root.get("usage"), "completion_tokens")))
    return ReadTurn(SURFACE, word_or_none(root.get("id")), proposals, (_echo(message),), spent=spent)


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
    return isinstance(message, dict) and bool(message.get("tool_calls") or has_legacy_call(message))


def _proposals(choice: dict[str, Any], message: dict[str, Any], path: str) -> tuple[Proposal, ...]:
    signal, reason = stop_signal.look_up(FINISH_REASONS, choice.get("finish_reason")), f"{path}/finish_reason"
    stop_signal.require_not_broken_off(signal, reason)
    proposals = proposals_of(message, f"{path}/message")
    if proposals and message.get("refusal"):
        refuse("refused_response", f"{path}/message/refusal", "refused", "calls or a refusal, not both")
    require_distinct_ids(proposals, f"{path}/message/tool_calls")
    stop_signal.require_agreement(signal, has_calls=bool(proposals), path=reason, table=FINISH_REASONS)
    return proposals


def _echo(message: dict[str, Any]) -> dict[str, Any]:
    """Return the message as it came, save for what the API sends and refuses.

    That is `tool_calls` that hold nothing, and a content that is null when nothing stands in its place.
    """
    kept = {key: value for key, value in message.items() if key != "tool_calls" or value}
    if "content" in kept and kept["content"] is None and not any(kept.get(key) for key in INSTEAD_OF_CONTENT):
        kept["content"] = ""
    return {**kept, "role": "assistant"}
