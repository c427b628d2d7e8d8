"""The gate: five separate verdicts in order, and the one sentence that decides.

parse → schema → business rules → authorization → risk. The first layer that refuses answers; after a refusal nothing
is handed to a handler.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from workflows.domain.errors import Detail


class Layer(StrEnum):
    """Who gave the verdict. `EXPOSURE` stands before the five: was the tool offered to this caller at all?"""

    PARSE = "parse"
    EXPOSURE = "exposure"
    SCHEMA = "schema"
    BUSINESS = "business"
    AUTHORIZATION = "authorization"
    RISK = "risk"
    APPROVAL = "approval"


@dataclass(frozen=True)
class Verdict:
    """One layer's answer; `code` is None when it lets the call pass."""

    layer: Layer
    code: str | None = None
    details: tuple[Detail, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether this layer lets the call pass."""
        return self.code is None


@dataclass(frozen=True)
class Standing:
    """What the gate knows when it must decide."""

    allowed: bool
    schema_valid: bool
    business_valid: bool
    authorized: bool
    approval_required: bool
    approval_granted: bool


def may_execute(standing: Standing) -> bool:
    """The only way to a handler that changes anything."""
    return (
        standing.allowed
        and standing.schema_valid
        and standing.business_valid
        and standing.authorized
        and (not standing.approval_required or standing.approval_granted)
    )


def first_refusal(verdicts: Iterable[Verdict]) -> Verdict | None:
    """The verdict that answers, None when all let the call pass."""
    return next((verdict for verdict in verdicts if not verdict.passed), None)
