"""Minor units, from ISO 4217's own published table: one place for the gate, the tools and the pages."""

import re

from iso4217 import Currency

CODE = re.compile(r"[A-Z]{3}")


def minor_digits(currency: str) -> int | None:
    """Digits of the currency's minor unit (KRW 0, USD 2, KWD 3), None for a code that has none or is unknown."""
    try:
        exponent = Currency(currency).exponent if CODE.fullmatch(currency) else None
    except ValueError:
        return None
    return exponent if isinstance(exponent, int) else None
