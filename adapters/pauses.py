"""How long a service wants to be left alone."""

import email.utils
import time

import httpx2

LONGEST_PAUSE_SECONDS = 24 * 3600.0
"""No service sends us away for longer, whatever its header says: what waits for ever looks lost."""


def retry_after(response: httpx2.Response) -> float | None:
    """Seconds from a Retry-After header in either of its forms, None when absent or unreadable; from 0 to a day."""
    value = response.headers.get("retry-after", "").strip()
    try:
        seconds = float(value) if value.isascii() and value.isdigit() else _until(value)
    except (ValueError, OverflowError):
        return None
    return min(max(0.0, seconds), LONGEST_PAUSE_SECONDS)


def _until(moment: str) -> float:
    return email.utils.parsedate_to_datetime(moment).timestamp() - time.time()
