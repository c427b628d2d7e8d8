"""The formats that are asserted. A text of a format is checked as it stands; nothing is repaired or cut off."""

import datetime
import ipaddress
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

_DATE_TIME = re.compile(
    r"(?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2})[Tt](?P<time>[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?(?:[Zz]|[+-][0-9]{2}:[0-9]{2}))"
)
_TIME = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))")
_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_HOSTNAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_EMAIL = re.compile(rf"{_ATOM}(?:\.{_ATOM})*@{_LABEL}(?:\.{_LABEL})*")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+")
_MINUTES_OF_A_DAY = 24 * 60


def _is_date(text: str) -> bool:
    found = _DATE.fullmatch(text)
    if found is None:
        return False
    try:
        datetime.date(*map(int, found.groups()))
    except ValueError:
        return False
    return True


def _is_time(text: str) -> bool:
    found = _TIME.fullmatch(text)
    if found is None:
        return False
    hour, minute, second = map(int, found.group(1, 2, 3))
    sign, zone_hour, zone_minute = found[4], int(found[5] or 0), int(found[6] or 0)
    if hour > 23 or minute > 59 or zone_hour > 23 or zone_minute > 59:
        return False
    east = (zone_hour * 60 + zone_minute) * (-1 if sign == "-" else 1)
    last_minute = (hour * 60 + minute - east) % _MINUTES_OF_A_DAY == _MINUTES_OF_A_DAY - 1
    return second <= (60 if last_minute else 59)  # RFC 3339 section 5.7: a leap second ends a day in UTC


def _is_date_time(text: str) -> bool:
    found = _DATE_TIME.fullmatch(text)
    return found is not None and _is_date(found["date"]) and _is_time(found["time"])


def _is_ipv4(text: str) -> bool:
    return _is_address(ipaddress.IPv4Address, text)


def _is_ipv6(text: str) -> bool:
    return "%" not in text and _is_address(ipaddress.IPv6Address, text)


def _is_address(kind: Callable[[str], object], text: str) -> bool:
    try:
        kind(text)
    except ValueError:
        return False
    return True


def _is_email(text: str) -> bool:
    return len(text) <= 254 and _EMAIL.fullmatch(text) is not None


def _is_hostname(text: str) -> bool:
    return len(text) <= 253 and _HOSTNAME.fullmatch(text) is not None


ASSERTED: Final[Mapping[str, tuple[Callable[[str], bool], str]]] = MappingProxyType(
    {
        "date-time": (_is_date_time, "a date and time with its zone, such as 2026-01-31T09:30:00+09:00"),
        "date": (_is_date, "a date such as 2026-01-31"),
        "time": (_is_time, "a time with its zone, such as 09:30:00+09:00"),
        "email": (_is_email, "an e-mail address"),
        "hostname": (_is_hostname, "a host name"),
        "uri": (lambda text: _URI.fullmatch(text) is not None, "a URI with its scheme"),
        "uuid": (lambda text: _UUID.fullmatch(text) is not None, "a UUID"),
        "ipv4": (_is_ipv4, "an IPv4 address"),
        "ipv6": (_is_ipv6, "an IPv6 address"),
    }
)
"""By name: whether a text has the format, and what is expected in words."""

NOT_HELD: Final = frozenset(
    {
        "duration",
        "idn-email",
        "idn-hostname",
        "iri",
        "iri-reference",
        "json-pointer",
        "regex",
        "relative-json-pointer",
        "uri-reference",
        "uri-template",
    }
)
"""Formats of the standard that are not checked here, so a schema that relies on them is refused. Names outside the
standard, such as `int64` or `password`, assert nothing."""
