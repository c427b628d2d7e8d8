"""Gemini Interactions: calls are `function_call` steps, answers are `function_result` steps.

In: `{"id", "status", "steps": [{"type": "function_call", "id", "name", "arguments": {...}}, ...]}`; a search for tools
that the caller runs is `{"type": "tool_search_call", "id", "arguments": {...}}`. As a stream: `interaction.created`,
then `step.start`, `step.delta` and `step.stop` for each step, and at last `interaction.completed`; the arguments of a
call come there as pieces of JSON text.
Out: `{"type": "function_result", "call_id", "name", "result": {...}, "is_error"}`, after all steps as they came. Who
continues by `previous_interaction_id` sends the answers alone.
"""

from adapters.envelopes.envelope import takes_any as takes
from adapters.envelopes.gemini_interactions.definitions import render
from adapters.envelopes.gemini_interactions.offering import forms, found, offer
from adapters.envelopes.gemini_interactions.reading import SURFACE, read
from adapters.envelopes.gemini_interactions.statuses import STATUSES
from adapters.envelopes.gemini_interactions.streaming import read_stream
from adapters.envelopes.gemini_interactions.writing import write

__all__ = ["STATUSES", "SURFACE", "forms", "found", "offer", "read", "read_stream", "render", "takes", "write"]
