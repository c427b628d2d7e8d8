"""Money as a model gives it: digits as text, with their currency, exact to the minor unit or refused.

No more digits behind the point than the currency has, by ISO 4217's own table; nothing is ever rounded.
"""

from decimal import Decimal
from typing import Annotated

from pydantic import Field

from adapters.currencies import minor_digits
from workflows.domain.contract import Arguments
from workflows.domain.errors import CallRefused, Detail
from workflows.domain.impact import Money


class AmountGiven(Arguments):
    """An amount in the currency's main unit, such as `{"value": "25.50", "currency": "USD"}`."""

    value: Annotated[
        str,
        Field(
            description="Amount in the currency's main unit, as text, with no more digits behind the point than the "
            "currency has (KRW and JPY none, USD and EUR two, KWD three).",
            examples=["12000", "25.50"],
            pattern=r"^(0|[1-9][0-9]{0,14})(\.[0-9]{1,6})?$",
        ),
    ]
    currency: Annotated[
        str, Field(description="ISO 4217 code in capitals.", examples=["KRW", "USD"], pattern=r"^[A-Z]{3}$")
    ]

    def one_form(self) -> dict[str, str]:
        """With as many digits behind the point as the currency has; what that would change stays as it was written."""
        digits, value = minor_digits(self.currency), Decimal(self.value)
        if digits is None or -int(value.as_tuple().exponent) > digits:
            return {"value": self.value, "currency": self.currency}
        return {"value": format(value.quantize(Decimal(1).scaleb(-digits)), "f"), "currency": self.currency}

    def money(self, path: str) -> Money:
        """The amount in minor units.

        Raises:
            CallRefused: `unknown_currency`, or `amount_scale` for more digits behind the point than the currency has.
        """
        digits = minor_digits(self.currency)
        if digits is None:
            raise CallRefused("unknown_currency", [Detail(f"{path}/currency", "unknown_currency", "an ISO 4217 code")])
        value = Decimal(self.value)
        if -int(value.as_tuple().exponent) > digits:
            raise CallRefused("amount_scale", [Detail(f"{path}/value", "amount_scale", _scale(digits))])
        return Money(int(value.scaleb(digits)), self.currency)


def _scale(digits: int) -> str:
    return "no digits behind the point" if digits == 0 else f"at most {digits} digits behind the point"
