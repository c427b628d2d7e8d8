"""What must have ended before a call of the same turn may begin."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from workflows.domain.lifecycle import ENDS, State

READ_SECONDS = 150.0
"""After so long an open read holds nobody up any more: nobody carries it, and it may be asked for anew."""


class Place(StrEnum):
    """Where a call stands among those of its turn."""

    FREE = "free"
    """Nothing is before it any more."""
    BEHIND = "behind"
    """Something before it has not ended."""
    CUT_OFF = "cut_off"
    """A write before it did not succeed, so this one is not made."""


@dataclass(frozen=True)
class Forerunner:
    """An operation that comes before another one of its turn. `age_seconds` since it was registered."""

    state: State
    writes: bool
    age_seconds: float = 0.0


def place_behind(forerunners: Iterable[Forerunner]) -> Place:
    """Writes must have succeeded, reads must have ended: what they found was asked for before the write."""
    found = list(forerunners)
    if any(each.writes and each.state in ENDS and each.state is not State.SUCCEEDED for each in found):
        return Place.CUT_OFF
    return Place.BEHIND if any(map(_holds_up, found)) else Place.FREE


def _holds_up(forerunner: Forerunner) -> bool:
    return forerunner.state not in ENDS and (forerunner.writes or forerunner.age_seconds < READ_SECONDS)
