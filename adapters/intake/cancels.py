"""A caller takes an operation back. It stops as long as nothing has happened; what has happened stays so."""

from dataclasses import dataclass

from adapters.intake.ports import Cancellations, Standing
from adapters.intake.watch import Watch
from workflows.domain.lifecycle import ENDS, State
from workflows.domain.principal import Principal

CANCELED, TOO_LATE, PENDING = "canceled", "cancel_too_late", "cancel_pending"


@dataclass(frozen=True)
class CancelAnswer:
    """Where the operation stands, and what became of the wish: one of the three codes."""

    standing: Standing
    code: str


class Cancels:
    """Takes wishes."""

    def __init__(self, cancellations: Cancellations, watch: Watch) -> None:
        self._cancellations, self._watch = cancellations, watch

    async def cancel(self, principal: Principal, operation_id: str, wait_seconds: float) -> CancelAnswer | None:
        """Keep the wish, then say what became of it within the caller's patience; None: there is no such operation."""
        if not await self._cancellations.want(principal, operation_id):
            return None
        found = await self._watch.until(_decided, principal, [operation_id], wait_seconds)
        standing = found.get(operation_id)
        return None if standing is None else CancelAnswer(standing, _code(standing))


def _decided(standing: Standing) -> bool:
    # What is uncertain stays so for longer than anybody waits here.
    return _code(standing) != PENDING or standing.state in (State.UNCONFIRMED, State.MANUAL_REVIEW)


def _code(standing: Standing) -> str:
    if standing.code == CANCELED:
        return CANCELED
    # Begun is not sent, and sent is not happened: what is proven absent is not sent again.
    return TOO_LATE if standing.state in ENDS else PENDING
