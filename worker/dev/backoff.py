"""When a process that died by itself is started again, and when that is given up."""

from collections.abc import Sequence

# More deaths than this within the window are a fault that another start does not mend.
DEATHS_ALLOWED = 5
WINDOW = 60.0

FIRST_PAUSE = 0.2
LONGEST_PAUSE = 5.0


def pause_before_restart(deaths: Sequence[float], now: float) -> float | None:
    """Seconds to wait, or None to give up. ``deaths`` are when one process died, up to now."""
    recent = sum(1 for moment in deaths if now - moment <= WINDOW)
    if recent > DEATHS_ALLOWED:
        return None
    return min(FIRST_PAUSE * 2.0 ** max(recent - 1, 0), LONGEST_PAUSE)
