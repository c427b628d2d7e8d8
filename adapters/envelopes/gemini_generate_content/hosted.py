"""The parts in which the provider tells of its own work."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from adapters.envelopes.envelope import HostedCall
from adapters.envelopes.shape import word_or_none

TOOL_CALL: Final = "toolCall"
CODE: Final = "executableCode"
CODE_RESULT: Final = "codeExecutionResult"

OUTCOMES: Final[Mapping[str, bool]] = MappingProxyType(
    {"OUTCOME_OK": False, "OUTCOME_FAILED": True, "OUTCOME_DEADLINE_EXCEEDED": True}
)
"""Whether code that ended so has failed; no other tool of the provider's says it."""


def hosted_calls(parts: Sequence[dict[str, Any]]) -> tuple[HostedCall, ...]:
    """Return what the provider did itself, in its order. Parts of odd shapes are echoed and not told of.

    What has no id gets `hosted-<n>`, n counting the hosted parts alone.
    """
    ends = _ends(parts)
    places = [index for index, part in enumerate(parts) if _kind(part) is not None]
    return tuple(_hosted(parts[index], number, ends.get(index)) for number, index in enumerate(places))


def _kind(part: dict[str, Any]) -> str | None:
    return next((kind for kind in (TOOL_CALL, CODE) if isinstance(part.get(kind), dict)), None)


def _hosted(part: dict[str, Any], number: int, failed: bool | None) -> HostedCall:
    kind = _kind(part) or ""
    tool = word_or_none(part[kind].get("toolType")) or ""
    return HostedCall(word_or_none(part[kind].get("id")) or f"hosted-{number}", kind, tool=tool, failed=failed)


def _ends(parts: Sequence[dict[str, Any]]) -> dict[int, bool | None]:
    """Return by the place of each code whether it failed: its result has its id, or comes before the next code."""
    ends: dict[int, bool | None] = {}
    running: dict[str | None, int] = {}
    for index, part in enumerate(parts):
        if _kind(part) == CODE:
            running.pop(None, None)
            running[word_or_none(part[CODE].get("id"))] = index
        elif isinstance(part.get(CODE_RESULT), dict):
            place = running.pop(word_or_none(part[CODE_RESULT].get("id")), index)
            ends[place] = OUTCOMES.get(str(part[CODE_RESULT].get("outcome")))
    return ends
