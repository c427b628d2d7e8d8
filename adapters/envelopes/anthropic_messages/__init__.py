"""Anthropic Messages: calls are `tool_use` blocks, answers are `tool_result` blocks in one user message.

In: `{"id", "content": [{"type": "tool_use", "id", "name", "input": {...}}, ...], "stop_reason"}`. A member of a
provider's toolset has a `toolset_name` too; its tool's whole name here is `toolset.name`.
As a stream: `message_start`, for each block `content_block_start`, `content_block_delta`s and `content_block_stop`,
then `message_delta` with the stop reason and `message_stop`, the end.
Out: `{"role": "user", "content": [{"type": "tool_result", "tool_use_id", "is_error", "content": "<json>"}]}`, with the
`toolset_name` of the call; what a tool search found is written as `tool_reference` blocks instead of JSON.
"""

from adapters.envelopes.anthropic_messages.definitions import render, takes
from adapters.envelopes.anthropic_messages.offering import forms, found, offer
from adapters.envelopes.anthropic_messages.reading import SURFACE, read
from adapters.envelopes.anthropic_messages.stop_reasons import STOP_REASONS
from adapters.envelopes.anthropic_messages.streaming import read_stream
from adapters.envelopes.anthropic_messages.writing import write

__all__ = ["STOP_REASONS", "SURFACE", "forms", "found", "offer", "read", "read_stream", "render", "takes", "write"]
