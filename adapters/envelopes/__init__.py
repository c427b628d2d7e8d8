"""The surfaces: each package translates one provider API between its envelope and the core's words.

To add a surface, write one package with `SURFACE`, `read`, `read_stream`, `write` and `render` (see
`envelope.Envelope`): a table of its stop signals, its own field names and nothing of another surface's, no SDK, no I/O.
A stream is put together to the response that was streamed, so that `read` alone judges. List the package below, give
it its three reads in `tests/unit/three_reads.py` and its own messages in `tests/unit/test_envelope_<surface>.py`, and
let the provider's official models judge what it writes in `tests/contract/test_official_models_accept.py`.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from adapters.envelopes import (
    anthropic_messages,
    gemini_generate_content,
    gemini_interactions,
    openai_chat,
    openai_responses,
)
from adapters.envelopes.envelope import Envelope

_MODULES: Final[tuple[Envelope, ...]] = (
    anthropic_messages,
    gemini_generate_content,
    gemini_interactions,
    openai_chat,
    openai_responses,
)

SURFACES: Final[Mapping[str, Envelope]] = MappingProxyType({module.SURFACE: module for module in _MODULES})
