"""The keywords of JSON Schema that are read here, by what they do."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

CHOICES: Final = ("anyOf", "oneOf")
CONDITIONAL: Final = ("if", "then", "else")
CONDITIONS: Final = ("not", *CONDITIONAL, "dependentSchemas")
OF_OBJECTS: Final = ("properties", "patternProperties", "additionalProperties", "unevaluatedProperties", "required")
OF_LISTS: Final = ("items", "prefixItems", "unevaluatedItems")

SHOWN: Final = ("title", "description")
SAID: Final = ("default", "examples")
ANNOTATIONS: Final = frozenset({*SHOWN, *SAID})

_OF_NUMBERS: Final = ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf")
OF_KIND: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "string": ("minLength", "maxLength", "pattern", "format", "contentEncoding", "contentMediaType"),
        "number": _OF_NUMBERS,
        "integer": _OF_NUMBERS,
        "array": ("minItems", "maxItems", "uniqueItems", "contains", "minContains", "maxContains"),
        "object": ("minProperties", "maxProperties", "propertyNames", "dependentRequired"),
        "boolean": (),
        "null": (),
    }
)
"""What bounds the values of one type and opens nothing."""
CONTAINERS: Final = frozenset({"object", "array"})

READ: Final = frozenset(
    {"type", "enum", "const", *CHOICES, *CONDITIONS, *OF_OBJECTS, *OF_LISTS, *ANNOTATIONS}.union(*OF_KIND.values())
)
"""All others but `$ref` and `allOf` assert nothing, or a schema with them was refused when it was loaded."""
EVALUATING: Final = frozenset({"$ref", "allOf", "patternProperties", *CHOICES, *CONDITIONS})
"""Beside these, fields may be evaluated elsewhere than in `properties`."""


def lists(part: Mapping[str, Any]) -> bool:
    """Whether a schema lists the values that fit."""
    return "enum" in part or "const" in part


def listed_values(part: Mapping[str, Any]) -> list[Any]:
    """The values that a schema lists."""
    return part["enum"] if "enum" in part else [part["const"]]


def is_closed(part: Mapping[str, Any]) -> bool:
    """Whether a schema itself shuts out the fields that it does not name."""
    return part.get("additionalProperties") is False and not part.get("patternProperties")


def annotations(schemas: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """What is written about a place; where several speak the outermost is heard, for this asserts nothing."""
    return {word: each[word] for each in reversed(list(schemas)) for word in ANNOTATIONS & each.keys()}


def closed(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema itself; what it says of unevaluated fields in the plainer words where nothing else evaluates any."""
    if schema.get("unevaluatedProperties") is not False or not EVALUATING.isdisjoint(schema):
        return schema
    plain = {word: value for word, value in schema.items() if word != "unevaluatedProperties"}
    return {"additionalProperties": False} | plain


def met(kinds: list[str], others: list[str]) -> list[str]:
    """The types that both allow; an integer is a number."""
    found = [kind for kind in kinds if kind in others or (kind == "integer" and "number" in others)]
    narrowed = "number" in kinds and "integer" in others and "number" not in others
    return [*found, "integer"] if narrowed else found
