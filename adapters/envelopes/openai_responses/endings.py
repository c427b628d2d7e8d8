"""What the end of a response says of the calls in it: its error, else what made it incomplete, else its status."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from adapters.envelopes import stop_signal
from adapters.envelopes.shape import word_or_none
from adapters.envelopes.stop_signal import Calls, Meaning, Signal

_CUT: Final = Signal(Meaning.CUT)
_REFUSED: Final = Signal(Meaning.REFUSED)

STATUSES: Final[Mapping[str, Signal]] = MappingProxyType(
    {
        "completed": Signal(Meaning.COMPLETE, Calls.MAYBE),
        "incomplete": _CUT,
        "failed": _CUT,
        "cancelled": _CUT,
        # A response that runs in the background is not at its end yet.
        "queued": _CUT,
        "in_progress": _CUT,
    }
)

INCOMPLETE_REASONS: Final[Mapping[str, Signal]] = MappingProxyType(
    {
        "max_output_tokens": _CUT,
        "max_messages": _CUT,
        "content_filter": _REFUSED,
        # The user has spoken meanwhile; the provider goes on with another response.
        "steered": _CUT,
    }
)

ERROR_CODES: Final[Mapping[str, Signal]] = MappingProxyType(
    {
        "server_error": _CUT,
        "rate_limit_exceeded": _CUT,
        "invalid_prompt": _REFUSED,
        "data_residency_mismatch": _CUT,
        "bio_policy": _REFUSED,
        "misalignment_policy_violation": _REFUSED,
        "vector_store_timeout": _CUT,
        "invalid_image": _CUT,
        "invalid_image_format": _CUT,
        "invalid_base64_image": _CUT,
        "invalid_image_url": _CUT,
        "image_too_large": _CUT,
        "image_too_small": _CUT,
        "image_parse_error": _CUT,
        "image_content_policy_violation": _REFUSED,
        "invalid_image_mode": _CUT,
        "image_file_too_large": _CUT,
        "unsupported_image_media_type": _CUT,
        "empty_image_file": _CUT,
        "failed_to_download_image": _CUT,
        "image_file_not_found": _CUT,
    }
)


def ending_of(response: Mapping[str, Any]) -> tuple[Signal, str]:
    """Return what the end says, and where it says it.

    An error or a reason counts whatever the status is, and one that nobody knows yet still means: not whole.
    """
    for member, key, table in (
        ("error", "code", ERROR_CODES),
        ("incomplete_details", "reason", INCOMPLETE_REASONS),
    ):
        said = response.get(member)
        if _says_something(said):
            return _row(table, said, key), f"/{member}"
    return stop_signal.look_up(STATUSES, response.get("status")), "/status"


def _says_something(said: Any) -> bool:
    """Tell an error from the empty shell of one."""
    return any(said.values()) if isinstance(said, dict) else bool(said)


def _row(table: Mapping[str, Signal], said: Any, key: str) -> Signal:
    word = word_or_none(said.get(key)) if isinstance(said, dict) else None
    return _CUT if word is None else table.get(word, _CUT)
