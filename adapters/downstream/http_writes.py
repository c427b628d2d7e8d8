"""What the fate of an HTTP exchange proves about a write."""

import email.utils
import time
from collections.abc import Mapping

import httpx2

from workflows.domain.effect import Effect

NOT_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.UnsupportedProtocol)
"""Failures before a byte of the request has left: nothing can have happened."""


def fate_of_failure(error: httpx2.TransportError) -> Effect:
    """Without an answer a write is uncertain, unless it provably never left."""
    if isinstance(error, NOT_SENT):
        return Effect.rejected("upstream_unavailable", retryable=True)
    return Effect.unknown()


def fate_of_refusal(response: httpx2.Response, codes: Mapping[str, str]) -> Effect:
    """What an answer other than success proves. `codes`: the service's own codes that mean a refusal, to ours.

    A refusal that the service explains, and 429, prove that nothing happened. Anything else, above all 5xx, may have
    come after the commit.
    """
    if response.status_code == httpx2.codes.TOO_MANY_REQUESTS:
        return Effect.rejected("rate_limited", retryable=True, retry_after_seconds=retry_after(response))
    code = codes.get(error_code(response))
    if code is not None and 400 <= response.status_code < 500:
        return Effect.rejected(code)
    return Effect.unknown()


def error_code(response: httpx2.Response) -> str:
    """The service's own code in `{"error": {"code": …}}`, empty when there is none."""
    try:
        body = response.json()
    except ValueError:
        return ""
    error = body.get("error") if isinstance(body, dict) else None
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, str) else ""


def retry_after(response: httpx2.Response) -> float | None:
    """Seconds from a Retry-After header in either of its forms, None when absent or unreadable; never negative."""
    value = response.headers.get("retry-after", "").strip()
    if value.isdigit():
        return float(value)
    moment = email.utils.parsedate_to_datetime(value).timestamp() if value[:3].isalpha() else None
    return None if moment is None else max(0.0, moment - time.time())
