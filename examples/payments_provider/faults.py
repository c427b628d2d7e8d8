"""Fault switches: what goes wrong, for which requests, and how often.

    do                  on                    what happens
    commit-then-drop    refund, quote         the work is committed, then the connection is cut: no byte of a reply
    commit-then-hang    refund, quote         the work is committed, the reply comes `seconds` later
    commit-late         refund                the connection is cut at once, the work is done `seconds` later
    drop-before-commit  any                   the connection is cut and nothing is done
    slow-read           lookup, order, quote  a GET waits for `seconds`
    429                 any                   refused with Retry-After: `seconds` (default 1)
    503                 any                   refused, with Retry-After if `seconds` is given
    500                 any                   an error page, nothing is done
    422                 refund, quote         a definite refusal

A switch that matches by `client_reference` or `order_id` fires only for requests that name it; a refund names its
order through its quote. The first armed switch that fits is used, and each use counts down its `times`. Clearing the
switches lets held replies go.
"""

import math
from collections.abc import Iterable
from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from examples.payments_provider.refusals import Refusal
from examples.payments_provider.settings import Seconds, Settings

On = Literal["refund", "lookup", "order", "quote"]
Do = Literal[
    "commit-then-drop", "commit-then-hang", "commit-late", "drop-before-commit", "slow-read", "429", "503", "500", "422"
]

READ_FAULTS: Final[frozenset[Do]] = frozenset({"drop-before-commit", "slow-read", "429", "503", "500"})
WRITE_FAULTS: Final[frozenset[Do]] = frozenset(
    {"commit-then-drop", "commit-then-hang", "commit-late", "drop-before-commit", "429", "503", "500", "422"}
)
FITS: Final[dict[On, frozenset[Do]]] = {
    "refund": WRITE_FAULTS,
    "lookup": READ_FAULTS,
    "order": READ_FAULTS,
    "quote": READ_FAULTS | WRITE_FAULTS - {"commit-late"},
}
NEED_SECONDS: Final[frozenset[Do]] = frozenset({"commit-then-hang", "commit-late", "slow-read"})
NOTHING_DONE: Final[frozenset[Do]] = frozenset({"drop-before-commit", "429", "503", "500", "422"})

DEFAULT_RETRY_AFTER = 1
"""In seconds; a 429 always says when to come back."""


class Match(BaseModel):
    """Narrows a switch to requests that name these; what is not given fits every request."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    client_reference: str | None = None
    order_id: str | None = None

    def fits(self, client_reference: str | None, order_id: str | None) -> bool:
        """Whether a request that names these is meant."""
        return self.client_reference in (None, client_reference) and self.order_id in (None, order_id)


class Fault(BaseModel):
    """One switch; `times` is how often it still fires, None for until it is cleared."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    on: On
    do: Do
    seconds: Seconds | None = None
    times: Annotated[int, Field(ge=0)] | None = 1
    match: Match = Match()

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        if self.do not in FITS[self.on]:
            raise ValueError(f"{self.do} does not go with {self.on}")
        if self.do in NEED_SECONDS and self.seconds is None:
            raise ValueError(f"{self.do} needs seconds")
        return self

    @property
    def armed(self) -> bool:
        """Whether it still fires."""
        return self.times is None or self.times > 0

    def used(self) -> Self:
        """The switch after it has fired once."""
        return self if self.times is None else self.model_copy(update={"times": self.times - 1})

    @property
    def wait(self) -> float:
        """How long it holds things up, in seconds."""
        return self.seconds or 0

    def refusal(self) -> Refusal:
        """For the switches that answer with a status."""
        seconds = None if self.seconds is None else math.ceil(self.seconds)
        if self.do == "429":
            return Refusal("rate_limited", "Too many requests.", seconds or DEFAULT_RETRY_AFTER)
        if self.do == "503":
            return Refusal("unavailable", "The service is not available.", seconds)
        if self.do == "422":
            return Refusal("refused", "This is refused and will be refused again.")
        return Refusal("internal_error", "Something went wrong here.")


class SwitchChanges(BaseModel):
    """What a test sets. Lifetimes are judged when they matter: a shorter one also ages the keys that are there."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    faults: tuple[Fault, ...] = ()
    completion_seconds: Seconds | None = None
    key_lifetime_seconds: Seconds | None = None
    quote_seconds: Seconds | None = None
    quote_single_use: bool | None = None


class Switches(BaseModel):
    """How the provider behaves now. `completion_seconds` and `quote_seconds` hold for what is made from now on."""

    model_config = ConfigDict(frozen=True)

    faults: tuple[Fault, ...]
    completion_seconds: float
    key_lifetime_seconds: float
    quote_seconds: float
    quote_single_use: bool

    @classmethod
    def from_settings(cls, settings: Settings, changes: SwitchChanges | None = None) -> Self:
        """What the changes do not name is as the settings have it."""
        own = {name: getattr(settings, name) for name in cls.model_fields if name != "faults"}
        named = {name: value for name, value in changes or SwitchChanges() if value is not None}
        return cls.model_validate(own | named)


def use_first(
    faults: Iterable[Fault], on: On, *, reading: bool, client_reference: str | None = None, order_id: str | None = None
) -> tuple[Fault | None, tuple[Fault, ...]]:
    """The switch that this request runs into, and all switches with that one counted down."""
    possible = READ_FAULTS if reading else WRITE_FAULTS
    left = list(faults)
    for place, fault in enumerate(left):
        if fault.on == on and fault.do in possible and fault.armed and fault.match.fits(client_reference, order_id):
            left[place] = fault.used()
            return fault, tuple(left)
    return None, tuple(left)
