"""How large a strict schema is, in what providers limit."""

from collections.abc import Callable, Iterator
from typing import Any

from adapters.envelopes.strict.form import Json


def fields(root: Json) -> int:
    """All fields, those of each definition once."""
    return sum(len(schema.get("properties", {})) for schema in _each(root))


def names(root: Json) -> list[str]:
    """The names of all fields and definitions."""
    return [*root.get("$defs", {}), *(name for schema in _each(root) for name in schema.get("properties", {}))]


def values(root: Json) -> list[Any]:
    """All listed values."""
    return [value for schema in _each(root) for value in schema.get("enum", [])]


def levels(root: Json) -> int:
    """Objects and lists inside each other; a place inside itself is one of them once."""
    return _reached(root, lambda schema: int(schema.get("type") in ("object", "array")), max)


def optional(root: Json) -> int:
    """Fields that may be left out, as often as they can be reached."""
    return _reached(root, lambda schema: len(schema.get("properties", {})) - len(schema.get("required", [])), sum)


def unions(root: Json) -> int:
    """Choices, as often as they can be reached."""
    return _reached(root, lambda schema: int("anyOf" in schema), sum)


def _reached(root: Json, own: Callable[[Json], int], together: Callable[[list[int]], int]) -> int:
    """What each schema has of its own and what is inside it, references followed."""
    known: dict[str, int] = {"#": 0}

    def counted(schema: Json) -> int:
        pointer = schema.get("$ref")
        if pointer is None:
            return own(schema) + together([0, *map(counted, _inside(schema))])
        if pointer not in known:
            known[pointer] = 0  # inside itself it counts no more
            known[pointer] = counted(root["$defs"][pointer.removeprefix("#/$defs/")])
        return known[pointer]

    return counted(root)


def _each(root: Json) -> Iterator[Json]:
    pending = [root, *root.get("$defs", {}).values()]
    while pending:
        schema = pending.pop()
        yield schema
        pending += _inside(schema)


def _inside(schema: Json) -> list[Json]:
    items = [schema["items"]] if "items" in schema else []
    return [*schema.get("properties", {}).values(), *schema.get("anyOf", []), *items]
