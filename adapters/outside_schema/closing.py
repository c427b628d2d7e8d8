"""Every object is closed: a field that no schema at its place speaks of is unknown, at every depth.

Whether a name is known is asked of all schemas that apply to the same value together, so that branches of `allOf`, a
`$ref` and its siblings may each name some fields without shutting out the others'.
"""

from collections.abc import Iterator
from typing import Any

from adapters.outside_schema.keywords import NAMING, in_place, names
from adapters.outside_schema.patterns import pattern

Path = tuple[str | int, ...]


class Closing:
    """Finds what nobody has declared. With `free_form` an object without any declared name may hold anything."""

    def __init__(self, validator: Any, *, free_form: bool) -> None:
        self._validator, self._free_form = validator, free_form

    def unknown(self, instance: Any) -> Iterator[Path]:
        """Paths of the fields and items that no schema speaks of."""
        return self._below(instance, [self._validator.schema], ())

    def _below(self, instance: Any, schemas: list[Any], path: Path) -> Iterator[Path]:
        if not isinstance(instance, dict | list):
            return
        applied = [each for schema in schemas for each in in_place(self._validator, schema, instance)]
        if any("const" in each or "enum" in each for each in applied) or self._is_of_other_type(instance, applied):
            return  # the whole value is declared, or refused already
        if self._free_form and not any(_declares(each, instance) for each in applied):
            return
        for step, child in instance.items() if isinstance(instance, dict) else enumerate(instance):
            speaking = self._speaking(applied, instance, step)
            if speaking:
                yield from self._below(child, speaking, (*path, step))
            else:
                yield (*path, step)

    def _is_of_other_type(self, instance: Any, applied: list[dict[str, Any]]) -> bool:
        kind = "object" if isinstance(instance, dict) else "array"
        return any(kind != each.get("type", kind) and kind not in each["type"] for each in applied)

    def _speaking(self, applied: list[dict[str, Any]], instance: Any, step: Any) -> list[Any]:
        found = _of_field(applied, step) if isinstance(instance, dict) else _of_item(applied, step)
        if isinstance(instance, list) and not found:
            # An item that `contains` was looking for is spoken of.
            found = [each["contains"] for each in applied if "contains" in each]
        return [schema for schema in found if schema is not False]


def _declares(schema: dict[str, Any], instance: Any) -> bool:
    keywords = NAMING if isinstance(instance, dict) else {"items", "prefixItems", "unevaluatedItems"}
    return not keywords.isdisjoint(schema)


def _of_field(applied: list[dict[str, Any]], name: str) -> list[Any]:
    found = [each["properties"][name] for each in applied if name in each.get("properties", {})]
    for each in applied:
        found += [sub for source, sub in each.get("patternProperties", {}).items() if pattern(source).fits(name)]
        if "additionalProperties" in each and not names(each, name):
            found.append(each["additionalProperties"])
    return found or [each["unevaluatedProperties"] for each in applied if "unevaluatedProperties" in each]


def _of_item(applied: list[dict[str, Any]], place: int) -> list[Any]:
    found = []
    for each in applied:
        prefix = each.get("prefixItems", [])
        if place < len(prefix):
            found.append(prefix[place])
        elif "items" in each:
            found.append(each["items"])
    return found or [each["unevaluatedItems"] for each in applied if "unevaluatedItems" in each]
