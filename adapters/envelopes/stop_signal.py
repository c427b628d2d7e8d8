"""What a surface's stop signal says of the calls beside it.

A signal says that there is a proposal and whether it is whole; it never says that anything happened. Each surface
keeps its own words in a table of `Signal`; a word that is not in the table is `UNKNOWN_SIGNAL`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

from adapters.envelopes.shape import refuse


class Meaning(StrEnum):
    """What the end of a response says of the response as a whole.

    `PAUSED`: the provider goes on with its own work once it has the response back; nothing in it is run.
    """

    COMPLETE = "complete"
    CUT = "cut"
    REFUSED = "refused"
    PAUSED = "paused"
    UNKNOWN = "unknown"


class Calls(StrEnum):
    """Whether calls may stand beside a signal."""

    ALWAYS = "always"
    MAYBE = "maybe"
    NEVER = "never"


@dataclass(frozen=True)
class Signal:
    """One row of a surface's truth table."""

    meaning: Meaning
    calls: Calls = Calls.NEVER


UNKNOWN_SIGNAL: Final = Signal(Meaning.UNKNOWN)

_REFUSALS: Final[Mapping[Meaning, tuple[str, str]]] = MappingProxyType(
    {
        Meaning.CUT: ("incomplete_response", "cut_off"),
        Meaning.REFUSED: ("refused_response", "refused"),
    }
)


def look_up(table: Mapping[str, Signal], word: Any) -> Signal:
    """Return the row of `word`; null, a missing word and a word of a wrong type are unknown too."""
    return table.get(word, UNKNOWN_SIGNAL) if isinstance(word, str) else UNKNOWN_SIGNAL


def announcing(table: Mapping[str, Signal]) -> str:
    """The words beside which calls may stand, for people: "tool_use"."""
    return " or ".join(word for word, signal in table.items() if signal.calls is not Calls.NEVER)


def require_not_broken_off(signal: Signal, path: str) -> None:
    """Refuse a response that was cut or refused, whether or not it holds calls.

    Raises:
        ResponseRefused: incomplete_response or refused_response.
    """
    if signal.meaning in _REFUSALS:
        code, detail = _REFUSALS[signal.meaning]
        refuse(code, path, detail, "a response that ended by itself")


def require_agreement(signal: Signal, *, has_calls: bool, path: str, table: Mapping[str, Signal]) -> None:
    """Refuse calls that the signal does not announce, and a signal for calls without any; `table` is the surface's own.

    Raises:
        ResponseRefused: missing_tool_calls or unknown_stop_signal.
    """
    if signal.calls is Calls.ALWAYS and not has_calls:
        refuse("missing_tool_calls", path, "signal_without_calls", "at least one call")
    if signal.calls is Calls.NEVER and has_calls:
        refuse("unknown_stop_signal", path, "calls_without_signal", announcing(table))
