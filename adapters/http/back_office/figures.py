"""Amounts, times and fingerprints, written for people."""

from dataclasses import dataclass
from datetime import UTC, datetime

from workflows.domain.impact import Money

CURRENCIES = {
    0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
    2: (
        "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF "
        "CHF CNY COP CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD "
        "HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK "
        "MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD "
        "RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS "
        "UAH USD UYU UZS VES WST XCD YER ZAR ZMW ZWG"
    ),
    3: "BHD IQD JOD KWD LYD OMR TND",
    4: "CLF UYW",
}
"""Currencies by the digits of their minor unit (ISO 4217)."""

DECIMALS = {currency: digits for digits, currencies in CURRENCIES.items() for currency in currencies.split()}

SIGNS = {"KRW": "₩", "EUR": "€", "GBP": "£", "JPY": "¥", "USD": "$", "INR": "₹", "VND": "₫", "PHP": "₱"}

STEPS = ((86400, "day"), (3600, "hour"), (60, "minute"))


@dataclass(frozen=True)
class Amount:
    """`figure` is what stands large ("₩12,000"), `code` what stands beside it ("KRW")."""

    figure: str
    code: str


def amount(money: Money) -> Amount:
    """The amount as people write it. A currency that is not known is shown in minor units, never guessed."""
    digits = DECIMALS.get(money.currency)
    if digits is None:
        return Amount(f"{money.minor_units:,} minor units", money.currency)
    whole, fraction = divmod(abs(money.minor_units), 10**digits)
    sign = "−" if money.minor_units < 0 else ""
    tail = f".{fraction:0{digits}d}" if digits else ""
    return Amount(f"{sign}{SIGNS.get(money.currency, '')}{whole:,}{tail}", money.currency)


def moment(at: datetime) -> str:
    """A time to the minute, in UTC: "2 Mar 2026, 14:05 UTC"."""
    utc = at.astimezone(UTC)
    return f"{utc.day} {utc:%b %Y, %H:%M} UTC"


def exact_moment(at: datetime) -> str:
    """A time to the second, in UTC, for a timeline."""
    utc = at.astimezone(UTC)
    return f"{utc.day} {utc:%b, %H:%M:%S}"


def span(seconds: float) -> str:
    """A length of time in its largest whole unit: "3 hours"."""
    for size, name in STEPS:
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {name}" + ("s" if count != 1 else "")
    return "less than a minute"


def distance(at: datetime, now: datetime) -> str:
    """How far a time is from now: "3 hours ago", "in 2 days"."""
    seconds = (at - now).total_seconds()
    return f"in {span(seconds)}" if seconds > 0 else f"{span(-seconds)} ago"


def fingerprint(digest: str) -> str:
    """The first twelve characters in groups of four, to be compared by eye."""
    return " ".join(digest[start : start + 4] for start in range(0, min(12, len(digest)), 4))
