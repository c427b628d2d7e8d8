"""Sentences for a tool's description: what a strict form cannot hold and the original schema still decides."""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from adapters import strict_json
from adapters.outside_schema.formats import ASSERTED

LONGEST: Final = 400
"""Characters of a piece of a schema that a sentence repeats."""
MOST_EXAMPLES: Final = 2
LONGEST_EXAMPLE: Final = 80

WORDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "minimum": "at least {}",
        "exclusiveMinimum": "more than {}",
        "maximum": "at most {}",
        "exclusiveMaximum": "less than {}",
        "multipleOf": "a multiple of {}",
        "minLength": "at least {} characters",
        "maxLength": "at most {} characters",
        "minItems": "at least {} items",
        "maxItems": "at most {} items",
        "minProperties": "at least {} fields",
        "maxProperties": "at most {} fields",
        "pattern": "text that matches {}",
        "uniqueItems": "no item twice",
        "oneOf": "exactly one of these forms must fit",
    }
)
"""Keywords with a plain sentence; of any other the keyword itself is told."""


def constraint(keyword: str, value: Any) -> str:
    """What the keyword demands."""
    if keyword == "format" and value in ASSERTED:
        return ASSERTED[value][1]
    if keyword in WORDS:
        return WORDS[keyword].format(value if keyword == "pattern" else strict_json.dump(value))
    return condition({keyword: value})


def condition(schema: Mapping[str, Any]) -> str:
    """What a piece of the schema demands that no plain words tell."""
    text = strict_json.dump(schema)
    return f"must also fit {text}" if len(text) <= LONGEST else f"a further condition holds ({', '.join(schema)})"


def annotations(schema: Mapping[str, Any]) -> Iterator[str]:
    """What leaving the field out comes to, and examples."""
    if "default" in schema:
        yield f"{strict_json.dump(schema['default'])} when left out"
    texts = [text for text in map(strict_json.dump, schema.get("examples", [])) if len(text) <= LONGEST_EXAMPLE]
    if texts:
        yield f"for example {' or '.join(texts[:MOST_EXAMPLES])}"


def sentence(place: str, words: Iterable[str]) -> str:
    """All that is said of one place."""
    return f"{place or 'The arguments'}: {'; '.join(words)}."


def left_out(places: Iterable[str]) -> str:
    """How to leave fields out where each of them must be given."""
    return f"Give null to leave out: {', '.join(places)}."
