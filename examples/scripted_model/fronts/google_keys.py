"""What the two Gemini APIs have in common: their versions and credentials."""

from collections.abc import Mapping

from examples.scripted_model.refusal import Kind, Refused

VERSIONS = ("v1", "v1beta")
"""The package asks for the first by default; the other is still there."""


def require_key(headers: Mapping[str, str]) -> None:
    """Refuse a request without a credential; any will do."""
    if not headers.get("x-goog-api-key") and not headers.get("authorization"):
        raise Refused("Method doesn't allow unregistered callers.", Kind.UNAUTHENTICATED)
