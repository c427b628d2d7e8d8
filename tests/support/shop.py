"""A downstream that counts effects, whatever it answers: what was sent lands at once, lands later, or never lands."""

from dataclasses import dataclass, field
from enum import StrEnum

from tests.fakes.world import World
from tests.support.steps import REFUND_DATA
from workflows.domain.contract import Idempotency
from workflows.domain.effect import Dispatch, Effect

LATEST_LANDING = 14.0
"""How long after a send it may still land; the contract's settle time is longer."""


class Fate(StrEnum):
    """What comes of the next send. The first word says whether it lands, the others what the sender is told."""

    LANDS_AND_SAYS_SO = "lands, says so"
    LANDS_UNKNOWN = "lands, unknown"
    LANDS_LATE_UNKNOWN = "lands late, unknown"
    LOST_UNKNOWN = "lost, unknown"
    LANDS_RAISES = "lands, raises"
    LOST_RAISES = "lost, raises"
    REFUSED = "refused"
    REFUSED_FOR_NOW = "refused for now"

    @property
    def lands(self) -> bool:
        return self.value.startswith("lands")


class Sight(StrEnum):
    """What comes of the next look-ups."""

    CLEAR = "clear"
    BLIND = "blind"
    """Finds nothing, whatever is there; a downstream that compares generations is never blind."""
    BROKEN = "broken"


@dataclass(frozen=True)
class Landing:
    """A send on its way."""

    at: float
    dispatch: Dispatch


@dataclass
class Shop:
    """Keeps to what its kind of idempotency promises, and to nothing more: one that promises nothing finds nothing.

    `effects` holds the operation's id once for each refund that was really made, `lies` the ids of those of which a
    look-up has said that there is none.
    """

    world: World
    idempotency: Idempotency
    key_lifetime: float
    sight: Sight = Sight.CLEAR
    lies: set[str] = field(default_factory=set)
    effects: list[str] = field(default_factory=list)
    _coming: list[Landing] = field(default_factory=list)
    _known_keys: dict[str, float] = field(default_factory=dict)
    _fences: dict[str, int] = field(default_factory=dict)

    def take(self, dispatch: Dispatch, fate: Fate) -> Effect:
        """One send comes in."""
        self.catch_up()
        if fate.lands:
            late = LATEST_LANDING if fate is Fate.LANDS_LATE_UNKNOWN else 0.0
            self._coming.append(Landing(self.world.now + late, dispatch))
            self.catch_up()
        return _told(fate, dispatch)

    def find(self, dispatch: Dispatch) -> Effect | None:
        """What was made for this operation; whoever compares generations lets none in that is as old as the look."""
        if self.sight is Sight.BROKEN:
            raise ConnectionError
        if not self.made(dispatch.operation_id):
            self._fences[dispatch.operation_id] = dispatch.generation + 1
            return None
        if self._is_blind():
            self.lies.add(dispatch.operation_id)
            return None
        return _applied(dispatch)

    def made(self, operation_id: str) -> int:
        """Refunds made for this operation."""
        self.catch_up()
        return self.effects.count(operation_id)

    def expects(self, operation_id: str) -> bool:
        """Whether something may still land for this operation."""
        return any(landing.dispatch.operation_id == operation_id for landing in self._coming)

    def catch_up(self) -> None:
        """Let land what is due by now."""
        due = [landing for landing in self._coming if landing.at <= self.world.now]
        self._coming = [landing for landing in self._coming if landing not in due]
        for landing in due:
            if not self._is_a_repeat(landing):
                self._make(landing)

    def _is_blind(self) -> bool:
        kind = self.idempotency
        return kind is Idempotency.NONE or (self.sight is Sight.BLIND and kind is not Idempotency.FENCED)

    def _make(self, landing: Landing) -> None:
        dispatch = landing.dispatch
        self.effects.append(dispatch.operation_id)
        self._known_keys[dispatch.idempotency_key] = landing.at
        self._fences[dispatch.operation_id] = max(dispatch.generation, self._fences.get(dispatch.operation_id, 0))

    def _is_a_repeat(self, landing: Landing) -> bool:
        dispatch = landing.dispatch
        if self.idempotency is Idempotency.KEYED:
            known = self._known_keys.get(dispatch.idempotency_key)
            return known is not None and landing.at - known < self.key_lifetime
        if self.idempotency is Idempotency.FENCED:
            return dispatch.generation < self._fences.get(dispatch.operation_id, 0)
        return False


def _told(fate: Fate, dispatch: Dispatch) -> Effect:
    match fate:
        case Fate.LANDS_AND_SAYS_SO:
            return _applied(dispatch)
        case Fate.LANDS_RAISES | Fate.LOST_RAISES:
            raise ConnectionError
        case Fate.REFUSED:
            return Effect.rejected("quote_consumed")
        case Fate.REFUSED_FOR_NOW:
            return Effect.rejected("rate_limited", retryable=True)
        case _:
            return Effect.unknown()


def _applied(dispatch: Dispatch) -> Effect:
    receipt = f"rf-{dispatch.operation_id}"
    return Effect.applied(receipt, REFUND_DATA | {"refund_id": receipt})
