"""The forms above the lists: what was typed is read into a query, or told back with what is wrong with it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta, tzinfo
from decimal import Decimal
from typing import TypeVar
from urllib.parse import urlencode

from starlette.requests import Request

from adapters.currencies import minor_digits
from adapters.http.back_office.languages import N_
from adapters.http.back_office.lists import OperationQuery, PendingQuery
from adapters.http.back_office.refusal import PageRefused
from adapters.http.back_office.settings import PREFIX
from workflows.domain.lifecycle import State

T = TypeVar("T")

LONGEST = 255
"""Characters of one field."""

CURSOR = re.compile(r"[A-Za-z0-9_.:+=-]{0,256}")

AMOUNT = re.compile(r"(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,24})(?:\.([0-9]{1,4}))?")
"""As all our languages write it: commas between the thousands, a point before the smaller unit."""

WAITED = {
    "1h": (timedelta(hours=1), N_("Over an hour ago")),
    "1d": (timedelta(days=1), N_("Over a day ago")),
    "3d": (timedelta(days=3), N_("Over three days ago")),
}
ENDING = {
    "1h": (timedelta(hours=1), N_("Within an hour")),
    "1d": (timedelta(days=1), N_("Within a day")),
    "3d": (timedelta(days=3), N_("Within three days")),
}
"""What the form offers: how long ago it was asked, and how soon it ends."""

PENDING_FIELDS = ("tool", "currency", "at_least", "at_most", "waiting", "ends_in", "mine")
OPERATION_FIELDS = ("id", "resource", "tool", "state", "requester", "since", "until")

LABELS = {
    "tool": N_("Tool"),
    "currency": N_("Currency"),
    "at_least": N_("Amount from"),
    "at_most": N_("Amount up to"),
    "waiting": N_("Asked"),
    "ends_in": N_("Ends"),
    "mine": N_("Mine to decide"),
    "id": N_("Id of an operation, a call or a response"),
    "resource": N_("Object"),
    "state": N_("State"),
    "requester": N_("Asked by"),
    "since": N_("Begun from"),
    "until": N_("Begun up to"),
}


@dataclass
class Typed:
    """What stands in the fields of one form. `faults` say of a field what was expected there."""

    path: str
    values: dict[str, str]
    faults: dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, request: Request, path: str, fields: Sequence[str]) -> "Typed":
        """Take the form's fields from the address; those that are empty are left out."""
        given = {name: request.query_params.get(name, "").strip() for name in fields}
        typed = cls(path, {name: value for name, value in given.items() if value})
        for name, value in typed.values.items():
            if len(value) > LONGEST or not value.isprintable():
                typed.faults[name] = N_("This cannot be looked for.")
        return typed

    def link(self, **more: str) -> str:
        """The address of this list with the same filter; an empty value takes a field away."""
        fields = {name: value for name, value in {**self.values, **more}.items() if value}
        return f"{PREFIX}{self.path}" + (f"?{urlencode(fields)}" if fields else "")

    def text(self, name: str) -> str:
        """A field as it is, empty when there is none."""
        return self.values.get(name, "")

    def one_of(self, name: str, among: Mapping[str, T]) -> T | None:
        """What a choice stands for. One that there is not is forgotten: nobody could have typed it."""
        value = self.values.get(name)
        if value is None or value in among:
            return among[value] if value is not None else None
        self.faults[name] = N_("There is no such choice.")
        del self.values[name]
        return None

    def amount(self, name: str, currency: str) -> int | None:
        """An amount in minor units of the currency."""
        value = self.values.get(name)
        if value is None:
            return None
        digits, written = minor_digits(currency), AMOUNT.fullmatch(value)
        if digits is None:
            self.faults["currency"] = N_("An amount needs a currency, such as KRW.")
        elif written is None or len(written[1] or "") > digits:
            self.faults[name] = N_("This is no amount in that currency.")
        else:
            return int(Decimal(value.replace(",", "")).scaleb(digits))
        return None

    def day(self, name: str, zone: tzinfo, later: int = 0) -> datetime | None:
        """The first moment of a day where the person lives, or of the day so many days later."""
        value = self.values.get(name)
        try:
            day = date.fromisoformat(value) + timedelta(days=later) if value else None
            return datetime.combine(day, time(), zone) if day else None
        except (ValueError, OverflowError):
            self.faults[name] = N_("This is no day, such as 2026-03-02.")
            return None


def pending_query(typed: Typed, after: str) -> PendingQuery | None:
    """Which questions are meant; None when that cannot be said."""
    currency = typed.text("currency").upper()
    least, most = typed.amount("at_least", currency), typed.amount("at_most", currency)
    waited, ending = typed.one_of("waiting", WAITED), typed.one_of("ends_in", ENDING)
    mine = typed.one_of("mine", {"1": True})
    if typed.faults:
        return None
    return PendingQuery(
        tool=typed.text("tool"),
        currency=currency,
        at_least=least,
        at_most=most,
        waiting=waited[0] if waited else None,
        ends_in=ending[0] if ending else None,
        mine=bool(mine),
        after=after,
    )


def operation_query(typed: Typed, after: str, zone: tzinfo) -> OperationQuery | None:
    """Which operations are meant; None when that cannot be said. The period has its last day."""
    since, until = typed.day("since", zone), typed.day("until", zone, later=1)
    state = typed.one_of("state", {state.value: state for state in State})
    if typed.faults:
        return None
    return OperationQuery(
        id=typed.text("id"),
        resource=typed.text("resource"),
        tool=typed.text("tool"),
        state=state,
        requester=typed.text("requester"),
        since=since,
        until=until,
        after=after,
    )


def cursor(request: Request) -> str:
    """Where the page of a list begins, empty for the first.

    Raises:
        PageRefused: it cannot be one of ours.
    """
    value = request.query_params.get("after", "")
    if not CURSOR.fullmatch(value):
        raise PageRefused.absent()
    return value
