"""Conditions that only narrow what the rest of a schema takes, and so may be told in words instead."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from adapters.envelopes.strict.form import Parts, refuse
from adapters.envelopes.strict.vocabulary import CHOICES, CONDITIONAL

_OPENING: Final = frozenset({"$ref", "items", "prefixItems", "unevaluatedItems", "patternProperties", "contains"})
_CLOSED_BY: Final = ("additionalProperties", "unevaluatedProperties")


def narrowing(parts: Parts, names: Collection[str], place: str) -> Iterator[dict[str, Any]]:
    """Each condition of the place; raises `CannotExpress` for one that opens something."""
    for part in parts:
        for condition, opening in _of_part(part):
            if not all(only_narrows(schema, names) for schema in opening):
                refuse("a condition in it opens fields", place)
            yield condition


def only_narrows(schema: Any, names: Collection[str]) -> bool:
    """Whether the schema opens nothing: it speaks of no field but these, and of nothing inside them.

    What it names beyond would be lost in a form that leaves it out.
    """
    if not isinstance(schema, dict):
        return True
    if not _OPENING.isdisjoint(schema) or any(schema.get(keyword, False) is not False for keyword in _CLOSED_BY):
        return False
    named: Mapping[str, Any] = schema.get("properties", {})
    return (
        set(named) <= set(names)
        and all(only_narrows(each, ()) for each in named.values())
        and all(only_narrows(each, names) for each in _in_place(schema))
    )


def _of_part(part: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], list[Any]]]:
    """Each condition of the part, and the schemas in it that might open something."""
    if "not" in part:
        yield {"not": part["not"]}, []
    if "if" in part:
        whole = {keyword: part[keyword] for keyword in CONDITIONAL if keyword in part}
        yield whole, list(whole.values())
    if "dependentSchemas" in part:
        yield {"dependentSchemas": part["dependentSchemas"]}, list(part["dependentSchemas"].values())


def _in_place(schema: Mapping[str, Any]) -> Iterator[Any]:
    """Schemas of the same value. What `not` holds opens nothing."""
    for keyword in ("allOf", *CHOICES):
        yield from schema.get(keyword, [])
    yield from (schema[keyword] for keyword in CONDITIONAL if keyword in schema)
    yield from schema.get("dependentSchemas", {}).values()
