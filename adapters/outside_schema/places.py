"""Where schemas stand inside a schema."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

ONE: Final = ("additionalProperties", "unevaluatedProperties", "items", "unevaluatedItems", "contains")
MANY: Final = ("properties", "patternProperties")
LISTED: Final = ("prefixItems",)
"""Where a schema of a value inside this one stands: alone, by name, in a list."""

IN_PLACE_LISTED: Final = ("allOf", "anyOf", "oneOf")
IN_PLACE_ONE: Final = ("then", "else")
ASKING_ONE: Final = ("not", "if", "propertyNames")
"""Schemas that are asked but do not speak of what the value may hold."""

Onward = Callable[[dict[str, Any], str], Iterable[tuple[str, Any]]]
"""Of a schema and its place: the schemas to go on with, each with its place."""


def of_inner_values(schema: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The schemas of what a value holds."""
    yield from ((keyword, schema[keyword]) for keyword in ONE if keyword in schema and keyword != "contains")
    for keyword in MANY:
        yield from ((f"{keyword}/{name}", inner) for name, inner in schema.get(keyword, {}).items())
    for keyword in LISTED:
        yield from ((f"{keyword}/{place}", inner) for place, inner in enumerate(schema.get(keyword, [])))


def inside(schema: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Every schema right inside this one."""
    yield from of_inner_values(schema)
    for keyword in ("contains", *IN_PLACE_ONE, *ASKING_ONE):
        if keyword in schema:
            yield keyword, schema[keyword]
    for keyword in IN_PLACE_LISTED:
        yield from ((f"{keyword}/{place}", inner) for place, inner in enumerate(schema.get(keyword, [])))
    for keyword in ("dependentSchemas", "$defs", "definitions"):
        yield from ((f"{keyword}/{name}", inner) for name, inner in schema.get(keyword, {}).items())


def each_schema(root: Any) -> Iterator[dict[str, Any]]:
    """This schema and every one that stands inside it."""
    return (schema for schema, _ in walked(root, lambda schema, _: inside(schema)))


def walked(root: Any, onward: Onward) -> Iterator[tuple[dict[str, Any], str]]:
    """Every schema that is reached, once, with the place where it was met; however far that is from the root."""
    seen: set[int] = set()
    pending: list[tuple[str, Any]] = [("", root)]
    while pending:
        place, schema = pending.pop()
        if isinstance(schema, dict) and id(schema) not in seen:
            seen.add(id(schema))
            yield schema, place
            pending += reversed(list(onward(schema, place)))
