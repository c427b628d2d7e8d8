"""From the library's errors to ours: a place, a stable code and our own words, never what was received."""

from collections.abc import Iterator
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Final

from jsonschema.exceptions import ValidationError

from adapters import strict_json
from adapters.outside_schema.formats import ASSERTED
from workflows.domain.arguments import EXPECTED, pointer
from workflows.domain.errors import Detail

LONGEST_WORDS: Final = 200
"""Characters of what was expected: a schema from outside may be long-winded."""

UNKNOWN: Final = ("unknown_field", EXPECTED["extra_forbidden"])
MISSING: Final = ("missing_field", EXPECTED["missing"])

BY_PLACE: Final = MappingProxyType(
    {
        None: UNKNOWN,
        "additionalProperties": UNKNOWN,
        "unevaluatedProperties": UNKNOWN,
        "propertyNames": UNKNOWN,
        "required": MISSING,
        "dependentRequired": MISSING,
    }
)
"""Keywords of which the place says all; None is the schema that allows nothing."""

TYPES: Final = MappingProxyType(
    {
        "string": "a string",
        "integer": "an integer",
        "number": "a number",
        "boolean": "true or false",
        "object": "an object",
        "array": "a list",
        "null": "null",
    }
)

LIMITS: Final = MappingProxyType(
    {
        "minimum": "at least {}",
        "exclusiveMinimum": "more than {}",
        "maximum": "at most {}",
        "exclusiveMaximum": "less than {}",
        "multipleOf": "a multiple of {}",
        "minLength": "at least {} long",
        "maxLength": "at most {} long",
        "minItems": "at least {} long",
        "maxItems": "at most {} long",
        "minProperties": "at least {} fields",
        "maxProperties": "at most {} fields",
        "pattern": "text that matches {}",
        "uniqueItems": "each item once",
        "contains": "an item of the kind that must be there",
        "const": "one of {}",
        "enum": "one of {}",
        "anyOf": "a value of one of the declared forms",
        "oneOf": "a value of exactly one of the declared forms",
    }
)


def details_of(error: ValidationError) -> Iterator[Detail]:
    """What is wrong. Of several forms the one that is meant is told about, if that is plain."""
    if error.validator in ("anyOf", "oneOf"):
        yield from _of_forms(error)
    else:
        yield Detail(pointer(tuple(error.absolute_path)), *_code_and_words(error))


def unknown_field(path: tuple[str | int, ...]) -> Detail:
    """Of a field that nobody has declared."""
    return Detail(pointer(path), *UNKNOWN)


def _code_and_words(error: ValidationError) -> tuple[str, str]:
    keyword: Any = error.validator
    if keyword in BY_PLACE:
        return BY_PLACE[keyword]
    if keyword == "type":
        return "invalid_type", _types(error.validator_value)
    if keyword == "format":
        return "invalid_value", ASSERTED[str(error.validator_value)][1]
    words = LIMITS.get(keyword, "a value that fits the schema").format(_declared(keyword, error.validator_value))
    return "invalid_value", words[:LONGEST_WORDS]


def _types(declared: Any) -> str:
    return " or ".join(TYPES[name] for name in ([declared] if isinstance(declared, str) else declared))


def _declared(keyword: str, value: Any) -> str:
    if keyword == "enum":
        return ", ".join(map(_written, value))
    return value if isinstance(value, str) and keyword == "pattern" else _written(value)


def _written(value: Any) -> str:
    return str(value) if isinstance(value, int | Decimal) else strict_json.dump(value)


def _of_forms(error: ValidationError) -> Iterator[Detail]:
    place = tuple(error.absolute_path)
    forms = _possible_forms(error, place)
    if forms and all(_is_other_type(faults, place) for faults in forms):
        expected = dict.fromkeys(_types(faults[0].validator_value) for faults in forms)
        yield Detail(pointer(place), "invalid_type", " or ".join(expected)[:LONGEST_WORDS])
        return
    meant = [faults for faults in forms if not any(_tells_apart(fault, place) for fault in faults)]
    if len(meant) == 1:
        for fault in meant[0]:
            yield from details_of(fault)
    else:
        yield Detail(pointer(place), *_code_and_words(error))


def _possible_forms(error: ValidationError, place: tuple[str | int, ...]) -> list[list[ValidationError]]:
    """The faults of each form, without the forms that are false: nobody can mean those."""
    forms: dict[Any, list[ValidationError]] = {}
    for inner in error.context or ():
        forms.setdefault(inner.schema_path[0], []).append(inner)
    return [faults for faults in forms.values() if not any(_takes_nothing(fault, place) for fault in faults)]


def _takes_nothing(fault: ValidationError, place: tuple[str | int, ...]) -> bool:
    return fault.schema is False and tuple(fault.absolute_path) == place


def _is_other_type(faults: list[ValidationError], place: tuple[str | int, ...]) -> bool:
    return any(fault.validator == "type" and tuple(fault.absolute_path) == place for fault in faults[:1])


def _tells_apart(fault: ValidationError, place: tuple[str | int, ...]) -> bool:
    """Whether this fault says that another form is meant: another type here, or another tag one step inside."""
    path = tuple(fault.absolute_path)
    return (fault.validator == "type" and path == place) or (
        fault.validator in ("const", "enum") and len(path) <= len(place) + 1
    )
