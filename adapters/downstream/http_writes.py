"""What the fate of an HTTP exchange proves about a write."""

from collections.abc import Mapping

import httpx2

from adapters.pauses import retry_after
from workflows.domain.effect import Effect

NOT_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.UnsupportedProtocol)
"""Failures before a byte of the request has left: nothing can have happened."""

EXPLAINED = frozenset({400, 403, 404, 409, 410, 412, 422})
"""Statuses by which a service that names its reason says that it did not act."""


def fate_of_failure(error: httpx2.RequestError) -> Effect:
    """Without an answer a write is uncertain, unless it provably never left."""
    if isinstance(error, NOT_SENT):
        return Effect.rejected("upstream_unavailable", retryable=True)
    return Effect.unknown()


def fate_of_refusal(
    response: httpx2.Response, codes: Mapping[str, str], uncertain: frozenset[str] = frozenset()
) -> Effect:
    """What an answer other than success proves.

    `codes` are the service's own refusals in our words; `uncertain` are its codes that prove nothing, such as a key
    that is taken. A refusal that the service explains, and 429, prove that nothing happened. Anything else, above all
    5xx and whatever a proxy may have said, can have come after the commit.
    """
    if response.status_code == httpx2.codes.TOO_MANY_REQUESTS:
        return Effect.rejected("rate_limited", retryable=True, retry_after_seconds=retry_after(response))
    code = error_code(response)
    if not code or code in uncertain or response.status_code not in EXPLAINED:
        return Effect.unknown()
    return Effect.rejected(codes.get(code, "downstream_rejected"))


def error_code(response: httpx2.Response) -> str:
    """The service's own code in `{"error": {"code": …}}`, empty when there is none."""
    try:
        body = response.json()
    except ValueError:
        return ""
    error = body.get("error") if isinstance(body, dict) else None
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, str) else ""
