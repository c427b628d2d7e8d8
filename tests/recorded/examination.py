"""One exchange: read it, compare, answer it, compare again."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from adapters.envelopes.envelope import ReadTurn
from tests.recorded.exchange import Exchange
from tests.recorded.loss import Loss
from tests.recorded.reading import ending_of, losses_of
from tests.recorded.wire import SHAPELESS, Adapter, Wire
from tests.recorded.writing import require_written
from workflows.domain.errors import ResponseRefused


@dataclass
class Examination:
    """What came of one exchange. `refused` and `reason` tell of a refusal, right or wrong; a loss fails an exchange."""

    exchange_id: str
    calls: int = 0
    hosted: int = 0
    paused: bool = False
    refused: str | None = None
    reason: str = ""
    turn: ReadTurn | None = None
    reading_losses: list[str] = field(default_factory=list)
    writing_losses: list[str] = field(default_factory=list)

    @property
    def read(self) -> bool:
        """Whether the response was read without loss, or refused as it deserves."""
        return not self.reading_losses

    @property
    def to_write(self) -> bool:
        """Whether there is anything to answer."""
        return self.turn is not None

    @property
    def written(self) -> bool:
        """Whether the answers were written without loss."""
        return self.to_write and not self.writing_losses

    @property
    def losses(self) -> list[str]:
        """All losses, in the order in which they were found."""
        return [*self.reading_losses, *self.writing_losses]


def examine(exchange: Exchange, adapter: Adapter, wire: Wire) -> Examination:
    """Examine one exchange; whatever goes wrong is a loss of this exchange alone."""
    found = Examination(exchange.exchange_id)
    response = _response_of(exchange, wire)
    try:
        _read(exchange, adapter, wire, response, found)
    except Loss as loss:
        found.reading_losses.append(str(loss))
    except Exception as crash:  # an adapter that breaks has lost this exchange, and the others are still to be examined
        found.reading_losses.append(f"reading broke: {type(crash).__name__}")
    if found.turn is not None:
        found.writing_losses += _writing_losses(exchange, adapter, wire, response, found.turn)
    return found


def _response_of(exchange: Exchange, wire: Wire) -> Any:
    """The response as it came, or as its events make it; None for a stream that was cut."""
    if exchange.events is None:
        return exchange.response
    try:
        return wire.whole(exchange.events)
    except SHAPELESS:
        return None


def _read(exchange: Exchange, adapter: Adapter, wire: Wire, response: Any, found: Examination) -> None:
    _require_definitions(exchange.tools)
    ending = ending_of(response, wire)
    try:
        turn = adapter.read(response) if exchange.events is None else adapter.read_stream(exchange.events)
    except ResponseRefused as refused:
        found.refused, found.reason = refused.code, _reason(refused)
        if refused.code not in ending.refusals:
            raise Loss(f"refused as {refused.code}") from None
        return
    if ending.refusals:
        raise Loss(f"read although {' or '.join(sorted(ending.refusals))} is right")
    found.turn, found.calls, found.hosted = turn, len(turn.proposals), len(turn.hosted)
    found.paused = turn.paused
    found.reading_losses += losses_of(turn, response, ending, wire)


def _reason(refused: ResponseRefused) -> str:
    """Where the adapter found what, and what it wanted: words of ours alone."""
    return "; ".join(f"{each.code} at {each.path or '/'}; expected {each.expected}" for each in refused.details)


def _require_definitions(tools: Sequence[Any] | None) -> None:
    for position, tool in enumerate(tools or ()):
        if not isinstance(tool, dict):
            raise Loss(f"tool definition {position} is no object")


def _writing_losses(exchange: Exchange, adapter: Adapter, wire: Wire, response: Any, turn: ReadTurn) -> list[str]:
    try:
        require_written(exchange, adapter, wire, response, turn)
    except Loss as loss:
        return [str(loss)]
    except Exception as crash:
        return [f"writing broke: {type(crash).__name__}"]
    return []
