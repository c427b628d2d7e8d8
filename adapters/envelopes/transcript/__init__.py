"""Whether a provider would take a conversation, as far as its tool calls and their results are concerned.

A provider answers HTTP 400 to a conversation in which one call has no result, or two; most of them cannot be mended by
sending the same list again. No official package looks: their types describe one item, never two of them together. Here
is a module for each surface, with its own field names; each rule names where it is known from: the package's types,
the words of the API's own refusal, or traffic that was recorded. What is merely likely is no rule.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from adapters.envelopes.transcript import (
    anthropic_messages,
    gemini_generate_content,
    gemini_interactions,
    openai_chat,
    openai_responses,
)
from adapters.envelopes.transcript.refusal import CODES as CODES
from adapters.envelopes.transcript.refusal import TranscriptRefused as TranscriptRefused
from adapters.envelopes.transcript.refusal import refuse

_RULES: Final[Mapping[str, Callable[[Any], None]]] = MappingProxyType(
    {
        module.SURFACE: module.require_sound
        for module in (anthropic_messages, openai_chat, openai_responses, gemini_generate_content, gemini_interactions)
    }
)


def require_sound(surface: str, conversation: Any) -> None:
    """Refuse a conversation that the provider behind `surface` would answer with HTTP 400.

    `conversation` is the whole list that its API takes, as plain JSON: `messages` (chat, Anthropic), `input` items
    (Responses), `contents` (generateContent), `steps` (Interactions). What the provider keeps itself, under a
    `previous_response_id` or the like, is not in the list and cannot be judged.

    Raises:
        TranscriptRefused: `code` says which rule is broken first, `path` where.
    """
    rules = _RULES.get(surface)
    if rules is None:
        refuse("unknown_surface", "", " or ".join(_RULES))
    rules(conversation)
