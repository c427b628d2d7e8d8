"""Amounts, times and fingerprints, written for people."""

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Context, Decimal, localcontext

from babel.numbers import format_currency

from adapters.currencies import minor_digits
from workflows.domain.impact import Money

LOCALE = "en_US"

EXACT = Context(prec=100)
"""Every digit is kept, however large the amount."""

UNITS = ((60, "minute", 60), (3600, "hour", 24), (86400, "day", float("inf")))
"""Seconds of each unit, its name, and how many of it make one of the next."""


@dataclass(frozen=True)
class Amount:
    """`figure` is what stands large ("₩12,000"), `code` what stands beside it ("KRW")."""

    figure: str
    code: str


def amount(money: Money) -> Amount:
    """The amount as people write it. A currency that is not known is shown in minor units, never guessed."""
    digits = minor_digits(money.currency)
    if digits is None:
        return Amount(f"{money.minor_units:,} minor units", money.currency)
    with localcontext(EXACT):
        value = Decimal(money.minor_units).scaleb(-digits)
        pattern = "¤#,##0" + ("." + "0" * digits if digits else "")
        # Babel writes the sign and the grouping; how many digits there are is ISO 4217's word.
        figure: str = format_currency(value, money.currency, pattern, locale=LOCALE, currency_digits=False)
    # Where there is no sign of its own the code would stand twice.
    return Amount(figure.replace(money.currency, "").strip(), money.currency)


def moment(at: datetime) -> str:
    """A time to the minute, in UTC: "2 Mar 2026, 14:05 UTC"."""
    utc = at.astimezone(UTC)
    return f"{utc.day} {utc:%b %Y, %H:%M} UTC"


def exact_moment(at: datetime) -> str:
    """A time to the second, in UTC, for a timeline."""
    utc = at.astimezone(UTC)
    return f"{utc.day} {utc:%b, %H:%M:%S}"


def span(seconds: float) -> str:
    """A length of time in its largest unit, rounded to the nearest: "3 hours"."""
    if seconds < 60:
        return "less than a minute"
    count, name = next(
        (count, name) for size, name, enough in UNITS if (count := math.floor(seconds / size + 0.5)) < enough
    )
    return f"{count} {name}" + ("s" if count != 1 else "")


def distance(at: datetime, now: datetime) -> str:
    """How far a time is from now: "3 hours ago", "in 2 days"."""
    seconds = (at - now).total_seconds()
    return f"in {span(seconds)}" if seconds > 0 else f"{span(-seconds)} ago"


def fingerprint(digest: str) -> str:
    """The first twelve characters in groups of four, to be compared by eye."""
    return " ".join(digest[start : start + 4] for start in range(0, min(12, len(digest)), 4))
