"""The surface that a caller names."""

from collections.abc import Mapping

from adapters.envelopes.envelope import Envelope
from workflows.domain.errors import Detail, ResponseRefused


def envelope_of(surfaces: Mapping[str, Envelope], name: str) -> Envelope:
    """The surface's envelope.

    Raises:
        ResponseRefused: unknown_surface, with the names of those that there are.
    """
    if name not in surfaces:
        raise ResponseRefused("unknown_surface", [Detail("/surface", "unknown", " or ".join(sorted(surfaces)))])
    return surfaces[name]
