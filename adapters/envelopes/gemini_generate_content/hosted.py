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
    places = [index for index, part in enumerate(parts) if _kind(part) is not None]
    return tuple(_hosted(parts[index], number, parts[index + 1 :]) for number, index in enumerate(places))


def _kind(part: dict[str, Any]) -> str | None:
    return next((kind for kind in (TOOL_CALL, CODE) if isinstance(part.get(kind), dict)), None)


def _hosted(part: dict[str, Any], number: int, following: Sequence[dict[str, Any]]) -> HostedCall:
    kind = _kind(part) or ""
    given = word_or_none(part[kind].get("id"))
    tool = word_or_none(part[kind].get("toolType")) or ""
    failed = _failed(given, following) if kind == CODE else None
    return HostedCall(given or f"hosted-{number}", kind, tool=tool, failed=failed)


def _failed(code_id: str | None, following: Sequence[dict[str, Any]]) -> bool | None:
    """Look for the result under the same id; code without an id has its result before the next code."""
    for part in following:
        result = part.get(CODE_RESULT)
        if isinstance(result, dict) and word_or_none(result.get("id")) == code_id:
            return OUTCOMES.get(str(result.get("outcome")))
        if code_id is None and CODE in part:
            return None
    return None
