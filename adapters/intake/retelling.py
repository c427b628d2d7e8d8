"""An operation that somebody comes back to: where it stands now, told as its call would be answered."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from adapters.envelopes.envelope import Envelope, ReadTurn
from adapters.intake.answers import answer_to, refused_call
from adapters.intake.ports import Receipt, Registered, Standing
from adapters.intake.watch import Watch
from workflows.domain.catalog import Catalog
from workflows.domain.errors import CallRefused
from workflows.domain.lifecycle import ENDS
from workflows.domain.principal import Principal
from workflows.domain.proposal import CallResult, Proposal


@dataclass(frozen=True)
class Retold:
    """Where the operation stands, its call's result, and the message in which the surface tells it."""

    standing: Standing
    result: CallResult
    message: dict[str, Any]


class Retelling:
    """Tells operations again, on a surface that writes one message for each call."""

    def __init__(
        self,
        envelope: Envelope,
        catalog: Catalog,
        watch: Watch,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._envelope, self._catalog, self._watch, self._now = envelope, catalog, watch, now

    async def of(self, principal: Principal, operation_id: str, wait_seconds: float = 0.0) -> Retold | None:
        """Tell it once it has ended or patience has; None: there is no such operation for this principal."""
        found = await self._watch.until(_has_ended, principal, [operation_id], wait_seconds)
        return self.told(found[operation_id]) if operation_id in found else None

    def told(self, standing: Standing) -> Retold:
        """Tell an operation that stands like this."""
        proposal = Proposal(standing.operation_id, standing.tool, None)
        known = Registered(proposal.call_id, Receipt.KNOWN, standing.operation_id)
        result = answer_to(proposal, known, standing, self._catalog.find(standing.tool), self._now())
        return Retold(standing, result, self._written(proposal, result))

    def refusal(self, tool_name: str, refused: CallRefused) -> dict[str, Any]:
        """Tell that nothing is told, and why."""
        proposal = Proposal("retelling", tool_name, None)
        return self._written(proposal, refused_call(proposal, refused))

    def _written(self, proposal: Proposal, result: CallResult) -> dict[str, Any]:
        turn = ReadTurn(self._envelope.SURFACE, proposal.call_id, (proposal,), ())
        (message,) = self._envelope.write(turn, [result])
        return message


def _has_ended(standing: Standing) -> bool:
    return standing.state in ENDS
