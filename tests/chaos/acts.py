"""What is asked for in a run: acts, and the turns in which a model proposes them."""

from dataclasses import dataclass
from typing import Literal

Grade = Literal["keyed", "fenced", "batch", "read"]
"""How an act is kept from happening twice: by a key, by a fence, by a fence for each item, or by changing nothing."""

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

Moment = Literal["at once", "asked", "decided", "ended"]
"""When a caller cancels: right after the proposal, once people are asked, right after their word, after the end."""

MOMENTS: tuple[Moment, ...] = ("at once", "asked", "decided", "ended")

Review = Literal["resolved", "abandoned", "left"]
"""What an operator does about an effect that nobody could find out: says the truth, gives it up, or nothing yet."""

REVIEWS: tuple[Review, ...] = ("resolved", "abandoned", "left")

WRITES = ("refund_payment", "credit_account", "credit_accounts")


@dataclass(frozen=True)
class Cancel:
    """A caller's wish that an act stop, so many seconds after its moment, and how often it is said."""

    moment: Moment
    pause: float = 0.0
    times: int = 1


@dataclass(frozen=True)
class Act:
    """One logical operation. `target` is its order or account; with `amount` no other act of the run shares it.

    `fault` is what the provider does to its first request; `allowed` False means that the target is another tenant's.
    A batch has `items`, its accounts, each of which gets the amount; its target is the last of them, which is closed
    behind it once `closes` of the others have got theirs, unless that is 0. An act with a `review` cannot be looked up.
    `repeats` are call ids under which the same response asks for it once more.
    """

    call_id: str
    tool: str
    grade: Grade
    target: str
    amount: int
    word: Word = "nobody"
    fault: str = ""
    allowed: bool = True
    items: tuple[str, ...] = ()
    closes: int = 0
    cancel: Cancel | None = None
    review: Review | None = None
    repeats: tuple[str, ...] = ()

    @property
    def writes(self) -> bool:
        """Whether it changes anything."""
        return self.tool in WRITES


@dataclass(frozen=True)
class Turn:
    """One response of a model, and how it is delivered. Its writes are to be done in their order, after its reads."""

    request_id: str
    tenant: str
    subject: str
    surface: str
    acts: tuple[Act, ...]
    delivery: Delivery = "once"
    door: int = 0
    lag: int = 0
    """How many further acts are delivered before it comes again, where it comes again later."""

    @property
    def ordered(self) -> bool:
        """Whether it has several writes."""
        return sum(act.writes for act in self.acts) > 1
