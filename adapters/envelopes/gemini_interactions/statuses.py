"""What each status of an interaction says of the calls in it."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from adapters.envelopes.stop_signal import Calls, Meaning, Signal

STATUSES: Final[Mapping[str, Signal]] = MappingProxyType(
    {
        "requires_action": Signal(Meaning.COMPLETE, Calls.ALWAYS),
        "completed": Signal(Meaning.COMPLETE, Calls.NEVER),
        "requires_continuation": Signal(Meaning.PAUSED),
        "incomplete": Signal(Meaning.CUT),
        "budget_exceeded": Signal(Meaning.CUT),
        "failed": Signal(Meaning.CUT),
        "cancelled": Signal(Meaning.CUT),
        # Neither has ended: what was read now would be read again when it has.
        "in_progress": Signal(Meaning.CUT),
        "queued": Signal(Meaning.CUT),
        # A session that waits for input. No document says that a call may stand beside it.
        "idle": Signal(Meaning.UNKNOWN),
    }
)

GOING_ON: Final = frozenset({"in_progress", "queued"})
"""What a stream says of an interaction before its end."""
