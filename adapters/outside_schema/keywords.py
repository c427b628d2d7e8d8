"""The standard's keywords, held strictly.

The library's own keywords but for those whose Python form is looser than a tool's arguments allow: numbers are `int`
and `Decimal` only, `1.0` is no integer, patterns and formats are asserted, each fault knows its place, and the work
that one value can cause is counted.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction
from typing import Any, Final

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from adapters.outside_schema.formats import ASSERTED
from adapters.outside_schema.patterns import pattern

MOST_STEPS: Final = 100_000
"""Keywords tried on one value: far more than a large call needs, and about a second of work."""

Keyword = Callable[[Any, Any, Any, Any], Iterator[ValidationError] | None]

_left: ContextVar[int] = ContextVar("steps_left")
_EXACT = Context(prec=2_000, Emax=MAX_EMAX, Emin=MIN_EMIN)


class TooMuchWork(Exception):
    """This value asks for more steps than any call of a tool needs."""


@contextmanager
def counted_steps() -> Iterator[None]:
    """Inside, `TooMuchWork` is raised after `MOST_STEPS`."""
    token = _left.set(MOST_STEPS)
    try:
        yield
    finally:
        _left.reset(token)


def same(declared: Any, given: Any) -> bool:
    """Whether `given` is the declared value: equal, and as exact (1.0 is not the integer 1, true is not 1)."""
    if isinstance(declared, bool) or isinstance(given, bool):
        return declared is given
    if isinstance(declared, dict) and isinstance(given, dict):
        return declared.keys() == given.keys() and all(same(each, given[name]) for name, each in declared.items())
    if isinstance(declared, list) and isinstance(given, list):
        return len(declared) == len(given) and all(map(same, declared, given))
    if isinstance(declared, int) and not isinstance(given, int):
        return False
    return bool(declared == given)


def _pattern(_: Any, source: str, instance: Any, __: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str) and not pattern(source).fits(instance):
        yield ValidationError("")


def _pattern_properties(validator: Any, patterns: Any, instance: Any, _: Any) -> Iterator[ValidationError]:
    if isinstance(instance, dict):
        for source, subschema in patterns.items():
            for name, value in instance.items():
                if pattern(source).fits(name):
                    yield from validator.descend(value, subschema, path=name, schema_path=source)


def _additional_properties(validator: Any, extra: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, dict):
        for name in instance:
            if not names(schema, name):
                yield from _no_such_field(validator, extra, instance, name)


def _unevaluated_properties(validator: Any, rest: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, dict):
        siblings = {keyword: value for keyword, value in schema.items() if keyword != "unevaluatedProperties"}
        applied = list(in_place(validator, siblings, instance))
        for name in instance:
            if not any(names(each, name) or not REST.isdisjoint(each) for each in applied):
                yield from _no_such_field(validator, rest, instance, name)


def _no_such_field(validator: Any, schema: Any, instance: Any, name: str) -> Iterator[ValidationError]:
    if schema is False:
        yield ValidationError("", path=[name])
    else:
        yield from validator.descend(instance[name], schema, path=name)


def _property_names(validator: Any, schema: Any, instance: Any, _: Any) -> Iterator[ValidationError]:
    if isinstance(instance, dict):
        for name in instance:
            if not validator.evolve(schema=schema).is_valid(name):
                yield ValidationError("", path=[name])


def _required(_: Any, wanted: Any, instance: Any, __: Any) -> Iterator[ValidationError]:
    if isinstance(instance, dict):
        yield from (ValidationError("", path=[name]) for name in wanted if name not in instance)


def _dependent_required(_: Any, wanted: Any, instance: Any, __: Any) -> Iterator[ValidationError]:
    if isinstance(instance, dict):
        for present, others in wanted.items():
            if present in instance:
                yield from (ValidationError("", path=[name]) for name in others if name not in instance)


def _enum(_: Any, values: Any, instance: Any, __: Any) -> Iterator[ValidationError]:
    if not any(same(value, instance) for value in values):
        yield ValidationError("")


def _const(_: Any, value: Any, instance: Any, __: Any) -> Iterator[ValidationError]:
    if not same(value, instance):
        yield ValidationError("")


def _multiple_of(validator: Any, step: Any, instance: Any, _: Any) -> Iterator[ValidationError]:
    if validator.is_type(instance, "number") and Fraction(instance) % Fraction(step):
        yield ValidationError("")


def _unique_items(_: Any, wanted: Any, instance: Any, __: Any) -> Iterator[ValidationError]:
    if wanted and isinstance(instance, list) and len({_identity(item) for item in instance}) != len(instance):
        yield ValidationError("")


def _identity(value: Any) -> Hashable:
    """Equal for equal JSON values; numbers as text, whose hash nobody can foresee."""
    if isinstance(value, dict):
        return frozenset((name, _identity(item)) for name, item in value.items())
    if isinstance(value, list):
        return tuple(map(_identity, value))
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        return ("number", str(_EXACT.normalize(Decimal(value or 0))))
    return (type(value), value)


def _format(_: Any, name: str, instance: Any, __: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str) and name in ASSERTED and not ASSERTED[name][0](instance):
        yield ValidationError("")


REST: Final = frozenset({"additionalProperties", "unevaluatedProperties"})
"""Keywords that speak of every name that is not named."""
NAMING: Final = REST | {"properties", "patternProperties"}
"""Keywords by which an object says which names it has."""


def names(schema: Mapping[str, Any], name: str) -> bool:
    """Whether the schema itself names this field or fits it with a pattern."""
    return name in schema.get("properties", {}) or any(
        pattern(source).fits(name) for source in schema.get("patternProperties", {})
    )


def in_place(validator: Any, schema: Any, instance: Any) -> Iterator[dict[str, Any]]:
    """Every schema that speaks of this value: the given one and what it refers to, of branches those that fit.

    When no branch fits the value is refused anyway, and all of them are listed.
    """
    if not isinstance(schema, dict):
        return
    yield schema
    for branch in _branches(validator, schema, instance):
        yield from in_place(validator, branch, instance)


def _branches(validator: Any, schema: dict[str, Any], instance: Any) -> Iterator[Any]:
    if "$ref" in schema:
        yield validator._resolver.lookup(schema["$ref"]).contents  # the library has no public way to look one up
    yield from schema.get("allOf", [])
    for keyword in ("anyOf", "oneOf"):
        branches = schema.get(keyword, [])
        yield from [each for each in branches if _fits(validator, each, instance)] or branches
    yield from _condition(validator, schema, instance)
    if isinstance(instance, dict):
        yield from (each for name, each in schema.get("dependentSchemas", {}).items() if name in instance)


def _condition(validator: Any, schema: dict[str, Any], instance: Any) -> Iterator[Any]:
    if "if" not in schema:
        return
    if _fits(validator, schema["if"], instance):
        yield schema["if"]
        yield schema.get("then", True)
    else:
        yield schema.get("else", True)


def _fits(validator: Any, schema: Any, instance: Any) -> bool:
    return bool(validator.evolve(schema=schema).is_valid(instance))


def _counted(keyword: Keyword) -> Keyword:
    def counting(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError] | None:
        left = _left.get() - 1
        _left.set(left)
        if left < 0:
            raise TooMuchWork
        return keyword(validator, value, instance, schema)

    return counting


_OURS: Final[Mapping[str, Keyword]] = {
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "unevaluatedProperties": _unevaluated_properties,
    "propertyNames": _property_names,
    "required": _required,
    "dependentRequired": _dependent_required,
    "enum": _enum,
    "const": _const,
    "multipleOf": _multiple_of,
    "uniqueItems": _unique_items,
    "format": _format,
}

_TYPES = Draft202012Validator.TYPE_CHECKER.redefine_many(
    {
        "integer": lambda _, value: isinstance(value, int) and not isinstance(value, bool),
        "number": lambda _, value: isinstance(value, int | Decimal) and not isinstance(value, bool),
    }
)

StrictValidator: Final[Any] = extend(  # type: ignore[no-untyped-call]
    Draft202012Validator,
    {name: _counted(keyword) for name, keyword in {**Draft202012Validator.VALIDATORS, **_OURS}.items()},
    type_checker=_TYPES,
)
"""The library's validator with these keywords, to be used inside `counted_steps`."""


def _descend(
    validator: Any, instance: Any, schema: Any, path: Any = None, schema_path: Any = None, resolver: Any = None
) -> Iterator[ValidationError]:
    errors = _library_descend(validator, instance, schema, path, schema_path, resolver)
    return _placed(errors, path, schema_path) if schema is False else errors


def _placed(errors: Iterator[ValidationError], path: Any, schema_path: Any) -> Iterator[ValidationError]:
    """Of what `false` refuses the library does not say where it stands."""
    for error in errors:
        error.path.extendleft(step for step in [path] if step is not None)
        error.schema_path.extendleft(step for step in [schema_path] if step is not None)
        yield error


_library_descend: Final = StrictValidator.descend
StrictValidator.descend = _descend
