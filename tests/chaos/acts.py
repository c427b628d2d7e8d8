"""What is asked for in a run: acts, and the turns in which a model proposes them."""

from dataclasses import dataclass
from typing import Literal

Grade = Literal["keyed", "fenced", "read"]
"""How an act is kept from happening twice: by a key, by a fence, or by changing nothing."""

Word = Literal["approve", "deny", "late", "contested", "both", "nobody"]
"""What people say when asked: yes, no, yes after a long time, two who disagree at once, two who agree, or not asked."""

Delivery = Literal["once", "twice", "simultaneous", "patient", "later", "again", "again later", "tampered"]
"""How often and when a response is handed in; see `tests.chaos.agents`."""

DELIVERIES: tuple[Delivery, ...] = (
    "once",
    "twice",
    "simultaneous",
    "patient",
    "later",
    "again",
    "again later",
    "tampered",
)

WRITES = ("refund_payment", "credit_account")


@dataclass(frozen=True)
class Act:
    """One logical operation. `target` is its order or account; with `amount` no other act of the run shares it.

    `fault` is what the provider does to its first request; `allowed` False means that the target is another tenant's.
    """

    call_id: str
    tool: str
    grade: Grade
    target: str
    amount: int
    word: Word = "nobody"
    fault: str = ""
    allowed: bool = True

    @property
    def writes(self) -> bool:
        """Whether it changes anything."""
        return self.tool in WRITES


@dataclass(frozen=True)
class Turn:
    """One response of a model, and how it is delivered. At most one of its acts writes."""

    request_id: str
    tenant: str
    subject: str
    surface: str
    acts: tuple[Act, ...]
    delivery: Delivery = "once"
    door: int = 0
    lag: int = 0
    """How many further acts are delivered before it comes again, where it comes again later."""
