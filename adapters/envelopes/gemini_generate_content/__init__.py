"""Gemini generateContent: calls are `functionCall` parts, answers are `functionResponse` parts in one user content.

In: `{"responseId", "candidates": [{"finishReason", "content": {"role": "model", "parts": [{"functionCall": {"id"?,
"name", "args"?: {...}}, "thoughtSignature"?}, ...]}}]}`, and `{"promptFeedback": {"blockReason"}}` alone when the
prompt was blocked. A stream is a list of such responses, each with whole parts; the last one has the `finishReason`.
Out: `{"role": "user", "parts": [{"functionResponse": {"id"?, "name", "response": {"output" | "error": {...}}}}, ...]}`.
The surface has no flag for errors: the key tells, and so does the status in the object under it.
"""

from adapters.envelopes.envelope import takes_any as takes
from adapters.envelopes.gemini_generate_content.definitions import render
from adapters.envelopes.gemini_generate_content.finish_reasons import FINISH_REASONS
from adapters.envelopes.gemini_generate_content.offering import forms, found, offer
from adapters.envelopes.gemini_generate_content.reading import SURFACE, read
from adapters.envelopes.gemini_generate_content.streaming import read_stream
from adapters.envelopes.gemini_generate_content.writing import write

__all__ = ["FINISH_REASONS", "SURFACE", "forms", "found", "offer", "read", "read_stream", "render", "takes", "write"]
