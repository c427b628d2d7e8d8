"""OpenAI Responses: calls are items of `output`, answers are items of the next request's `input`.

In: `{"id", "status", "output": [...]}`. Asked of us are `{"type": "function_call", "call_id", "name", "arguments":
"<json>"}`, `{"type": "custom_tool_call", "call_id", "name", "input": "<text>"}`, `{"type": "tool_search_call",
"execution": "client", "call_id", "arguments": {...}}` and `{"type": "mcp_approval_request", "id", "server_label",
"name", "arguments": "<json>"}`; the first two may have a `caller`, a `namespace` and `async`. A member of a namespace
is the tool `namespace.name`. What the provider has run itself and what it has said stands between them.
As a stream: `{"type": "response.output_item.done", "output_index", "item"}` each, and one last event
`{"type": "response.completed" | "response.incomplete" | "response.failed", "response": {...}}` with the whole.
Out: the output items, then `{"type": "function_call_output" | "custom_tool_call_output", "call_id", "output":
"<json>"}`, `{"type": "tool_search_output", "execution": "client", "call_id", "tools": [...]}` or
`{"type": "mcp_approval_response", "approval_request_id", "approve"}`. No flag for errors: the output tells.
"""

from adapters.envelopes.envelope import takes_any as takes
from adapters.envelopes.openai_responses.definitions import render
from adapters.envelopes.openai_responses.endings import ERROR_CODES, INCOMPLETE_REASONS, STATUSES
from adapters.envelopes.openai_responses.offering import forms, found, offer
from adapters.envelopes.openai_responses.reading import SURFACE, read
from adapters.envelopes.openai_responses.streaming import read_stream
from adapters.envelopes.openai_responses.writing import write

__all__ = [
    "ERROR_CODES",
    "INCOMPLETE_REASONS",
    "STATUSES",
    "SURFACE",
    "forms",
    "found",
    "offer",
    "read",
    "read_stream",
    "render",
    "takes",
    "write",
]
