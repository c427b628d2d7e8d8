"""From a whole response to what it asks for."""

from collections.abc import Mapping
from typing import Any, Final

from adapters.envelopes import stop_signal
from adapters.envelopes.anthropic_messages.calls import NO_FAULTS, proposals_of
from adapters.envelopes.anthropic_messages.hosted import found_in, hosted_in
from adapters.envelopes.anthropic_messages.stop_reasons import STOP_REASONS
from adapters.envelopes.envelope import ReadTurn, Spent
from adapters.envelopes.shape import (
    as_object,
    as_objects,
    count_or_none,
    member,
    require_distinct_ids,
    require_one_of,
    word_or_none,
)
from adapters.envelopes.stop_signal import Meaning, Signal
from workflows.domain.errors import Detail
from workflows.domain.proposal import Proposal

SURFACE: Final = "anthropic-messages"


def read(response: Any) -> ReadTurn:
    """Read one Message; see `Envelope.read`."""
    return judge(response, NO_FAULTS)


def judge(response: Any, faults: Mapping[int, Detail]) -> ReadTurn:
    """Read one Message of which a stream is known to have brought some blocks with a broken input, by their places.

    Raises:
        ResponseRefused: as `Envelope.read`.
    """
    root = as_object(response, "")
    require_one_of(root.get("type"), (None, "message"), "/type")
    require_one_of(root.get("role"), (None, "assistant"), "/role")
    blocks = as_objects(root.get("content"), "/content")
    signal = stop_signal.look_up(STOP_REASONS, root.get("stop_reason"))
    return ReadTurn(
        SURFACE,
        word_or_none(root.get("id")),
        _proposals(blocks, signal, faults),
        _echo(blocks),
        hosted_in(blocks),
        found_in(blocks),
        signal.meaning is Meaning.PAUSED,
        Spent(count_or_none(member(root.get("usage"), "output_tokens"))),
    )


def _proposals(blocks: list[dict[str, Any]], signal: Signal, faults: Mapping[int, Detail]) -> tuple[Proposal, ...]:
    stop_signal.require_not_broken_off(signal, "/stop_reason")
    if signal.meaning is Meaning.PAUSED:
        return ()
    proposals = proposals_of(blocks, faults)
    require_distinct_ids(proposals, "/content")
    stop_signal.require_agreement(signal, has_calls=bool(proposals), path="/stop_reason", table=STOP_REASONS)
    return proposals


def _echo(blocks: list[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
    """Return the message as it came, save for texts that are empty: the API sends them and refuses them.

    It takes blank texts beside other blocks only, and no message that holds nothing.
    """
    kept = [block for block in blocks if not (block.get("type") == "text" and block.get("text") == "")]
    return () if all(map(_is_blank, kept)) else ({"role": "assistant", "content": kept},)


def _is_blank(block: dict[str, Any]) -> bool:
    text = block.get("text")
    return block.get("type") == "text" and isinstance(text, str) and not text.strip()
