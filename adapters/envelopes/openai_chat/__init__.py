"""OpenAI Chat Completions: calls are `message.tool_calls`, answers are messages of the role `tool`.

In: `{"id", "choices": [{"finish_reason", "message": {"tool_calls": [{"id", "type": "function",
"function": {"name", "arguments": "<json>"}}]}}]}`; a choice alone is read as well. A custom tool's call is
`{"id", "type": "custom", "custom": {"name", "input": "<text>"}}`; the deprecated form is one
`message.function_call: {"name", "arguments"}` without an id.
As a stream: `{"id", "choices": [{"index", "delta": {"tool_calls": [{"index", "id", "function": {"name",
"arguments": "<piece>"}}]}, "finish_reason": null}]}` each; the end of a choice is a chunk with its finish reason.
Out: `{"role": "tool", "tool_call_id", "content": "<json>"}`, and for the deprecated form
`{"role": "function", "name", "content": "<json>"}`. The surface has no flag for errors: the content tells.
"""

from adapters.envelopes.envelope import takes_any as takes
from adapters.envelopes.openai_chat.definitions import render
from adapters.envelopes.openai_chat.finish_reasons import FINISH_REASONS
from adapters.envelopes.openai_chat.offering import forms, found, offer
from adapters.envelopes.openai_chat.reading import SURFACE, read
from adapters.envelopes.openai_chat.streaming import read_stream
from adapters.envelopes.openai_chat.writing import write

__all__ = ["FINISH_REASONS", "SURFACE", "forms", "found", "offer", "read", "read_stream", "render", "takes", "write"]
