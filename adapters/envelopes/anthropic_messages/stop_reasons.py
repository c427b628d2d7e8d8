"""What each stop reason says of the calls beside it."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from adapters.envelopes.stop_signal import Calls, Meaning, Signal

STOP_REASONS: Final[Mapping[str, Signal]] = MappingProxyType(
    {
        "tool_use": Signal(Meaning.COMPLETE, Calls.ALWAYS),
        # Anthropic's own tool runner does not run a call beside these two either.
        "end_turn": Signal(Meaning.COMPLETE, Calls.NEVER),
        "stop_sequence": Signal(Meaning.COMPLETE, Calls.NEVER),
        "max_tokens": Signal(Meaning.CUT),
        "model_context_window_exceeded": Signal(Meaning.CUT),
        "refusal": Signal(Meaning.REFUSED),
        "pause_turn": Signal(Meaning.PAUSED),
        "compaction": Signal(Meaning.PAUSED),
    }
)
