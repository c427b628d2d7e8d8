"""What is lost when a response is read."""

from collections.abc import Sequence
from typing import Any, Final

from adapters.envelopes.envelope import ReadTurn
from tests.recorded.sameness import first_loss
from tests.recorded.wire import SHAPELESS, UNREADABLE, Asked, Ending, Wire
from workflows.domain.proposal import Proposal

CUT_STREAM: Final = Ending(frozenset({"incomplete_response", "refused_response"}))
MISSHAPEN: Final = Ending(
    frozenset(
        {
            "malformed_envelope",
            "malformed_tool_calls",
            "missing_call_id",
            "unknown_block_type",
            "refused_response",
            "incomplete_response",
        }
    )
)
"""What a response deserves that has not the shape of its surface; one that only says an error counts as broken off."""


def ending_of(response: Any, wire: Wire) -> Ending:
    """Return how a response ended; None stands for a stream that was cut."""
    if response is None:
        return CUT_STREAM
    try:
        return wire.ending(response)
    except SHAPELESS:
        return MISSHAPEN


def losses_of(turn: ReadTurn, response: dict[str, Any], ending: Ending, wire: Wire) -> list[str]:
    """Compare what was read with the response: the echo, the provider's own work, the pause and every call."""
    lost = first_loss(wire.pieces(response), wire.echoed(turn.echo), wire.may_change, wire.may_go)
    missing = wire.hosted(response) - {call.item_id for call in turn.hosted}
    return [
        *([f"echo: {lost}"] if lost else []),
        *([f"{len(missing)} of the provider's own calls not recorded"] if missing else []),
        *(["paused, and not said so"] if ending.paused and not turn.paused else []),
        *(["said to be paused"] if turn.paused and not ending.paused else []),
        *([] if ending.paused else _lost_calls(wire.asked(response), turn.proposals)),
    ]


def _lost_calls(asked: Sequence[Asked], proposals: Sequence[Proposal]) -> list[str]:
    if len(asked) != len(proposals):
        return [f"{len(asked)} calls became {len(proposals)} proposals"]
    pairs = zip(asked, proposals, strict=True)
    return [f"call {place}: {fault}" for place, pair in enumerate(pairs) for fault in _lost_call(*pair)]


def _lost_call(asked: Asked, proposal: Proposal) -> list[str]:
    return [
        *(["another id"] if asked.call_id not in (None, proposal.call_id) else []),
        *(["another name"] if not proposal.tool_name.endswith(asked.name) else []),
        *(["other arguments"] if _other_arguments(asked, proposal) else []),
    ]


def _other_arguments(asked: Asked, proposal: Proposal) -> bool:
    if proposal.fault is not None:
        return asked.arguments is not UNREADABLE
    return bool(asked.arguments != proposal.arguments)
