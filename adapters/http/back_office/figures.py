"""Amounts, counts, times and fingerprints, written for people: digits and order as their language has them."""

import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Context, Decimal, localcontext
from typing import Literal

from babel.dates import format_datetime, format_timedelta, get_timezone_name
from babel.numbers import format_currency, format_decimal, get_group_symbol
from markupsafe import Markup, escape

from adapters.currencies import minor_digits
from adapters.http.back_office.languages import Language
from workflows.domain.impact import Money

EXACT = Context(prec=100)
"""Every digit is kept, however large the amount."""

WHOLE = 12
"""Characters of a figure that stand on one line in any window: "₩100,000,000"."""

Unit = Literal["minute", "hour", "day"]

UNITS: tuple[tuple[int, Unit, float], ...] = ((60, "minute", 60), (3600, "hour", 24), (86400, "day", math.inf))
"""Seconds of each unit, its name, and how many of it make one of the next."""


@dataclass(frozen=True)
class Amount:
    """`figure` is what stands large ("₩12,000"), `code` what stands beside it ("KRW")."""

    figure: str
    code: str


def amount(money: Money, language: Language) -> Amount:
    """The amount as people write it. A currency that is not known is shown in minor units, never guessed."""
    digits = minor_digits(money.currency)
    if digits is None:
        units = language.gettext("%(number)s minor units") % {"number": number(money.minor_units, language)}
        return Amount(units, money.currency)
    with localcontext(EXACT):
        value = Decimal(money.minor_units).scaleb(-digits)
        pattern = "¤#,##0" + ("." + "0" * digits if digits else "")
        # Babel writes the sign and the grouping; how many digits there are is ISO 4217's word.
        figure: str = format_currency(value, money.currency, pattern, language.locale, currency_digits=False)
    # Where there is no sign of its own the code would stand twice. Some signs hold a space of another kind ("F CFA").
    return Amount(" ".join(figure.replace(money.currency, "").split()), money.currency)


def in_groups(figure: str, language: Language) -> Markup:
    """A figure as HTML: one too long for a line may end it behind a group, and never inside one."""
    if len(figure) <= WHOLE:
        return escape(figure)
    separator = get_group_symbol(language.locale)
    return Markup("{}<wbr>").format(separator).join(figure.split(separator))


def number(count: int, language: Language) -> str:
    """A whole number with its groups: "12,000"."""
    with localcontext(EXACT):
        return format_decimal(count, "#,##0", language.locale)


def moment(at: datetime, language: Language) -> str:
    """A time to the minute with the name of its zone: "2 Mar 2026, 14:05 UTC"."""
    pattern = language.gettext("d MMM y, HH:mm")
    return f"{_written(at, pattern, language)} {zone_name(language, at)}"


def exact_moment(at: datetime, language: Language) -> str:
    """A time to the second for a timeline, which names the zone once for all: "2 Mar, 14:05:09"."""
    return _written(at, language.gettext("d MMM, HH:mm:ss"), language)


def hour(at: datetime, language: Language) -> str:
    """The start of an hour with its day: "2 Mar, 14:00"."""
    return _written(at, language.gettext("d MMM, HH:mm"), language)


def hour_of_day(at: datetime, language: Language) -> str:
    """The same without its day, for an axis: "14:00"."""
    return _written(at, "HH:mm", language)


def day(at: datetime, language: Language) -> str:
    """A day: "2 Mar"."""
    return _written(at, language.gettext("d MMM"), language)


def age(seconds: float, language: Language) -> str:
    """How long something has lasted, in its largest unit: "3 hours"."""
    return format_timedelta(timedelta(seconds=seconds), locale=language.locale)


def zone_name(language: Language, at: datetime | None = None) -> str:
    """The person's time zone in words, for one time ("Central European Summer Time") or for all of a year."""
    if language.zone is UTC:
        return "UTC"
    return get_timezone_name(at.astimezone(language.zone) if at else language.zone, "long", locale=language.locale)


def distance(at: datetime, now: datetime, language: Language) -> str:
    """How far a time is from now, in its largest unit, rounded to the nearest: "3 hours ago", "in 2 days"."""
    seconds = (at - now).total_seconds()
    if abs(seconds) < 60:
        return language.gettext("in less than a minute") if seconds > 0 else language.gettext("less than a minute ago")
    size, count, unit = next(
        (size, count, unit) for size, unit, enough in UNITS if (count := math.floor(abs(seconds) / size + 0.5)) < enough
    )
    # The unit is chosen here; below an infinite threshold Babel takes the one that it is given.
    rounded = timedelta(seconds=math.copysign(count * size, seconds))
    return format_timedelta(rounded, unit, threshold=math.inf, add_direction=True, locale=language.locale)


def fingerprint(digest: str) -> str:
    """The first twelve characters in groups of four, to be compared by eye."""
    return " ".join(digest[start : start + 4] for start in range(0, min(12, len(digest)), 4))


def _written(at: datetime, pattern: str, language: Language) -> str:
    return format_datetime(at, pattern, tzinfo=language.zone, locale=language.locale)
