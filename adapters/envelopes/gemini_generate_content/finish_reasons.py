"""What each finish reason says of the calls beside it."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from adapters.envelopes import stop_signal
from adapters.envelopes.shape import refuse
from adapters.envelopes.stop_signal import Calls, Meaning, Signal

UNSPECIFIED: Final = "FINISH_REASON_UNSPECIFIED"
"""The enumeration's zero: the candidate has not ended, as if it had no reason."""

FINISH_REASONS: Final[Mapping[str, Signal]] = MappingProxyType(
    {
        # The same word with calls and without.
        "STOP": Signal(Meaning.COMPLETE, Calls.MAYBE),
        "CONTINUATION": Signal(Meaning.PAUSED),
        "MAX_TOKENS": Signal(Meaning.CUT),
        "SAFETY": Signal(Meaning.REFUSED),
        "RECITATION": Signal(Meaning.REFUSED),
        "LANGUAGE": Signal(Meaning.REFUSED),
        "BLOCKLIST": Signal(Meaning.REFUSED),
        "PROHIBITED_CONTENT": Signal(Meaning.REFUSED),
        "SPII": Signal(Meaning.REFUSED),
        "MODEL_ARMOR": Signal(Meaning.REFUSED),
        "ESCALATION": Signal(Meaning.REFUSED),
        "PUP_LIMITED_DISABLED": Signal(Meaning.REFUSED),
        "IMAGE_SAFETY": Signal(Meaning.REFUSED),
        "IMAGE_PROHIBITED_CONTENT": Signal(Meaning.REFUSED),
        "IMAGE_RECITATION": Signal(Meaning.REFUSED),
        "IMAGE_OTHER": Signal(Meaning.REFUSED),
        "NO_IMAGE": Signal(Meaning.REFUSED),
        "OTHER": Signal(Meaning.REFUSED),
        "MALFORMED_FUNCTION_CALL": Signal(Meaning.REFUSED),
        "UNEXPECTED_TOOL_CALL": Signal(Meaning.REFUSED),
        "TOO_MANY_TOOL_CALLS": Signal(Meaning.REFUSED),
        "MISSING_THOUGHT_SIGNATURE": Signal(Meaning.REFUSED),
        "MALFORMED_RESPONSE": Signal(Meaning.REFUSED),
        UNSPECIFIED: Signal(Meaning.UNKNOWN),
    }
)

FAULTS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "MALFORMED_FUNCTION_CALL": ("malformed_tool_calls", "a call that the provider could parse"),
        "UNEXPECTED_TOOL_CALL": ("tool_not_allowed", "calls of declared functions, where calls are allowed"),
        "TOO_MANY_TOOL_CALLS": ("too_many_calls", "a response within the provider's own limit of calls"),
        "MISSING_THOUGHT_SIGNATURE": ("refused_response", "a conversation with every thoughtSignature as it came"),
        "MALFORMED_RESPONSE": ("incomplete_response", "a response that the provider could read"),
    }
)
"""Reasons that are nobody's refusal but a fault with a name: the code for it, and what was expected instead."""


def require_fit(reason: Any, path: str) -> Signal:
    """Return what `reason` says, unless it says that none of the calls beside it may be run.

    Raises:
        ResponseRefused: incomplete_response, refused_response or the code of the fault.
    """
    if isinstance(reason, str) and reason in FAULTS:
        code, expected = FAULTS[reason]
        refuse(code, path, reason.lower(), expected)
    signal = stop_signal.look_up(FINISH_REASONS, reason)
    stop_signal.require_not_broken_off(signal, path)
    return signal
