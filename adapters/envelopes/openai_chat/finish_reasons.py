"""What each finish reason says of the calls beside it."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from adapters.envelopes.stop_signal import Calls, Meaning, Signal

FINISH_REASONS: Final[Mapping[str, Signal]] = MappingProxyType(
    {
        "tool_calls": Signal(Meaning.COMPLETE, Calls.ALWAYS),
        "function_call": Signal(Meaning.COMPLETE, Calls.ALWAYS),
        # A forced tool choice ends with "stop" and holds calls all the same.
        "stop": Signal(Meaning.COMPLETE, Calls.MAYBE),
        "length": Signal(Meaning.CUT),
        "content_filter": Signal(Meaning.REFUSED),
    }
)
