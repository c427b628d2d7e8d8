"""An operator's word on what nobody else can find out, with the evidence that it rests on.

It is asked for only once looking has ended in manual review, counts for exactly the state of the claim that the
operator saw, and never comes from software. What the downstream itself says outranks it.
"""

from dataclasses import dataclass
from enum import StrEnum

from workflows.domain.errors import ResolutionRefused
from workflows.domain.principal import Principal
from workflows.domain.visibility import is_blank, is_plain

OPERATOR_ROLE = "operator"


class Finding(StrEnum):
    """What the operator has found out."""

    HAPPENED = "happened"
    """The effect is there, under this reference."""
    DID_NOT_HAPPEN = "did_not_happen"
    """There is none and there will be none: sending again is safe."""
    ABANDONED = "abandoned"
    """Nobody can find out; the operation ends, and it may have happened."""


@dataclass(frozen=True)
class Resolution:
    """One operator's word. `reference` is the downstream's own id of the effect, empty unless it happened.

    `generation` is that of the claim as it was shown; any act on the claim since makes the word void. `item` names the
    object of a batch that the word is about.
    """

    finding: Finding
    evidence: str
    reference: str
    generation: int
    item: str = ""


def refusal_of_operator(operator: Principal, requester_tenant: str, requester: str) -> str | None:
    """The code that keeps this person from resolving, None when they may; software never may."""
    if operator.tenant != requester_tenant:
        return "not_found"
    if operator.agent or OPERATOR_ROLE not in operator.roles or operator.subject == requester:
        return "operator_not_allowed"
    return None


def require_grounds(resolution: Resolution) -> None:
    """Return if the word says what it rests on.

    Raises:
        ResolutionRefused: `resolution_evidence_required`, `resolution_reference_required`,
            `resolution_reference_unclear`. What cannot be seen is nothing to rest on.
    """
    if is_blank(resolution.evidence):
        raise ResolutionRefused("resolution_evidence_required")
    if resolution.finding is Finding.HAPPENED and is_blank(resolution.reference):
        raise ResolutionRefused("resolution_reference_required")
    if not is_plain(resolution.reference):
        raise ResolutionRefused("resolution_reference_unclear")
