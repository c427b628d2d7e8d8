"""The right to make the effect, and what is on record about it."""

from dataclasses import dataclass, field

from workflows.domain.effect import Dispatch, Effect
from workflows.domain.reconciliation import Uncertainty


@dataclass(frozen=True)
class Claim:
    """The right to make the effect, as long as nobody holds a higher generation.

    `sent` tells of earlier sends by anybody; `sends` counts them.
    """

    operation_id: str
    owner: str
    generation: int
    dispatch: Dispatch
    sends: int
    sent: Uncertainty

    @property
    def item(self) -> str:
        """The item of a batch that it is for, empty for an operation with one effect."""
        return self.dispatch.item


@dataclass(frozen=True)
class Evidence:
    """What is on record about the effect: `effect` once concluded, the claim's sends so far.

    `uncertain`: the last send may have happened; as long as it is, nothing more may be sent.
    """

    generation: int
    sends: int
    sent: Uncertainty
    lease_is_live: bool
    uncertain: bool
    effect: Effect | None
    dispatch: Dispatch = field(repr=False)

    @property
    def may_be_sent(self) -> bool:
        """Whether nothing is in doubt and nothing is concluded: a send is still to come."""
        return self.effect is None and not self.uncertain
