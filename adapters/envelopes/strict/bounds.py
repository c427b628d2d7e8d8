"""Bounds of values that stand in several schemas of one place: all hold, so the narrowest says most."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

from adapters.envelopes.strict.form import Parts

NARROWEST: Final[Mapping[str, Any]] = MappingProxyType(
    {
        **dict.fromkeys(("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"), max),
        **dict.fromkeys(("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"), min),
    }
)
_NOTHING: Final = (("minLength", 0), ("minItems", 0), ("minProperties", 0), ("uniqueItems", False))
"""What bounds nothing."""


def bounds(parts: Parts, keywords: Iterable[str]) -> list[tuple[str, Any]]:
    """Each keyword with each value that counts: of bounds that can be compared the narrowest, of others all."""
    return [(keyword, value) for keyword in keywords for value in _counting(parts, keyword)]


def _counting(parts: Parts, keyword: str) -> list[Any]:
    values = [part[keyword] for part in parts if keyword in part and (keyword, part[keyword]) not in _NOTHING]
    if keyword in NARROWEST and values:
        return [NARROWEST[keyword](values)]
    return [value for at, value in enumerate(values) if value not in values[:at]]
