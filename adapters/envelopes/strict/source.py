"""The original schema, read so that everything which applies to one place is seen together.

A `$ref`, what stands beside it, and the branches of an `allOf` all apply; nobody wins over another.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from adapters.envelopes.strict.conditions import only_narrows
from adapters.envelopes.strict.form import Json, Parts, Schemas
from adapters.envelopes.strict.vocabulary import (
    ANNOTATIONS,
    CHOICES,
    CONTAINERS,
    READ,
    SAID,
    closed,
    is_closed,
    listed_values,
    lists,
    met,
)
from adapters.outside_schema.closing import Closing
from adapters.outside_schema.keywords import StrictValidator
from adapters.outside_schema.loading import Reading, loaded

MOST_VALUES: Final = 2_000
"""Listed values that are compared one by one; more of them are taken as they are."""
_NEVER: Final[Json] = {"enum": []}
"""What `false` becomes."""


@dataclass(frozen=True)
class Fields:
    """The fields of an object: the schemas that speak of each, and which of them must be there."""

    speaking: Mapping[str, Schemas]
    required: frozenset[str]


class Source:
    """One original schema.

    Schemas are told apart by identity, so each is made once and kept. To be used inside `counted_steps`.

    Raises:
        InvalidConfiguration: `invalid_tool_schema`, as `OutsideSchema`.
    """

    def __init__(self, schema: Any) -> None:
        self.root = loaded(schema, free_form=True)
        self._reading = Reading(self.root, older=False, free_form=True)
        self._validator = StrictValidator(self.root)
        self._places = dict(_places(self.root))
        self._views: dict[tuple[int, str], Json] = {}
        self._parts: dict[tuple[int, ...], Parts] = {}
        self._fields: dict[tuple[int, ...], Fields] = {}
        self._literals: dict[tuple[int, ...], list[Any] | None] = {}
        self._told: dict[tuple[int, ...], dict[tuple[int, str], Json]] = {}
        self._nullable: dict[tuple[int, ...], bool] = {}

    def place(self, schemas: Iterable[Any]) -> str:
        """The JSON Pointer of the first of these schemas that has one."""
        return next((self._places[id(each)] for each in schemas if id(each) in self._places), "")

    def target(self, schema: Mapping[str, Any]) -> Any:
        """The schema that this one's `$ref` names."""
        return self._reading.target(dict(schema))

    def target_alone(self, schemas: Schemas) -> Any:
        """What a single `$ref` names beside which nothing applies or is shown; None if this is no such reference."""
        if len(schemas) != 1 or not isinstance(schemas[0], dict) or "$ref" not in schemas[0] or "allOf" in schemas[0]:
            return None
        return self.target(schemas[0]) if self._view(schemas[0], "").keys() <= set(SAID) else None

    def parts(self, schemas: Schemas) -> Parts:
        """All schemas that apply together with these, references and `allOf` followed."""
        known = ids(schemas)
        if known not in self._parts:
            found: dict[int, Json] = {}
            self._follow(schemas, found)
            self._parts[known] = tuple(part for part in found.values() if part)
        return self._parts[known]

    def _follow(self, schemas: Iterable[Any], found: dict[int, Json]) -> None:
        for schema in schemas:
            part = self._view(schema, "") if isinstance(schema, dict) else {} if schema else _NEVER
            if id(part) not in found:
                found[id(part)] = part
                self._follow(self._beside(schema), found)

    def _beside(self, schema: Any) -> list[Any]:
        if not isinstance(schema, dict):
            return []
        return [*([self.target(schema)] if "$ref" in schema else []), *schema.get("allOf", [])]

    def _view(self, schema: Mapping[str, Any], without: str) -> Json:
        """The schema with the keywords that are read; of a choice that was made neither it nor any annotation."""
        if (id(schema), without) not in self._views:
            left_out = {without, *ANNOTATIONS} if without else set()
            view = {word: value for word, value in closed(schema).items() if word in READ - left_out}
            view = self._views.setdefault((id(schema), without), view)
            self._views[id(view), ""] = view
            self._places[id(view)] = self._places.get(id(schema), "")
        return self._views[id(schema), without]

    # -- what the parts say

    def types(self, parts: Parts) -> tuple[str, ...] | None:
        """The types that all parts allow, in the order of the first part that names some; None if none does."""
        declared = [_listed(part["type"]) for part in parts if "type" in part]
        if not declared:
            return None
        kinds = declared[0]
        for others in declared[1:]:
            kinds = met(kinds, others)
        return tuple(kind for kind in dict.fromkeys(kinds) if kind != "integer" or "number" not in kinds)

    def literals(self, parts: Parts) -> list[Any] | None:
        """The values that all parts allow, where one of them lists its values."""
        known = ids(parts)
        if known not in self._literals:
            self._literals[known] = self._fitting(parts)
        return self._literals[known]

    def _fitting(self, parts: Parts) -> list[Any] | None:
        listed = next((listed_values(part) for part in parts if lists(part)), None)
        if listed is None or len(listed) > MOST_VALUES:
            return listed
        return [value for value in listed if self.fits(parts, value)]

    def is_never(self, schemas: Schemas) -> bool:
        """Whether it is plain that no value fits."""
        parts = self.parts(schemas)
        return self.types(parts) == () or self.literals(parts) == []

    def fields(self, parts: Parts) -> Fields:
        """The fields that the parts name, without those that can never be there."""
        known = ids(parts)
        if known not in self._fields:
            names = dict.fromkeys(name for part in parts for name in part.get("properties", {}))
            speaking = {name: tuple(_speaking(parts, name)) for name in names}
            required = frozenset(name for part in parts for name in part.get("required", []))
            possible = {name: schemas for name, schemas in speaking.items() if not self.is_never(schemas)}
            self._fields[known] = Fields(possible, required)
        return self._fields[known]

    def items(self, parts: Parts) -> Schemas:
        """The schemas that speak of every item."""
        return tuple(part["items"] for part in parts if "items" in part)

    def told(self, parts: Parts) -> Mapping[tuple[int, str], Json]:
        """The choices, by part and keyword, that only narrow what the rest says of objects and lists."""
        known = ids(parts)
        if known not in self._told:
            self._told[known] = {
                (id(part), keyword): {keyword: part[keyword]}
                for part in parts
                for keyword in CHOICES
                if keyword in part and self._only_narrows(part[keyword], parts)
            }
        return self._told[known]

    def _only_narrows(self, branches: list[Any], parts: Parts) -> bool:
        names = self.fields(parts).speaking.keys()
        is_container = not CONTAINERS.isdisjoint(self.types(parts) or ())
        return is_container and all(only_narrows(branch, names) for branch in branches)

    def choice(self, parts: Parts) -> tuple[str, list[Schemas]] | None:
        """The first other `anyOf` or `oneOf`: its name, and for each branch all that applies when it is taken."""
        told = self.told(parts)
        for at, part in enumerate(parts):
            for keyword in CHOICES:
                if keyword in part and (id(part), keyword) not in told:
                    rest = tuple(each for each in (*parts[:at], self._view(part, keyword), *parts[at + 1 :]) if each)
                    return keyword, [(*rest, branch) for branch in part[keyword]]
        return None

    # -- what the original thinks of a value

    def is_nullable(self, schemas: Schemas) -> bool:
        """Whether null fits."""
        known = ids(schemas)
        if known not in self._nullable:
            self._nullable[known] = self.fits(schemas, None)
        return self._nullable[known]

    def fits(self, schemas: Iterable[Any], value: Any) -> bool:
        """Whether the value fits all of these, with no field of which none of them speaks."""
        together = self._validator.evolve(schema={"allOf": list(schemas)})
        return together.is_valid(value) and next(Closing(together, free_form=True).unknown(value), None) is None


def ids(schemas: Iterable[Any]) -> tuple[int, ...]:
    """What a set of schemas is known by."""
    return tuple(map(id, schemas))


def _speaking(parts: Parts, name: str) -> Iterator[Any]:
    for part in parts:
        if name in part.get("properties", {}):
            yield part["properties"][name]
        elif is_closed(part):
            yield False


def _listed(types: Any) -> list[str]:
    return [types] if isinstance(types, str) else types


def _places(root: Json) -> Iterator[tuple[int, str]]:
    pending: list[tuple[Any, str]] = [(root, "")]
    while pending:
        value, place = pending.pop()
        if isinstance(value, dict):
            yield id(value), place
            pending += [(each, f"{place}/{_escaped(name)}") for name, each in value.items()]
        elif isinstance(value, list):
            pending += [(each, f"{place}/{at}") for at, each in enumerate(value)]


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
