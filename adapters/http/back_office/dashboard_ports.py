"""What the page of invariants shows of one tenant, and what it needs from the store.

Figures are counted over the operations that ended in the span, refusals and corrections over those that were given in
it, decisions over the questions that were asked in it. Ages and times fall between bounds that both sides know.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, Protocol

from workflows.domain.approval import Choice
from workflows.domain.gate import Layer
from workflows.domain.lifecycle import State
from workflows.domain.principal import Principal

MINUTE, HOUR, DAY = 60, 3600, 24 * 3600

AGES: Final = (MINUTE, 10 * MINUTE, HOUR, 6 * HOUR, DAY, 7 * DAY)
"""Seconds between which the ages of open operations fall; the last place is for what is older than all of them."""

TIMES_TO_DECIDE: Final = (MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 4 * HOUR, DAY)
"""The same for the time from a question to a person's word."""

MOST_EFFECTS = 2
"""Effects on record of one claim are counted as none, one, and so many or more."""

MOST_AGAIN = 3
"""Further sends and further claims are counted up to so many or more."""

MOST_KINDS = 12
"""Kinds of refusals, and tools, that are told one by one; the others are only counted together."""

MOST_BREACHES = 20
"""Operations that are named beside an invariant which they break."""

CHECKED: Final = timedelta(days=30)
MOST_CHECKED: Final = 5_000
"""Invariants are measured over the operations that began within this time, the newest so many of them."""


class Span(StrEnum):
    """How far back the figures go."""

    DAY = "day"
    WEEK = "week"

    @property
    def step(self) -> timedelta:
        """What one bar of the time line stands for."""
        return timedelta(hours=1) if self is Span.DAY else timedelta(hours=6)

    @property
    def bars(self) -> int:
        """How many of them there are; the last one is not over yet."""
        return 24 if self is Span.DAY else 28


class End(StrEnum):
    """How an operation ended, as people tell it apart."""

    SUCCEEDED = "succeeded"
    FAILED_RETRYABLE = "failed_retryable"
    FAILED_TERMINAL = "failed_terminal"
    GIVEN_UP = "given_up"


@dataclass(frozen=True)
class Invariant:
    """One thing that must hold, as it was found.

    `broken` counts what breaks it; `operations` are the newest of those that do, by their ids. `since` is when the one
    among them that has not changed for the longest was changed last: it has been broken for so long at least. Where
    others are at fault, `theirs` says in their own words what they ran.
    """

    name: str
    broken: int = 0
    since: datetime | None = None
    operations: tuple[str, ...] = ()
    theirs: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether nothing breaks it."""
        return self.broken == 0


@dataclass(frozen=True)
class Queue:
    """How many wait, and for how many seconds the oldest does; 0.0 when none does."""

    number: int = 0
    oldest_seconds: float = 0.0


@dataclass(frozen=True)
class UnderWay:
    """What waits: operations by their state, questions to people, messages and notices that do not go out.

    `overdue` are questions and unused grants past their deadline; `due` messages should be out by now, `failing` ones
    are tried again, `set_aside` ones are not; notices are `not_taken` by their receiver yet, or `given_up`.
    """

    states: Mapping[State, Queue]
    pending: Queue = Queue()
    overdue: Queue = Queue()
    due: Queue = Queue()
    failing: Queue = Queue()
    set_aside: Queue = Queue()
    not_taken: Queue = Queue()
    given_up: Queue = Queue()


@dataclass(frozen=True)
class Figures:
    """Counts since `begin`, the start of the first bar; a count that is 0 may be absent.

    `ends` by the start of the bar; `ages` and `decisions` by the place among `AGES` and `TIMES_TO_DECIDE`; `effects`,
    `sends_again` and `claims_again` by how many there were of one effect; `corrections` by the tool.
    """

    begin: datetime
    ends: Mapping[tuple[datetime, End], int] = field(default_factory=dict)
    ages: Mapping[tuple[int, State], int] = field(default_factory=dict)
    decisions: Mapping[tuple[int, Choice], int] = field(default_factory=dict)
    refusals: Mapping[tuple[Layer, str], int] = field(default_factory=dict)
    other_refusals: int = 0
    effects: Mapping[int, int] = field(default_factory=dict)
    sends_again: Mapping[int, int] = field(default_factory=dict)
    claims_again: Mapping[int, int] = field(default_factory=dict)
    corrections: Mapping[str, int] = field(default_factory=dict)
    other_corrections: int = 0


@dataclass(frozen=True)
class Overview:
    """Everything that the page shows, as it stood at one moment."""

    read_at: datetime
    invariants: tuple[Invariant, ...]
    under_way: UnderWay
    figures: Figures


class Dashboard(Protocol):
    """Where the page gets it from."""

    async def overview(self, viewer: Principal, span: Span) -> Overview | None:
        """Of the viewer's tenant alone; None while it is still being read for the first time.

        Raises:
            StoreUnavailable: the store does not answer.
        """
        ...
