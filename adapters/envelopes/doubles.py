"""Numbers for servers that hold all of them as doubles. No field name of a surface stands here."""

from decimal import Decimal
from typing import Any


def exactly(value: Any) -> Any:
    """Return `value` with every number as text that such a server would round."""
    match value:
        case dict():
            return {key: exactly(item) for key, item in value.items()}
        case list() | tuple():
            return [exactly(item) for item in value]
        case int() | Decimal() if not _has_double(value):
            return str(value)
    return value


def _has_double(number: int | Decimal) -> bool:
    try:
        return Decimal(repr(float(number))) == number
    except OverflowError:
        return False
